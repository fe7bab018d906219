"""How long `lookalike.dedup` takes from a list, Arrow, pandas and polars, beside the command line on the same documents.

    python="$(scripts/python-env --release)"
    cargo build --release -p lookalike-cli
    "$python" python/bench.py target/release/lookalike --documents 100000 --rounds 3

Each run is a process of its own. Reading the file into a list or a frame is not counted, as a program has them already; `read`
says how long it took. Peak memory is that of the whole process, the documents and what they were read from included.
"""

from __future__ import annotations

import argparse
import json
import os
import pathlib
import resource
import subprocess
import sys
import tempfile
import time
from typing import Any

KINDS = ("list", "arrow", "pandas", "polars")


def load(kind: str, path: str) -> tuple[Any, Any]:
    """The documents of a file, and their ids where they come apart."""
    if kind == "list":
        texts, ids = [], []
        with open(path, encoding="utf-8") as lines:
            for line in lines:
                row = json.loads(line)
                texts.append(row["text"])
                ids.append(row["id"])
        return texts, ids
    if kind == "polars":
        import polars

        return polars.read_ndjson(path), None
    import pyarrow.json

    table = pyarrow.json.read_json(path)
    return (table.to_pandas() if kind == "pandas" else table), None


def child(kind: str, path: str) -> None:
    """One run; prints what it took."""
    import lookalike

    begun = time.perf_counter()
    documents, ids = load(kind, path)
    read = time.perf_counter() - begun
    cpu, wall = time.process_time(), time.perf_counter()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    found = lookalike.dedup(documents, ids=ids)
    facts = {
        "wall": time.perf_counter() - wall,
        "cpu": time.process_time() - cpu,
        "read": read,
        "peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10,
        "before": before << 10,
        "removed": hash_of(found.removed.to_pylist()),
    }
    print(json.dumps(facts))


def hash_of(rows: list[dict[str, Any]]) -> str:
    """What two results are held against each other by."""
    import hashlib

    return hashlib.sha256(json.dumps(rows, sort_keys=True).encode()).hexdigest()


def command_line(binary: str, path: str, folder: pathlib.Path) -> dict[str, Any]:
    """One run of the command line."""
    wall = time.perf_counter()
    process = subprocess.Popen([binary, "dedup", path, "-o", str(folder), "--progress", "none"], stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    wall = time.perf_counter() - wall
    if status:
        sys.exit(f"{binary} failed")
    removed = [json.loads(line) for line in (folder / "removed.jsonl").read_text(encoding="utf-8").splitlines()]
    return {
        "wall": wall,
        "cpu": usage.ru_utime + usage.ru_stime,
        "peak": usage.ru_maxrss << 10,
        "removed": hash_of(removed),
    }


def generate(binary: str, documents: int, path: str) -> None:
    """Generated pages with text: a third of all pages are HTML, and lists have no place for that."""
    pages = path + ".all.jsonl"
    command = [binary, "corpus", "generate", "--documents", str(documents * 8 // 5), "-o", pages, "--progress", "none"]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    left = documents
    with open(pages, encoding="utf-8") as lines, open(path, "w", encoding="utf-8") as out:
        for line in lines:
            if left > 0 and json.loads(line).get("text") is not None:
                out.write(line)
                left -= 1
    os.remove(pages)
    if left > 0:
        sys.exit(f"{left} documents are missing")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binary")
    parser.add_argument("--documents", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        path = str(folder / "texts.jsonl")
        generate(arguments.binary, arguments.documents, path)
        best: dict[str, dict[str, Any]] = {}
        for turn in range(arguments.rounds):
            runs = {"command line": command_line(arguments.binary, path, folder / f"out{turn}")}
            for kind in KINDS:
                done = subprocess.run(
                    [sys.executable, "-B", __file__, "--child", kind, path], capture_output=True, text=True, check=True
                )
                runs[kind] = json.loads(done.stdout)
            for kind, facts in runs.items():
                if facts["removed"] != runs["command line"]["removed"]:
                    sys.exit(f"{kind} gives other results than the command line")
                if kind not in best or facts["wall"] < best[kind]["wall"]:
                    best[kind] = facts
        print(f"{arguments.documents:,} documents, {pathlib.Path(path).stat().st_size >> 20} MB of JSON lines, best of {arguments.rounds}; same results")
        print(f"{'':14}{'wall s':>9}{'ratio':>7}{'CPU s':>9}{'ratio':>7}{'peak MB':>9}{'before MB':>11}{'read s':>8}")
        line = best["command line"]
        for kind, facts in best.items():
            wall, cpu = facts["wall"], facts["cpu"]
            before = f"{facts['before'] >> 20:>11}" if "before" in facts else " " * 11
            read = f"{facts['read']:>8.2f}" if "read" in facts else ""
            print(
                f"{kind:14}{wall:>9.2f}{wall / line['wall']:>7.2f}{cpu:>9.2f}{cpu / line['cpu']:>7.2f}"
                f"{facts['peak'] >> 20:>9}{before}{read}"
            )


if __name__ == "__main__":
    if sys.argv[1:2] == ["--child"]:
        child(sys.argv[2], sys.argv[3])
    else:
        main()
