"""The same rows as the command line, by a cluster of processes."""

from __future__ import annotations

import json
import os
import shutil
import signal
import threading
import time
from pathlib import Path
from typing import Any

import lookalike
import lookalike.spark
import pytest

from cluster import Cluster
from machine import Machine, corpus

SCHEMA = "id string, text string, html string, rank int"
SUMMARY = "documents kept removed rejected clusters exact_duplicates candidates giant_groups duplicate_ids text_bytes".split()


def table(spark: Any, path: Path, parts: int = 3) -> Any:
    return spark.read.schema(SCHEMA).json(str(path)).repartition(parts)


def rows(frame: Any, *by: str) -> list[dict[str, Any]]:
    """All rows, in the order of these columns."""
    found = [row.asDict() for row in frame.collect()]
    return sorted(found, key=lambda row: [row[name] for name in by])


def named(found: list[dict[str, Any]], *names: str) -> list[dict[str, Any]]:
    """Some columns of rows."""
    return [{name: row[name] for name in names} for row in found]


def check(found: lookalike.spark.Result, machine: Machine, done: Path, counts: list[str] = SUMMARY) -> None:
    removed = machine.lines(done / "removed.jsonl")
    assert rows(found.removed.drop("order"), "n") == removed
    assert rows(found.clusters, "cluster") == machine.lines(done / "clusters.jsonl")
    summary = json.loads((done / "summary.json").read_text())
    assert {name: found.summary[name] for name in counts} == {name: summary[name] for name in counts}
    assert len(removed) > 50


@pytest.mark.parametrize("method", ["minhash", "simhash:n=3+5", "imatch", "a12"])
def test_dedup_is_that_of_one_machine(spark: Any, machine: Machine, pages: Path, method: str) -> None:
    done = machine.run("dedup", str(pages), "--order-field", "id", "--method", method)
    found = lookalike.spark.dedup(table(spark, pages), method=method)
    check(found, machine, done)
    reasons = {row["id"]: row["reason"] for row in rows(found.rejected)}
    assert reasons.keys() == {"nothing-1", "nothing-2"}
    assert set(reasons.values()) == {line["reason"] for line in machine.lines(done / "rejected.jsonl")}


def test_an_executor_that_is_killed_changes_nothing(
    spark: Any, cluster: Cluster, machine: Machine, pages: Path, tmp_path: Path
) -> None:
    done = machine.run("dedup", str(pages), "--order-field", "rank", "--keep", "longest")
    before = cluster.executors()
    assert len(before) == 2
    killed: list[int] = []

    def kill() -> None:
        # In the midst: sketches are there, and nothing is decided.
        deadline = time.monotonic() + 60
        while not (tmp_path / "work" / "names.done").exists() and time.monotonic() < deadline:
            time.sleep(0.02)
        os.kill(before[0], signal.SIGKILL)
        killed.append(before[0])

    killer = threading.Thread(target=kill)
    killer.start()
    found = lookalike.spark.dedup(table(spark, pages), order="rank", keep="longest", work=str(tmp_path / "work"))
    killer.join()
    assert killed and before[0] not in cluster.executors()
    check(found, machine, done)


def test_a_giant_group_is_cut_by_the_rule_of_one_machine(spark: Any, machine: Machine, pages: Path) -> None:
    options = ["--max-group", "12", "--method", "simhash:n=3+5", "--method", "minhash"]
    done = machine.run("dedup", str(pages), "--order-field", "id", *options)
    # No tie fits into the driver: the cluster finds components, too.
    found = lookalike.spark.dedup(table(spark, pages), method=["simhash:n=3+5", "minhash"], max_group=12, driver_ties=0)
    assert found.summary["giant_groups"] > 0
    check(found, machine, done, [name for name in SUMMARY if name != "giant_groups"])


def test_a_run_goes_on_behind_its_last_stage(spark: Any, machine: Machine, pages: Path, tmp_path: Path) -> None:
    work = str(tmp_path / "work")
    done = machine.run("dedup", str(pages), "--order-field", "id")
    given = spark.read.schema(SCHEMA).json(str(pages))
    check(lookalike.spark.dedup(given, work=work), machine, done)
    for name in ("decided", "removed", "clusters"):
        shutil.rmtree(tmp_path / "work" / name)
        (tmp_path / "work" / f"{name}.done").unlink()
    kept = {path.name: path.stat().st_mtime_ns for path in (tmp_path / "work").glob("*.done")}
    check(lookalike.spark.dedup(given, work=work), machine, done)
    assert {name: (tmp_path / "work" / name).stat().st_mtime_ns for name in kept} == kept
    with pytest.raises(lookalike.RecipeError, match='there .*threshold = "0.8" and here .*threshold = "0.9"'):
        lookalike.spark.dedup(given, work=work, threshold=0.9)


def test_comparison_is_that_of_one_machine(
    spark: Any, machine: Machine, pages: Path, binary: str, tmp_path: Path
) -> None:
    other = tmp_path / "other.jsonl"
    corpus(binary, other, 300, 9)
    with other.open("a") as file:
        for line in pages.read_text().splitlines()[40:200]:
            row = json.loads(line)
            name = "text" if "text" in row else "html"
            file.write(json.dumps({"id": "copy-" + row["id"], name: row[name] + " and more"}) + "\n")
    done = machine.run("compare", str(pages), "--with", str(other), "--order-field", "id")
    found = lookalike.spark.compare(table(spark, pages), table(spark, other))
    wanted = machine.lines(done / "pairs.jsonl")
    assert len(wanted) > 100
    assert named(rows(found.pairs, "a_n", "b_n"), "a", "b", "similarity", "near") == wanted
    best = named(rows(found.best, "a_n"), "a", "b", "similarity", "near", "pairs")
    assert best == machine.lines(done / "best.jsonl")


def test_pairs_are_those_of_one_machine(spark: Any, machine: Machine, pages: Path) -> None:
    done = machine.run("pairs", str(pages), "--order-field", "id", "--method", "exact", "--threshold", "0.7")
    found = lookalike.spark.pairs(table(spark, pages), method="exact", threshold=0.7)
    wanted = machine.lines(done)
    assert len(wanted) > 500
    assert named(rows(found.pairs, "a_n", "b_n"), "a", "b", "similarity") == wanted


def test_bad_tables_are_refused_in_a_sentence(spark: Any) -> None:
    columns = "id string, text string, rank int"
    twice = spark.createDataFrame([("a", "one text", 1), ("a", "another text", 2), ("b", None, 1)], columns)
    with pytest.raises(lookalike.UsageError, match="two documents bear the id a, and nothing tells them apart"):
        lookalike.spark.dedup(twice)
    assert lookalike.spark.dedup(twice, order="rank").summary["kept"] == 2
    # What is no document is not mistaken for one, whatever its id.
    text = "one text of a few words that comes twice and more"
    rejected = spark.createDataFrame([("a", text, 1), ("a", None, 2), ("b", text, 1)], columns)
    assert rows(lookalike.spark.dedup(rejected).removed.select("id", "witness")) == [{"id": "b", "witness": "a"}]
    for options, sentence in [
        ({"text": "body"}, "there is no column body; the table has id, text, rank"),
        ({"id": "url"}, "there is no column url"),
        ({"text": "rank"}, "the column rank holds int, and text is wanted"),
        ({"method": "minhesh"}, "minhesh"),
        ({"threshold": 7}, "threshold"),
        ({"order": "when"}, "there is no column when"),
    ]:
        with pytest.raises(lookalike.UsageError, match=sentence):
            lookalike.spark.dedup(twice, **options)


def test_too_many_rejected_rows_are_refused_and_a_larger_limit_goes_on(spark: Any, tmp_path: Path) -> None:
    texts = [(f"d{number:03}", None if number % 5 == 3 else f"text number {number}, like no other: word{number}") for number in range(100)]
    table = spark.createDataFrame(texts, "id string, text string")
    work = str(tmp_path / "work")
    with pytest.raises(lookalike.TooManyRejectedError, match=r"20 of 100 records of the input .* 20 × missing field.*the id d003"):
        lookalike.spark.dedup(table, work=work)
    assert lookalike.spark.dedup(table, work=work, max_rejected="20%").summary["rejected"] == 20
    good = spark.createDataFrame([("a", "one text of a few words")], "id string, text string")
    with pytest.raises(lookalike.TooManyRejectedError, match="20 of 100 records of the right side"):
        lookalike.spark.compare(good, table)


def test_rows_out_of_order_fail_the_job() -> None:
    import pyarrow as pa

    core = lookalike._core.spark
    recipe = core.job_recipe("dedup", {})
    groups = core.Groups(recipe, ".", 2, 0)
    columns = ["method", "tag", "length", "mark", "sides"]
    for key, document in [(5, 1), (4, 2)]:
        batch = pa.record_batch(
            {
                **{name: pa.array([0], pa.int32()) for name in columns},
                "key": pa.array([key], pa.int64()),
                "n": pa.array([document], pa.int64()),
            }
        )
        if key == 5:
            groups.take(batch)
        else:
            with pytest.raises(lookalike.UsageError, match="postings are out of order"):
                groups.take(batch)
