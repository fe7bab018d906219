"""Stages 1 to 3 of its minhash pipeline, 14 buckets of 8; the stage that copies the kept documents is spared. Its tokeniser
is replaced by a split at blanks, which is faster and sees the words that all others see."""
import struct
import sys
import tempfile

sys.path.pop(0)  # this file has the name of the package
from datatrove.pipeline.dedup import MinhashDedupBuckets, MinhashDedupCluster, MinhashDedupSignature, minhash
from datatrove.pipeline.readers import JsonlReader
from datatrove.utils.hashing import HashConfig
from datatrove.utils.logging import logger

sys.path.insert(0, __file__.rpartition("/")[0])
import common


class Blanks:
    def word_tokenize(self, text):
        return text.split(" ")


phases = common.Phases()
logger.remove()
minhash.load_word_tokenizer = lambda language: Blanks()
config = minhash.MinhashConfig(n_grams=5, num_buckets=14, hashes_per_bucket=8, hash_config=HashConfig(precision=64))
with tempfile.TemporaryDirectory() as work:
    corpus = sys.argv[1].rpartition("/")
    reader = JsonlReader(corpus[0] or ".", glob_pattern=corpus[2])
    signatures = MinhashDedupSignature(f"{work}/signatures", config)
    for _ in signatures.run(reader.run(rank=0, world_size=1), 0, 1) or ():
        pass
    phases.end("read and signatures")
    for bucket in range(config.num_buckets):
        MinhashDedupBuckets(f"{work}/signatures", f"{work}/buckets", config=config).run(None, bucket, config.num_buckets)
    phases.end("buckets")
    MinhashDedupCluster(f"{work}/buckets", f"{work}/clusters", config, save_cluster_id=True).run(None, 0, 1)
    clusters = {}
    with open(f"{work}/clusters/000000.clusters", "rb") as file:
        for document, cluster in struct.iter_unpack("<2I", file.read()):
            clusters.setdefault(cluster, []).append(document)
    phases.end("clusters")
common.write(clusters.values(), phases, sys.argv[2])
