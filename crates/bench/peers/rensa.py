"""RMinHash and its LSH, 16 bands of 8, candidates accepted by the estimate."""
import sys

sys.path.pop(0)  # this file has the name of the package
from rensa import RMinHash, RMinHashLSH

sys.path.insert(0, __file__.rpartition("/")[0])
import common

phases = common.Phases()
texts = common.texts(sys.argv[1])
phases.end("read")
sketches = []
# A thousand documents at a time: the sets of all would take gigabytes.
for begin in range(0, len(texts), 1000):
    sets = [list(common.shingles(text)) for text in texts[begin : begin + 1000]]
    sketches += RMinHash.from_token_sets(sets, num_perm=128, seed=42)
phases.end("shingles and signatures")
lsh = RMinHashLSH(threshold=0.8, num_perm=128, num_bands=16)
lsh.insert_pairs(list(enumerate(sketches)))
found = common.Union()
for number, sketch in enumerate(sketches):
    for other in lsh.query(sketch):
        if other < number and sketch.jaccard(sketches[other]) >= 0.8:
            found.join(other, number)
phases.end("clusters")
common.write(found.clusters(), phases, sys.argv[2])
