"""Loading, fingerprinting and clustering of its minhash program, with the bands that it chooses for 0.8 and its own words; no
check of candidates, as by default. The stages that copy the kept documents are spared."""
import os
import sys
import tempfile
from pathlib import Path

work = tempfile.TemporaryDirectory()
os.environ |= {"HF_HOME": work.name, "HF_HUB_OFFLINE": "1", "HF_DATASETS_DISABLE_PROGRESS_BARS": "1"}

from text_dedup.config.base import load_config_from_toml
from text_dedup.minhash import cluster, fingerprint, load_and_preprocess

import common

SETTINGS = f"""
[input]
input_type = "local_files"
file_type = "json"
[input.read_arguments]
path = "json"
data_files = "{sys.argv[1]}"
split = "train"
[algorithm]
algorithm_name = "minhash"
text_column = "text"
num_perm = 128
ngram_size = 5
threshold = 0.8
num_proc = 1
[output]
output_dir = "{work.name}/output"
[debug]
logging_level = 40
"""

phases = common.Phases()
settings = Path(work.name, "settings.toml")
settings.write_text(SETTINGS)
config = load_config_from_toml(settings)
dataset, _, _ = load_and_preprocess(config)
phases.end("read")
bands = fingerprint(config, dataset)
phases.end("signatures")
clusters = {}
for document, leader in sorted(cluster(config, bands).items()):
    clusters.setdefault(leader, []).append(document)
phases.end("clusters")
common.write(clusters.values(), phases, sys.argv[2])
work.cleanup()
