"""Judgments of an old corpus carried over to a new one: the cluster finds near-duplicates of judged documents, and the driver settles
who inherits what, by the code of the command line. Judged documents and their near-duplicates fit into its memory.
"""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from .. import __version__
from .._core import spark as core
from .._errors import InputError, UsageError
from ._read import Path
from ._session import prepare
from ._tables import batches
from ._work import Work

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from ._stages import Found
    from ._workers import Batches

_MAPPING = (
    "old string, new string, similarity double, url string, best boolean, old_url string, new_url string, methods array<string>"
)
_TOPICS = (
    "track string, topic string, judged_before bigint, judged_after bigint, relevant_before bigint, relevant_after bigint, "
    "lost boolean"
)


@dataclass(frozen=True)
class Transfer:
    """What became of judgments.

    `qrels` is the text of all new judgments (None where a topic is in several files and may be another in each), `tracks` that of each
    file of judgments by its name. `mapping` has a row for each near-duplicate of a judged document (`old`, `new`, `similarity`, how
    their addresses are related in `url`, and whether it is the `best`), `topics` one for each topic before and after, `conflicts` and
    `missing` are lists of rows, and `summary` has the counts of the command line.
    """

    qrels: str | None
    tracks: dict[str, str]
    mapping: DataFrame
    topics: DataFrame
    conflicts: list[dict[str, Any]]
    missing: list[dict[str, Any]]
    summary: dict[str, Any]
    work: str
    #: What the command line writes, by the names of its files.
    files: dict[str, str] = field(repr=False)


def transfer(
    judgments: Path | Sequence[Path],
    old: DataFrame,
    new: DataFrame,
    *,
    id: str = "id",
    text: str = "text",
    html: str = "html",
    url: str = "url",
    layout: str | None = None,
    matches: str = "best",
    method: str | Sequence[str] = "minhash",
    threshold: float | str = 0.9,
    shingle: int = 1,
    name: str = "new",
    work: str | None = None,
    partitions: int | None = None,
    memory: int = 1 << 30,
    portion: int = 64 << 20,
    driver_ties: int = 20_000_000,
    **options: Any,
) -> Transfer:
    """Carries relevance judgments over from the documents of one table to their near-duplicates in another, as `lookalike transfer` does.

    `judgments` are files that the driver reads, in any layout of TREC. `matches` says which near-duplicates of a judged document get its
    judgments: the `best` or `all`. `name` is what the new corpus is called in the summary. Other options are those of `compare`. A
    sample of found documents to look at is for the command line alone.

    Documents are taken in the order of their ids, so of several near-duplicates that are as similar and at the same kind of address the
    one with the lowest id is the best.
    """
    paths = [judgments] if isinstance(judgments, (str, os.PathLike)) else list(judgments)
    if matches not in ("best", "all"):
        raise UsageError(f"invalid value '{matches}' for 'matches': possible values: best, all")
    if options.get("within") is not None:
        raise UsageError("judgments go wherever their documents went; leave within out")
    judged = core.JudgedFiles(paths, layout)
    asked = {**options, "threshold": threshold, "shingle": shingle}
    asked["method"] = method if isinstance(method, str) else list(method)
    columns = {"id": id, "text": text, "html": html, "url": url}
    run = _Transfer(judged, old, new, columns, asked, work)
    found = run.compare({"partitions": partitions, "memory": memory, "portion": portion, "driver_ties": driver_ties})
    files = run.settle(found, matches == "all", name)
    return _result(run.spark, files, judged.tracks(), run.work.folder)


class _Transfer:
    def __init__(
        self,
        judged: Any,
        old: DataFrame,
        new: DataFrame,
        columns: dict[str, str],
        asked: dict[str, Any],
        work: str | None,
    ) -> None:
        from pyspark.sql import functions as F

        from ._stages import _identity

        self.F, self.judged, self.columns, self.asked = F, judged, columns, asked
        self.spark: SparkSession = old.sparkSession
        prepare(self.spark)
        self.ids: list[str] = judged.documents()
        self.old, self.new = (self._known(table) for table in (old, new))
        job = {
            "recipe": core.job_recipe("compare", asked),
            "judged": hashlib.blake2b("\n".join(self.ids).encode(), digest_size=16).hexdigest(),
            "columns": columns,
            "version": __version__,
            "input": [_identity(old), _identity(new)],
        }
        self.work = Work(self.spark, work, job)
        self.picked = self.work.stage("judged", self._picked)

    def _known(self, table: DataFrame) -> DataFrame:
        """A table under the names that all tables of a job have."""
        F = self.F
        named = self.columns
        if named["id"] not in table.columns:
            raise UsageError(f"there is no column {named['id']}; the table has {', '.join(table.columns)}")
        if not any(named[name] in table.columns for name in ("text", "html")):
            raise UsageError(f"there is no column {named['text']}; the table has {', '.join(table.columns)}")
        chosen = []
        for name in ("id", "url", "text", "html"):
            source = named[name]
            value = F.col(f"`{source}`") if source in table.columns else F.lit(None)
            chosen.append(value.cast("string").alias(name))
        told = dict(table.dtypes).get("rejected") == "string"
        chosen.append((F.col("rejected") if told else F.lit(None).cast("string")).alias("rejected"))
        return table.select(*chosen)

    def _picked(self) -> DataFrame:
        """Judged documents of the old table, and rows of it that are no documents, so that these are counted."""
        F = self.F
        readable = F.coalesce("text", "html").isNotNull() & F.col("rejected").isNull()
        wanted = self.spark.createDataFrame([(name, True) for name in self.ids], "id string, wanted boolean")
        rows = self.old.withColumn("readable", readable).join(F.broadcast(wanted), "id", "left")
        rows = rows.where("not readable or wanted")
        kept = [F.when(F.col("readable"), F.col(name)).alias(name) for name in ("url", "text", "html")]
        return rows.select("id", *kept, "readable")

    def compare(self, how: dict[str, Any]) -> Found:
        """All pairs of judged documents with the new table."""
        from . import _run

        there = [row["id"] for row in self.picked.where("readable").select("id").collect()]
        known = set(there)
        self.missing = [name for name in self.ids if name not in known]
        if not there:
            raise InputError(
                f"none of the {len(self.ids)} judged documents is in the old corpus; look at its ids, and at the column they are in"
            )
        left = self.picked.where("readable").drop("readable")
        right = self.new
        columns = {name: name for name in ("id", "text", "html", "url")}
        options = {name: value for name, value in self.asked.items() if name != "method"}
        return _run(
            "compare",
            [left, right],
            columns,
            None,
            self.asked["method"],
            f"{self.work.folder}/compare",
            how["partitions"],
            how["memory"],
            how["portion"],
            how["driver_ties"],
            options,
            # Unreadable judged documents are counted with the judgments.
            "100%",
        )

    def settle(self, found: Found, all: bool, name: str) -> dict[str, str]:
        """Brings what was found to the driver and moves the judgments; the files of the command line come out."""
        settlement = core.Settlement()
        for batch in batches(self._judged(found)):
            settlement.documents(batch)
        for batch in batches(self._pairs(found)):
            settlement.pairs(batch)
        facts = {**self._facts(found), "missing": self.missing, "name": name, "all": all}
        with tempfile.TemporaryDirectory(prefix="lookalike-") as folder:
            settlement.finish(self.judged, folder, json.dumps(facts), self.asked)
            return _texts(folder)

    def _pairs(self, found: Found) -> DataFrame:
        from . import _listed

        listed = _listed(found)
        addresses = self.new.where("url is not null").select(self.F.col("id").alias("b"), "url")
        near = listed.join(addresses, "b", "left")
        return near.orderBy("a_n", "b_n").select("a_n", "b_n", "b", "url", "similarity", "near", "methods")

    def _judged(self, found: Found) -> DataFrame:
        """Judged documents with their numbers and addresses, and whether the new table has these."""
        F = self.F
        known = self.picked.where("readable").select("id", "url")
        ours = known.mapInArrow(_keys, "id string, url string, key binary")
        theirs = self.new.where("url is not null and rejected is null").select("id", "url")
        keys = theirs.mapInArrow(_keys, "id string, url string, key binary").where("key is not null").select("key")
        wanted = ours.where("key is not null").select("key").distinct()
        shared = keys.join(F.broadcast(wanted), "key", "left_semi").distinct().withColumn("shared", F.lit(True))
        numbers = found.names.where("side = 0 and not rejected").select("n", "id")
        joined = numbers.join(ours, "id").join(F.broadcast(shared), "key", "left")
        flag = F.coalesce("shared", F.lit(False)).alias("shared")
        return joined.select("n", "id", "url", flag).orderBy("n")

    def _facts(self, found: Found) -> dict[str, Any]:
        from . import _summary

        F = self.F
        counted = found.sketches.groupBy("side").agg(
            F.count("*").alias("documents"),
            F.count("reason").alias("rejected"),
            F.coalesce(F.sum("text_bytes"), F.lit(0)).alias("text_bytes"),
        )
        sides = {row["side"]: row.asDict() for row in counted.collect()}
        nothing = {"documents": 0, "rejected": 0, "text_bytes": 0}
        both: dict[str, Any] = {}
        for side, name in enumerate(("left", "right")):
            counts = {key: sides.get(side, nothing)[key] for key in nothing}
            both[name] = {**counts, "skipped": 0, "duplicate_ids": 0}
        lefts = F.broadcast(found.names.where("side = 0 and not rejected").select("id").distinct())
        rights = found.names.where("side = 1 and not rejected").select("id")
        both["common_ids"] = rights.join(lefts, "id", "left_semi").distinct().count()
        in_groups = found.decided.agg(F.sum("pairs_in_groups")).first()
        both["pairs_in_groups"] = int((in_groups[0] if in_groups else 0) or 0)
        summary = _summary(found)
        counts = {name: summary[name] for name in ("candidates", "verified", "giant_groups")}
        return {"both": both, "old_rejected": self.picked.where("not readable").count(), **counts}


def _keys(rows: Batches) -> Batches:
    for batch in rows:
        yield core.address_keys(batch)


def _texts(folder: str) -> dict[str, str]:
    """All files of a folder but those that need texts of documents."""
    found = {}
    for place, _, names in os.walk(folder):
        for name in names:
            path = os.path.join(place, name)
            known = os.path.relpath(path, folder)
            if known != "review.jsonl":
                with open(path, encoding="utf-8") as file:
                    found[known] = file.read()
    return found


def _result(spark: SparkSession, files: dict[str, str], tracks: list[str], work: str) -> Transfer:
    lines = {name: [json.loads(line) for line in text.splitlines()] for name, text in files.items() if name.endswith(".jsonl")}
    single = len(tracks) == 1
    texts = {track: files["qrels.txt" if single else os.path.join("qrels", f"{track}.txt")] for track in tracks}
    names = _MAPPING.replace(",", "").split()[::2]
    mapping = [tuple(row.get(name) for name in names) for row in lines["mapping.jsonl"]]
    topics = []
    for line in files["topics.tsv"].splitlines()[1:]:
        track, topic, *counts, lost = line.split("\t")
        topics.append((track, topic, *map(int, counts), lost == "yes"))
    return Transfer(
        files.get("qrels.txt"),
        texts,
        spark.createDataFrame(mapping, _MAPPING),
        spark.createDataFrame(topics, _TOPICS),
        lines["conflicts.jsonl"],
        lines["missing.jsonl"],
        json.loads(files["summary.json"]),
        work,
        files,
    )
