'''Near-duplicates in tables that one machine cannot hold: the same answer as `lookalike.dedup`, by a Spark cluster.

    import lookalike.spark

    found = lookalike.spark.dedup(spark.read.parquet("s3a://crawl/pages/"), id="url", text="body", work="s3a://scratch/run-7")
    found.removed.write.parquet("s3a://crawl/removed/")

Spark moves rows between machines; all that is decided is decided by the same code as on one machine, so that rows are equal, one by
one, to those of `lookalike dedup --order-field`. The wheel must be installed on every machine.

`work` is a folder that driver and workers see. Every stage is written there; the same call with the same folder goes on behind the
last stage that was finished. Without it, a new folder under the warehouse directory is taken.

Documents are taken in the order of their ids, as bytes, or in that of the column `order` (numbers by value, else as bytes; missing
values last) and then of their ids. Ids that come twice are refused unless `order` tells them apart.
'''

from __future__ import annotations

import functools
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .. import __version__
from .._core import spark as _core
from ._read import read
from ._stages import Found, Plan, run
from ._transfer import Transfer, transfer
from ._urls import Overlap, urls

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = [
    "Comparison",
    "Overlap",
    "Pairs",
    "Result",
    "Transfer",
    "compare",
    "dedup",
    "pairs",
    "read",
    "transfer",
    "urls",
]

_PORTION = 64 << 20
_MEMORY = 1 << 30
_DRIVER_TIES = 20_000_000


@dataclass(frozen=True)
class Result:
    """What became of the documents of a table.

    `removed` has a row for each document that goes (`id`, `witness`, `similarity`, `cluster`, `n`, `witness_n`), `clusters` one for each
    group of two or more (`cluster`, `keep`, `members`, `members_n`), `rejected` one for each row that is no document (`id`, `reason`).
    All of them are read from `work`, in no order (sort by `n`, or `cluster`), and `summary` has the counts of the command line.
    """

    removed: DataFrame
    clusters: DataFrame
    rejected: DataFrame
    summary: dict[str, Any]
    work: str

    def kept(self, table: DataFrame, id: str = "id", order: str | None = None) -> DataFrame:
        """The rows of the table that stay."""
        gone = self.removed.select("id") if order is None else self.removed.select("id", "order")
        gone = gone.withColumnRenamed("id", "_removed_id")
        same = table[id].cast("string") == gone["_removed_id"]
        if order is not None:
            same = same & table[order].cast("string").eqNullSafe(gone["order"])
        return table.join(gone, same, "left_anti")


@dataclass(frozen=True)
class Pairs:
    """All near-duplicate pairs of a table (`a`, `b`, `similarity`, and `reverse` where that may differ; in no order), and groups of documents that
    are too many to be written as pairs (`members`)."""

    pairs: DataFrame
    groups: DataFrame
    rejected: DataFrame
    summary: dict[str, Any]
    work: str


@dataclass(frozen=True)
class Comparison:
    """All pairs between two tables that a method accepts (`a` of the left one, `b` of the right one, `similarity`, `near`), the best of
    each left document, and groups that are too many to be written as pairs."""

    pairs: DataFrame
    best: DataFrame
    groups: DataFrame
    rejected: DataFrame
    summary: dict[str, Any]
    work: str


def dedup(
    table: DataFrame,
    *,
    id: str = "id",
    text: str = "text",
    html: str = "html",
    url: str = "url",
    order: str | None = None,
    method: str | Sequence[str] = "minhash",
    work: str | None = None,
    partitions: int | None = None,
    memory: int = _MEMORY,
    portion: int = _PORTION,
    driver_ties: int = _DRIVER_TIES,
    max_rejected: int | float | str | None = None,
    **options: Any,
) -> Result:
    """Finds near-duplicates inside a table and keeps one of each.

    `method`, `threshold`, `similarity`, `shingle`, `keep`, `cluster`, `profile`, `content`, `filter`, `combine`, `within`, `lexicon`,
    `max_group`, `recall`, `seed`, `unverified` and `recipe` are those of `lookalike.dedup`.

    `partitions` is the number of parts that rows are brought together in (default: `spark.sql.shuffle.partitions`), `memory` what a
    worker may take to decide a portion, `portion` how many bytes of text it decides together, `driver_ties` how many ties between
    documents the driver holds before components are found by the cluster, too.

    More rejected rows than `max_rejected`, a number or a share such as "5%", are a `TooManyRejectedError`, before anything is decided; by
    default that is a tenth of 100 rows or more, or all of them. Of two tables each counts by itself.
    """
    columns = {"id": id, "text": text, "html": html, "url": url}
    how = (work, partitions, memory, portion, driver_ties)
    found = _run("dedup", [table], columns, order, method, *how, options, max_rejected)
    removed = _removed(found, order)
    clusters = _clusters(removed, found)
    summary = _summary(found, removed=removed, clusters=clusters)
    summary["kept"] = summary["documents"] - summary["removed"] - summary["rejected"]
    return Result(removed, clusters, _rejected(found), summary, found.work.folder)


def pairs(
    table: DataFrame,
    *,
    id: str = "id",
    text: str = "text",
    html: str = "html",
    url: str = "url",
    order: str | None = None,
    method: str | Sequence[str] = "minhash",
    work: str | None = None,
    partitions: int | None = None,
    memory: int = _MEMORY,
    portion: int = _PORTION,
    driver_ties: int = _DRIVER_TIES,
    max_rejected: int | float | str | None = None,
    **options: Any,
) -> Pairs:
    """Finds every near-duplicate pair inside a table. Options are those of `dedup`."""
    columns = {"id": id, "text": text, "html": html, "url": url}
    how = (work, partitions, memory, portion, driver_ties)
    found = _run("pairs", [table], columns, order, method, *how, options, max_rejected)
    listed = _rounded(_listed(found)).drop("near", "methods")
    summary = _summary(found, pairs=listed)
    summary["kept"] = summary["documents"] - summary["rejected"]
    return Pairs(listed, _groups(found), _rejected(found), summary, found.work.folder)


def compare(
    left: DataFrame,
    right: DataFrame,
    *,
    id: str = "id",
    text: str = "text",
    html: str = "html",
    url: str = "url",
    order: str | None = None,
    method: str | Sequence[str] = "minhash",
    work: str | None = None,
    partitions: int | None = None,
    memory: int = _MEMORY,
    portion: int = _PORTION,
    driver_ties: int = _DRIVER_TIES,
    max_rejected: int | float | str | None = None,
    **options: Any,
) -> Comparison:
    """Finds the pairs between two tables that a method accepts. Options are those of `dedup`; columns have the same names in both."""
    columns = {"id": id, "text": text, "html": html, "url": url}
    tables = [left, right]
    how = (work, partitions, memory, portion, driver_ties)
    found = _run("compare", tables, columns, order, method, *how, options, max_rejected)
    listed = _listed(found)
    summary = _summary(found, pairs=listed)
    best = _rounded(_best(listed))
    return Comparison(_rounded(listed), best, _groups(found), _rejected(found), summary, found.work.folder)


def _run(
    task: str,
    tables: list[DataFrame],
    columns: dict[str, str],
    order: str | None,
    method: str | Sequence[str],
    work: str | None,
    partitions: int | None,
    memory: int,
    portion: int,
    driver_ties: int,
    options: dict[str, Any],
    max_rejected: int | float | str | None,
) -> Found:
    lexicon = options.get("lexicon")
    asked = {**options, "method": method if isinstance(method, str) else list(method)}
    recipe = _core.job_recipe(task, asked)
    plan = Plan(
        task,
        recipe,
        tables,
        columns,
        order,
        None if lexicon is None else str(lexicon),
        work,
        partitions,
        memory,
        portion,
        driver_ties,
        max_rejected,
    )
    return run(plan)


def _named(found: Found, *extra: str) -> DataFrame:
    return found.names.select("n", "id", *extra)


def _removed(found: Found, order: str | None) -> DataFrame:
    """Removed documents with their names."""
    from pyspark.sql import functions as F

    gone = found.decided.where("n is not null")
    own = _named(found, "order") if order is not None else _named(found)
    witnesses = _named(found).select(F.col("n").alias("other"), F.col("id").alias("witness"))
    rows = gone.join(own, "n").join(witnesses, "other")
    columns = [
        F.col("id"),
        F.col("witness"),
        F.col("similarity"),
        F.col("other").alias("cluster"),
        F.col("n"),
        F.col("other").alias("witness_n"),
    ]
    if order is not None:
        columns.append(F.col("order"))
    if found.facts.get("components"):
        vias = _named(found).select(F.col("n").alias("via"), F.col("id").alias("via_id"))
        rows = rows.join(vias, "via", "left")
        columns.append(F.col("via_id").alias("via"))
    return found.work.stage("removed", lambda: rows.select(*columns))


def _clusters(removed: DataFrame, found: Found) -> DataFrame:
    from pyspark.sql import functions as F

    gone = removed.select("cluster", F.struct("n", "id").alias("member"))
    keepers = _named(found).select(F.col("n").alias("cluster"), F.col("id").alias("keep"))
    gathered = gone.groupBy("cluster").agg(F.collect_list("member").alias("gone")).join(keepers, "cluster")
    keeper = F.array(F.struct(F.col("cluster").alias("n"), F.col("keep").alias("id")))
    members = F.array_sort(F.concat(keeper, F.col("gone")))
    rows = gathered.withColumn("all", members)
    chosen = rows.select("cluster", "keep", F.col("all.id").alias("members"), F.col("all.n").alias("members_n"))
    return found.work.stage("clusters", lambda: chosen)


def _listed(found: Found) -> DataFrame:
    """Pairs with their names."""
    from pyspark.sql import functions as F

    near = found.decided.where("n is not null")
    ours = _named(found).select("n", F.col("id").alias("a"))
    theirs = _named(found).select(F.col("n").alias("other"), F.col("id").alias("b"))
    rows = near.join(ours, "n").join(theirs, "other")
    second = F.col("other") - F.lit(found.references)
    chosen = rows.select("a", "b", "similarity", "reverse", "near", "methods", F.col("n").alias("a_n"), second.alias("b_n"))
    return found.work.stage("listed", lambda: chosen)


def _rounded(listed: DataFrame) -> DataFrame:
    """Similarities as tables have them: to nine decimals."""
    from pyspark.sql import functions as F

    names = [name for name in ("similarity", "reverse") if name in listed.columns]
    return listed.withColumns({name: F.round(F.col(name) * 1e9) / 1e9 for name in names})


def _best(listed: DataFrame) -> DataFrame:
    """The best pair of each left document; of equals the first."""
    from pyspark.sql import Window
    from pyspark.sql import functions as F

    by = Window.partitionBy("a_n").orderBy(F.col("similarity").desc(), F.col("b_n").asc())
    all_of = Window.partitionBy("a_n")
    ranked = listed.withColumn("rank", F.row_number().over(by)).withColumn("pairs", F.count("*").over(all_of))
    return ranked.where("rank = 1").drop("rank", "reverse")


def _groups(found: Found) -> DataFrame:
    """Groups that are too large to be written as pairs: the ids of their documents."""
    from pyspark.sql import functions as F

    proposed = found.pairs.where("`group` is not null")
    numbered = proposed.select(F.monotonically_increasing_id().alias("at"), F.explode("group").alias("leader"))
    members = found.names.select("leader", "n", "id")
    joined = numbered.join(members, "leader")
    return joined.groupBy("at").agg(F.array_sort(F.collect_list("id")).alias("members")).drop("at")


def _rejected(found: Found) -> DataFrame:
    return found.sketches.where("reason is not null").select("id", "reason")


def _summary(found: Found, **counted: DataFrame) -> dict[str, Any]:
    """The counts of the command line, and those of the rows of these tables."""
    from pyspark.sql import functions as F

    def made() -> dict[str, Any]:
        # One question for all sums: each by itself would be a job of its own.
        numbers = {
            "candidates": found.candidates.select(F.col("proposed").alias("count")),
            "giant_groups": found.pairs.select(F.col("giant_groups").alias("count")),
            "verified": found.decided.select(F.col("verified").alias("count")),
            **{name: table.select(F.lit(1).cast("bigint").alias("count")) for name, table in counted.items()},
        }
        if found.facts["ordered"]:
            # Else ids that come twice were refused.
            same = found.names.where(f"not rejected and side = {1 if found.references else 0}").groupBy("id").count()
            numbers["duplicate_ids"] = same.select((F.col("count") - 1).alias("count"))
        told = [table.select(F.lit(name).alias("name"), "count") for name, table in numbers.items()]
        together = functools.reduce(lambda one, other: one.unionByName(other), told)
        sums = {row["name"]: int(row["sum"] or 0) for row in together.groupBy("name").agg(F.sum("count").alias("sum")).collect()}
        return {
            "documents": found.facts["documents"] - found.references,
            "rejected": found.facts["rejected"],
            "skipped": 0,
            "exact_duplicates": found.facts["equal"],
            **{name: sums.get(name, 0) for name in ("candidates", "verified", "giant_groups", "duplicate_ids")},
            "text_bytes": int(found.facts["text_bytes"]),
            "version": __version__,
            **{name: sums.get(name, 0) for name in counted},
        }

    summary: dict[str, Any] = json.loads(json.dumps(found.work.fact("summary", made)))
    return summary
