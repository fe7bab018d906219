"""Addresses, judgments, files of any format, and the command, each held against the command line."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import lookalike
import lookalike.spark
import pytest

from cluster import QUICK
from machine import WORDS, Machine
from test_spark import rows

DOCUMENTS = "id string, url string, text string, html string"


@pytest.fixture(scope="module")
def crawls(binary: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two crawls of one web, in the order of ids, as Spark takes documents."""
    made = tmp_path_factory.mktemp("crawls") / "made"
    sizes = ["--documents", "300", "--old", "120", "--judged", "60", "--segments", "1", "--seed", "3"]
    subprocess.run([binary, "corpus", "generate", "--crawls", *sizes, "-o", str(made)], check=True, capture_output=True)
    for name in ("old.jsonl", "new-00.jsonl"):
        lines = [json.loads(line) for line in (made / name).read_text().splitlines()]
        for place, line in enumerate(lines):
            line["url"] = None if place % 17 == 3 else line["url"]
        # Some pages have the address of another, written differently, and some addresses have no host.
        lines[5]["url"] = lines[6]["url"].replace("http://", "HTTP://") + "#top"
        lines[7]["url"] = lines[9]["url"] = "no address at all"
        lines.sort(key=lambda line: line["id"].encode())
        (made / name).write_text("".join(json.dumps(line) + "\n" for line in lines))
    with (made / "qrels.txt").open("a") as file:
        file.write("1 0 nobody-has-this 2\n")
    return made


def table(spark: Any, path: Path) -> Any:
    return spark.read.schema(DOCUMENTS).json(str(path)).repartition(3)


def written(row: dict[str, Any]) -> dict[str, Any]:
    """A row as the command line writes it."""
    return {name: value for name, value in row.items() if name not in ("left_more", "right_more") or value}


def tsv(frame: Any) -> str:
    lines = ["\t".join(frame.columns)]
    for row in frame.collect():
        lines.append("\t".join("" if value is None else f"{value:.6f}" if isinstance(value, float) else str(value) for value in row))
    return "\n".join(lines) + "\n"


def counts(done: Path) -> dict[str, Any]:
    """The summary of a folder without what only the command line writes: digests of files, and reasons of rejections."""
    summary: dict[str, Any] = json.loads((done / "summary.json").read_text())
    return {name: value for name, value in summary.items() if name not in ("files", "checksum", "reasons")}


def test_addresses_are_those_of_one_machine(spark: Any, machine: Machine, crawls: Path) -> None:
    old, new = crawls / "old.jsonl", crawls / "new-00.jsonl"
    done = machine.run("urls", str(old), "--with", str(new), "--match", "canonical", "--no-similarity")
    found = lookalike.spark.urls(table(spark, old), table(spark, new), match="canonical", names=("old.jsonl", "new-00.jsonl"))
    wanted = machine.lines(done / "overlap.jsonl")
    assert len(wanted) > 50 and any(len(row["left"]) > 1 for row in wanted)
    assert [written(row) for row in rows(found.overlap)] == wanted
    assert tsv(found.domains) == (done / "domains.tsv").read_text()
    assert tsv(found.tlds) == (done / "tlds.tsv").read_text()
    assert found.summary == counts(done)
    with pytest.raises(lookalike.UsageError, match="possible values: exact, normal, canonical"):
        lookalike.spark.urls(table(spark, old), table(spark, new), match="fuzzy")


def test_judgments_go_where_one_machine_brings_them(spark: Any, machine: Machine, crawls: Path) -> None:
    old, new, qrels = crawls / "old.jsonl", crawls / "new-00.jsonl", crawls / "qrels.txt"
    done = machine.run("transfer", "--judgments", str(qrels), "--from", str(old), "--to", str(new))
    found = lookalike.spark.transfer(qrels, table(spark, old), table(spark, new), name=str(new))
    assert found.qrels == (done / "qrels.txt").read_text() and len(found.qrels.splitlines()) > 20
    mapping = machine.lines(done / "mapping.jsonl")
    assert [{name: value for name, value in row.items() if value is not None} for row in rows(found.mapping)] == mapping
    for name in ("mapping.jsonl", "topics.tsv", "conflicts.jsonl", "missing.jsonl"):
        assert found.files[name] == (done / name).read_text()
    assert [row["document"] for row in found.missing] == ["nobody-has-this"]
    assert found.topics.count() == len((done / "topics.tsv").read_text().splitlines()) - 1
    wanted = counts(done)
    assert {**found.summary, "asked": None} == {**wanted, "asked": None}
    with pytest.raises(lookalike.InputError, match="none of the 61 judged documents is in the old corpus"):
        lookalike.spark.transfer(qrels, table(spark, new), table(spark, old))
    with pytest.raises(lookalike.UsageError, match="leave within out"):
        lookalike.spark.transfer(qrels, table(spark, old), table(spark, new), within="url")


@pytest.fixture(scope="module")
def mixed(binary: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One corpus in many formats, with damage."""
    folder = tmp_path_factory.mktemp("mixed") / "in"
    folder.mkdir()
    made = folder.parent / "made.jsonl"
    subprocess.run([binary, "corpus", "generate", "--documents", "240", "--seed", "7", "-o", str(made)], check=True, capture_output=True)
    lines = made.read_text().splitlines(keepends=True)
    part = folder.parent / "part.jsonl"
    for name, some in (("b.warc.gz", lines[:80]), ("c.parquet", lines[80:160])):
        part.write_text("".join(some))
        subprocess.run([binary, "corpus", "convert", str(part), "-o", str(folder / name)], check=True, capture_output=True)
    tail = ['{"id":"no text"}\n', "{broken\n", '{"text":"a page without a name, but with some words in it"}\n']
    (folder / "a.jsonl.gz").write_bytes(gzip.compress("".join(lines[160:] + tail).encode()))
    (folder / "d.html").write_text(f"<html><body><p>{' '.join(WORDS * 3)}</body></html>")
    request = b"WARC/1.0\r\nWARC-Type: request\r\nWARC-Record-ID: <urn:x:1>\r\nContent-Length: 0\r\n\r\n\r\n\r\n"
    (folder / "e.warc").write_bytes(request)
    return folder


def test_files_of_any_format_are_read_by_workers(spark: Any, machine: Machine, mixed: Path) -> None:
    pages = lookalike.spark.read(spark, mixed)
    assert pages.columns == ["id", "url", "text", "source", "shard", "record", "position", "rejected"]
    found = pages.collect()
    assert {row["source"] for row in found} == {"a.jsonl.gz", "b.warc.gz", "c.parquet", "d.html"}
    assert [row["id"] for row in found if row["source"] == "d.html"] == ["d.html"]
    bad = [row for row in found if row["rejected"] is not None]
    assert len(found) == 244 and len(bad) == 2 and all(row["text"] is None for row in bad)
    done = machine.run("dedup", str(mixed), "--order-field", "id")
    assert [(row["source"], row["position"], row["rejected"]) for row in sorted(bad, key=lambda row: row["record"])] == [
        (line["source"], line["position"], line["reason"]) for line in machine.lines(done / "rejected.jsonl")
    ]
    with pytest.raises(lookalike.InputError, match="is neither a file, a folder nor a pattern"):
        lookalike.spark.read(spark, mixed / "nothing")
    with pytest.raises(lookalike.UsageError, match="workers cannot read standard input"):
        lookalike.spark.read(spark, "-")


def command(*arguments: str, code: int = 0) -> str:
    """Runs the command as people do, and returns what it says of its failure."""
    quick = f'--driver-java-options "{QUICK}" pyspark-shell'
    environment = {**os.environ, "SPARK_LOCAL_IP": "127.0.0.1", "PYSPARK_SUBMIT_ARGS": quick}
    done = subprocess.run([sys.executable, "-m", "lookalike.spark", *arguments], capture_output=True, text=True, env=environment)
    assert done.returncode == code, done.stderr[-3000:]
    return done.stderr


def same(ours: Path, theirs: Path, *names: str) -> None:
    for name in names:
        assert (ours / name).read_text() == (theirs / name).read_text(), name


def test_the_command_writes_what_the_command_line_writes(machine: Machine, mixed: Path, tmp_path: Path) -> None:
    done = machine.run("dedup", str(mixed), "--order-field", "id")
    out = tmp_path / "out"
    command("dedup", str(mixed), "-o", str(out), "--master", "local[2]", "--partitions", "2", "--work", str(tmp_path / "work"))
    assert sorted(path.name for path in out.iterdir()) == [
        "clusters.jsonl", "recipe.toml", "rejected.jsonl", "removed.jsonl", "summary.json",
    ]  # fmt: skip
    assert len((out / "removed.jsonl").read_text().splitlines()) > 20
    same(out, done, "removed.jsonl", "clusters.jsonl", "rejected.jsonl", "recipe.toml")
    assert json.loads((out / "summary.json").read_text()) == counts(done)


def test_the_command_runs_inside_a_session_that_is_there(
    spark: Any, machine: Machine, crawls: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from lookalike.spark._command import main

    old, new = str(crawls / "old.jsonl"), str(crawls / "new-00.jsonl")
    both = [old, "--with", new]

    done = machine.run("urls", *both)
    assert main(["urls", *both, "-o", str(tmp_path / "shared")]) == 0
    same(tmp_path / "shared", done, "overlap.jsonl", "domains.tsv", "tlds.tsv", "rejected.jsonl")
    assert json.loads((tmp_path / "shared" / "summary.json").read_text()) == counts(done)

    done = machine.run("compare", *both, "--order-field", "id", "--threshold", "0.7")
    assert main(["compare", *both, "-o", str(tmp_path / "compared"), "--threshold", "0.7"]) == 0
    same(tmp_path / "compared", done, "pairs.jsonl", "best.jsonl", "rejected.jsonl", "recipe.toml")

    capsys.readouterr()
    for arguments, code, sentence in [
        (["dedup", str(tmp_path / "nothing"), "-o", str(tmp_path / "x")], 1, "is neither a file, a folder nor a pattern"),
        (["dedup", old, "-o", str(tmp_path / "shared")], 2, "is there already; name another place"),
        (["dedup", old, "-o", str(tmp_path / "x"), "--method", "minhesh"], 2, "minhesh"),
        (["pairs", old, "-o", str(tmp_path / "x")], 2, "let it end in .jsonl"),
    ]:
        assert main(arguments) == code
        told = capsys.readouterr().err
        assert sentence in told and len(told.splitlines()) == 1, told
    assert not list(tmp_path.glob(".lookalike-*"))


def alone(code: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """A session on this machine alone, in a process of its own, without the Python of the tests on the path."""
    begin = f"""
import lookalike.spark
from pyspark.sql import SparkSession
options = {{"spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1", "spark.ui.enabled": "false",
    "spark.driver.extraJavaOptions": {QUICK!r}, "spark.ui.showConsoleProgress": "false", "spark.sql.shuffle.partitions": "2"}}
builder = SparkSession.builder.master("local[2]")
for name, value in options.items():
    builder = builder.config(name, value)
spark = builder.getOrCreate()
text = "the same words in the same order, often enough to be one document"
table = spark.createDataFrame([("a", text), ("b", text), ("c", "something else altogether")], "id string, text string")
"""
    base = {name: value for name, value in os.environ.items() if name not in ("PYSPARK_PYTHON", "PYTHONPATH")}
    base["PATH"] = os.pathsep.join(part for part in base["PATH"].split(os.pathsep) if Path(part) != Path(sys.executable).parent)
    return subprocess.run(
        [sys.executable, "-c", begin + code], env={**base, "SPARK_LOCAL_IP": "127.0.0.1", **environment}, capture_output=True, text=True, timeout=300
    )


def test_workers_of_this_machine_take_the_python_of_the_driver(tmp_path: Path) -> None:
    done = alone(f"print(lookalike.spark.dedup(table, work={str(tmp_path / 'work')!r}).summary['removed'])")
    assert done.stdout.split() == ["1"], done.stderr


def test_workers_without_the_package_are_named_before_the_work(tmp_path: Path) -> None:
    other = Path(sys.base_prefix) / "bin" / f"python3.{sys.version_info.minor}"
    code = f"""
try:
    lookalike.spark.dedup(table, work={str(tmp_path / "work")!r})
except lookalike.UsageError as error:
    print(error)
"""
    done = alone(code, PYSPARK_PYTHON=str(other))
    assert "the Python of Spark's workers has no " in done.stdout and "PYSPARK_PYTHON" in done.stdout, done.stdout + done.stderr
    assert len(done.stdout.splitlines()) == 1 and not any((tmp_path / "work").glob("*/*.parquet"))
