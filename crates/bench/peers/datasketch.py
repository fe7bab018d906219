"""MinHash and MinHashLSH with the bands that it chooses for 0.8; no check of candidates, as in its own guide."""
import sys

sys.path.pop(0)  # this file has the name of the package
from datasketch import MinHash, MinHashLSH

sys.path.insert(0, __file__.rpartition("/")[0])
import common

phases = common.Phases()
texts = common.texts(sys.argv[1])
phases.end("read")
lsh = MinHashLSH(threshold=0.8, num_perm=128)
found = common.Union()
for number, text in enumerate(texts):
    sketch = MinHash(num_perm=128)
    sketch.update_batch([shingle.encode() for shingle in common.shingles(text)])
    for other in lsh.query(sketch):
        found.join(other, number)
    lsh.insert(number, sketch)
phases.end("signatures and clusters")
common.write(found.clusters(), phases, sys.argv[2])
