"""What Spark costs beside one machine, and what travels between its workers.

    python python/bench_spark.py --binary target/release/lookalike --documents 100000

Starts a cluster on the loopback interface (one master, two workers with a core each), runs `dedup` there and by the command line on
the same generated documents, and prints time, processor time and bytes of shuffles for each document. Also measures the choice
between keys that travel with the records of their documents and keys that travel alone.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent / "tests" / "spark"))


def processor_seconds(pids: list[int]) -> float:
    """Seconds that these processes and all that they started have worked."""
    ticks = 0
    children: dict[int, list[int]] = {}
    times: dict[int, int] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            children.setdefault(int(fields[1]), []).append(int(entry.name))
            times[int(entry.name)] = sum(map(int, fields[11:15]))
    todo = list(pids)
    while todo:
        pid = todo.pop()
        ticks += times.get(pid, 0)
        todo += children.get(pid, [])
    return ticks / os.sysconf("SC_CLK_TCK")


def shuffled(folder: Path) -> dict[str, int]:
    """Bytes that were written to shuffles, from the application's log."""
    total = {"shuffle": 0, "spilled": 0}
    for path in folder.rglob("*"):
        if not path.is_file():
            continue
        for line in path.read_text(errors="replace").splitlines():
            if '"SparkListenerTaskEnd"' not in line:
                continue
            metrics = json.loads(line).get("Task Metrics") or {}
            total["shuffle"] += (metrics.get("Shuffle Write Metrics") or {}).get("Shuffle Bytes Written", 0)
            total["spilled"] += metrics.get("Disk Bytes Spilled", 0)
    return total


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--binary", default="target/release/lookalike")
    parser.add_argument("--documents", type=int, default=100_000)
    parser.add_argument("--method", default="minhash")
    asked = parser.parse_args()

    import lookalike.spark
    from cluster import Cluster, session
    from lookalike.spark import _workers as workers

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        pages, logs = folder / "pages.jsonl", folder / "logs"
        logs.mkdir()
        subprocess.run(
            [asked.binary, "corpus", "generate", "--documents", str(asked.documents), "--seed", "5", "-o", str(pages)],
            check=True,
            capture_output=True,
        )
        size = pages.stat().st_size
        begun = time.monotonic()
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        command = [asked.binary, "dedup", str(pages), "--order-field", "id", "--method", asked.method, "--threads", "2"]
        subprocess.run([*command, "-o", str(folder / "one")], check=True, capture_output=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        one = time.monotonic() - begun
        one_processor = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        print(f"{asked.documents} documents, {size / 1e6:.0f} MB, {asked.method}")
        print(f"one machine: {one:.1f} s, {one_processor:.1f} s of processors")

        cluster = Cluster(folder)
        try:
            os.environ["PYSPARK_SUBMIT_ARGS"] = (
                f"--conf spark.eventLog.enabled=true --conf spark.eventLog.dir=file://{logs} "
                "--conf spark.eventLog.rolling.enabled=false --conf spark.eventLog.compress=false pyspark-shell"
            )
            spark = session(cluster.master, folder)
            spark.conf.set("spark.sql.execution.arrow.maxRecordsPerBatch", "2000")
            pids = [process.pid for process in cluster.processes] + [os.getpid()]
            spark.range(10).repartition(2).count()
            started = time.monotonic() - begun - one
            table = spark.read.json(str(pages)).select("id", "text", "html")
            base = processor_seconds(pids)
            begun = time.monotonic()
            work = folder / "work"
            found = lookalike.spark.dedup(table, method=asked.method, work=str(work), partitions=4)
            spent = time.monotonic() - begun
            used = processor_seconds(pids) - base
            equal = [row.asDict() for row in found.removed.collect()] == [
                json.loads(line) for line in (folder / "one" / "removed.jsonl").read_text().splitlines()
            ]
            whole = shuffled(logs)
            print(f"Spark: {spent:.1f} s behind a start of {started:.1f} s, {used:.1f} s of processors; rows equal: {equal}")
            print(f"  {spent / one:.1f} times the time and {used / one_processor:.1f} times the processors of one machine")
            print(f"  shuffles: {whole['shuffle'] / asked.documents:.0f} bytes for each document")
            print(f"  summary: {found.summary}")
            carried(spark, work, workers, logs, asked.documents)
            spark.stop()
        finally:
            cluster.stop()


def carried(spark: Any, work: Path, workers: Any, logs: Path, documents: int) -> None:
    """What travels when records go along with every key, and when they are joined to pairs."""
    from pyspark.sql import functions as F

    recipe = json.loads((work / "lookalike.json").read_text())["recipe"]
    sketches = spark.read.parquet(str(work / "documents"))
    postings = sketches.mapInArrow(workers.postings(workers.Shipped(recipe)), workers.POSTINGS)
    pairs = spark.read.parquet(str(work / "pairs")).where("a is not null").groupBy("a", "b").count()
    ours = sketches.select(F.col("n").alias("a"), F.col("record").alias("ours"))
    theirs = sketches.select(F.col("n").alias("b"), F.col("record").alias("theirs"))
    ways = {
        "keys alone": [postings.repartition(4, "method", "key"), pairs.join(ours, "a").join(theirs, "b")],
        "keys with records": [postings.join(sketches.select("n", "record"), "n").repartition(4, "method", "key")],
    }
    for name, frames in ways.items():
        before, begun = shuffled(logs)["shuffle"], time.monotonic()
        for frame in frames:
            frame.write.format("noop").mode("overwrite").save()
        spent, written = time.monotonic() - begun, shuffled(logs)["shuffle"] - before
        print(f"  {name}: {written / documents:.0f} bytes for each document, {spent:.1f} s")


if __name__ == "__main__":
    main()
