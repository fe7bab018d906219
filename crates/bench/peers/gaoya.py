"""Its index of strings with its own analyser: 5-grams of words, 16 bands of 8, its own threshold. It keeps no signatures for
queries, so it computes each a second time."""
import sys

sys.path.pop(0)  # this file has the name of the package
from gaoya.minhash import MinHashStringIndex

sys.path.insert(0, __file__.rpartition("/")[0])
import common

phases = common.Phases()
texts = common.texts(sys.argv[1])
phases.end("read")
index = MinHashStringIndex(32, 0.8, 16, 8, None, "word", True, (5, 5))
for number, text in enumerate(texts):
    index.insert_document(number, text)
phases.end("signatures")
found = common.Union()
for number, text in enumerate(texts):
    for other in index.query(text):
        if other < number:
            found.join(other, number)
phases.end("clusters")
common.write(found.clusters(), phases, sys.argv[2])
