"""What spark-submit is given: `spark-submit [its options] submit.py dedup INPUT... -o DIR`.

`python -c "import lookalike.spark.submit; print(lookalike.spark.submit.__file__)"` says where it lies.
"""

import sys

if __name__ == "__main__":
    from lookalike.spark._command import main

    sys.exit(main())
