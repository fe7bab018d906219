"""The dedupe flow of its guide: normalise, minhash, 16 bands of 8, documents that share a band are one cluster. With `as-it-is`
behind the output it is spared the normalising, which the corpus does not need."""
import os
import sys

sys.path.pop(0)  # this file has the name of the package
import daft
from daft import col
from daft.functions import chunk, minhash, monotonically_increasing_id, normalize

sys.path.insert(0, __file__.rpartition("/")[0])
import common

BANDS, ROWS = 16, 8

phases = common.Phases()
daft.set_runner_native(num_threads=1)
text = col("text")
if sys.argv[3:] != ["as-it-is"]:
    text = normalize(text, remove_punct=True, lowercase=True, nfd_unicode=True, white_space=True)
frame = daft.read_json(sys.argv[1])
frame = frame.select(text.alias("text")).with_column("n", monotonically_increasing_id())
sketch = minhash(col("text"), num_hashes=BANDS * ROWS, ngram_size=5, seed=42, hash_function="xxhash")
frame = frame.select("n", sketch.alias("sketch")).collect()
phases.end("read and signatures")
bands = frame.select("n", chunk(col("sketch"), ROWS).alias("band")).with_column("at", daft.lit(list(range(BANDS))))
# A hash of a band's values is faster to group by than the list of them.
bands = bands.explode("band", "at").select("n", "at", col("band").hash().alias("band"))
groups = bands.groupby("at", "band").agg(col("n").list_agg().alias("members")).where(col("members").list_count() > 1)
found = common.Union()
for members in groups.select("members").to_pydict()["members"]:
    for other in members[1:]:
        found.join(members[0], other)
phases.end("clusters")
common.write(found.clusters(), phases, sys.argv[2])
# Its threads sometimes outlive the interpreter, which ends the program with an error after all is written.
sys.stdout.flush()
os._exit(0)
