"""What Spark costs beside one machine, and what travels between its workers.

    python python/bench_spark.py --binary target/release/lookalike --documents 100000

Starts a cluster on the loopback interface (one master, two workers with a core each), runs `dedup` there and by the command line on
the same generated documents in Parquet, and prints time, processor time and bytes of shuffles for each document. Spark runs twice
before that on a few documents: what a cluster that has just started costs, and what a warm one costs for next to nothing. Also
measures the choice between keys that travel with the records of their documents and keys that travel alone.
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

FEW = 1_000

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


def stages(folder: Path, since: float) -> list[tuple[float, float, float, float, str]]:
    """Of every stage of tasks that began later: seconds of tasks, of their Java threads, megabytes read and shuffled, and where in
    our code it was asked for."""
    names: dict[int, str] = {}
    sums: dict[int, list[float]] = {}
    for path in folder.rglob("*"):
        if not path.is_file():
            continue
        for line in path.read_text(errors="replace").splitlines():
            event = json.loads(line) if '"SparkListenerTaskEnd"' in line or '"SparkListenerStageCompleted"' in line else {}
            if event.get("Event") == "SparkListenerStageCompleted":
                info = event["Stage Info"]
                if info.get("Submission Time", 0) / 1000 >= since:
                    names[info["Stage ID"]] = info["Stage Name"]
            elif event:
                metrics = event.get("Task Metrics") or {}
                row = sums.setdefault(event["Stage ID"], [0.0] * 4)
                row[0] += metrics.get("Executor Run Time", 0) / 1e3
                row[1] += metrics.get("Executor CPU Time", 0) / 1e9
                row[2] += (metrics.get("Input Metrics") or {}).get("Bytes Read", 0) / 1e6
                row[3] += (metrics.get("Shuffle Write Metrics") or {}).get("Shuffle Bytes Written", 0) / 1e6
    return [(*sums.get(number, [0.0] * 4), f"{number} {name}") for number, name in sorted(names.items())]  # type: ignore[misc]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--binary", default="target/release/lookalike")
    parser.add_argument("--documents", type=int, default=100_000)
    parser.add_argument("--method", default="minhash")
    parser.add_argument("--stages", action="store_true", help="list every stage of tasks")
    asked = parser.parse_args()

    import lookalike.spark
    from cluster import Cluster, session
    from lookalike.spark import _workers as workers

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        lines, pages, logs = folder / "pages.jsonl", folder / "pages.parquet", folder / "logs"
        logs.mkdir()
        subprocess.run(
            [asked.binary, "corpus", "generate", "--documents", str(asked.documents), "--seed", "5", "-o", str(lines)],
            check=True,
            capture_output=True,
        )
        size = lines.stat().st_size
        few = folder / "few.parquet"
        as_parquet(lines, pages, few)
        lines.unlink()
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
            spark = session(cluster.master, folder, "")
            spark.conf.set("spark.sql.execution.arrow.maxRecordsPerBatch", "2000")
            pids = [process.pid for process in cluster.processes] + [os.getpid()]
            spark.range(10).repartition(2).count()
            started = time.monotonic() - begun - one
            for name in ("cold", "warm"):
                base, begun = processor_seconds(pids), time.monotonic()
                small = spark.read.parquet(str(few))
                lookalike.spark.dedup(small, method=asked.method, work=str(folder / name), partitions=4)
                fixed = processor_seconds(pids) - base
                print(f"Spark, {FEW} documents, {name}: {time.monotonic() - begun:.1f} s, {fixed:.1f} s of processors")
            table = spark.read.parquet(str(pages))
            base, since = processor_seconds(pids), time.time()
            begun = time.monotonic()
            work = folder / "work"
            found = lookalike.spark.dedup(table, method=asked.method, work=str(work), partitions=4)
            spent = time.monotonic() - begun
            used = processor_seconds(pids) - base
            equal = [row.asDict() for row in found.removed.orderBy("n").collect()] == [
                json.loads(line) for line in (folder / "one" / "removed.jsonl").read_text().splitlines()
            ]
            whole = shuffled(logs)
            print(f"Spark: {spent:.1f} s behind a start of {started:.1f} s, {used:.1f} s of processors; rows equal: {equal}")
            print(f"  {spent / one:.1f} times the time and {used / one_processor:.1f} times the processors of one machine")
            more = (used - fixed) / one_processor
            print(f"  {more:.1f} times the processors without what a warm cluster takes for {FEW} documents")
            if asked.stages:
                print("  task s   java s  read MB  shuffled MB")
                for run, java, read, written, name in stages(logs, since):
                    print(f"  {run:6.1f}   {java:6.1f}  {read:7.1f}  {written:7.1f}  {name}")
            print(f"  shuffles: {whole['shuffle'] / asked.documents:.0f} bytes for each document")
            print(f"  summary: {found.summary}")
            carried(spark, work, workers, logs, asked.documents)
            spark.stop()
        finally:
            cluster.stop()


def as_parquet(lines: Path, pages: Path, few: Path) -> None:
    """The documents as a table, and a few of them."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    schema = pa.schema([("id", pa.string()), ("text", pa.string()), ("html", pa.string())])
    with open(lines) as rows, pq.ParquetWriter(pages, schema) as writer:
        batch: list[dict[str, Any]] = []
        for line in rows:
            row = json.loads(line)
            batch.append({name: row.get(name) for name in schema.names})
            if len(batch) == 5_000:
                writer.write_table(pa.Table.from_pylist(batch, schema))
                batch = []
        writer.write_table(pa.Table.from_pylist(batch, schema))
    pq.write_table(pq.read_table(pages).slice(0, FEW), few)


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
