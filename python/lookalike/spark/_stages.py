"""The stages of a run: which rows go where. Each is written down before the next one begins.

| stage | rows | what travels |
|---|---|---|
| `learning` | words, and what else methods must know | counts of words |
| `sketches` | one for each document | nothing |
| `numbers` | one for each document, in order | id and digest of every document |
| `documents` | sketches with their numbers | sketches, once |
| `hot` | keys of too many documents | keys and counts |
| `pairs` | two documents that share a key | key and number, for each key |
| `candidates` | pairs that are not told apart | records of documents in pairs, once for each pair and side |
| `components` | documents that hang together | pairs |
| `decided` | what became of them | texts of documents that hang together |
"""

from __future__ import annotations

import atexit
import hashlib
import itertools
import os
import shutil
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from .. import __version__
from .._core import spark as core
from .._errors import UsageError
from . import _workers as workers
from ._session import prepare
from ._work import Work

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

#: A reason why rows are no documents: how many have it, that of one of them in full, and the id of that one, if it has any.
Example = tuple[int, str, str | None]

_MANY = 2**32

# Names of documents that are sent to every worker: about 100 bytes each there.
_SENT = 2_000_000


@dataclass
class Plan:
    """What is asked for."""

    task: str
    recipe: str
    sides: list[DataFrame]
    columns: dict[str, str]
    order: str | None
    lexicon: str | None
    work: str | None
    partitions: int | None
    memory: int
    portion: int
    driver_ties: int
    max_rejected: int | float | str | None


@dataclass
class Found:
    """What came out, and where it lies."""

    spark: SparkSession
    work: Work
    names: DataFrame
    decided: DataFrame
    pairs: DataFrame
    candidates: DataFrame
    sketches: DataFrame
    references: int
    facts: dict[str, Any] = field(default_factory=dict)


def run(plan: Plan) -> Found:
    """Goes through all stages, or through those that an earlier run did not come to."""
    return _Run(plan).all()


class _Run:
    def __init__(self, plan: Plan) -> None:
        from pyspark.sql import functions as F

        self.F = F
        self.plan = plan
        self.spark: SparkSession = plan.sides[0].sparkSession
        prepare(self.spark)
        # Before any work: a limit that makes no sense is refused.
        core.too_many_rejected(0, 0, limit(plan.max_rejected))
        (self.methods, self.max_group), fields, self.merges = core.facts(plan.recipe)
        self.keep, self.within, self.by_host = fields
        conf = self.spark.conf.get("spark.sql.shuffle.partitions") or "200"
        self.parts = plan.partitions or int(conf)
        self.input = self._input()
        job = {
            "recipe": plan.recipe,
            "order": plan.order,
            "columns": plan.columns,
            "version": __version__,
            "input": [_identity(side) for side in plan.sides],
        }
        self.work = Work(self.spark, plan.work, job)

    # What comes in.

    def _input(self) -> DataFrame:
        """Both sides as one table with the columns that the core knows."""
        sides = [self._side(side, number) for number, side in enumerate(self.plan.sides)]
        return sides[0] if len(sides) == 1 else sides[0].unionByName(sides[1])

    def _side(self, table: DataFrame, number: int) -> DataFrame:
        F, named = self.F, self.plan.columns
        chosen: list[Column] = [F.lit(number).alias("side")]
        wanted: dict[str, str | None] = {"id": named["id"], "text": named["text"], "html": named["html"]}
        if self.by_host:
            wanted["url"] = named["url"]
        wanted["keep"], wanted["within"], wanted["order"] = self.keep, self.within, self.plan.order
        # Of the two only one must be there, unless a name was given for it.
        optional = {name for name in ("text", "html") if named[name] == name}
        if not any(name in table.columns for name in (named["text"], named["html"])):
            raise UsageError(_no_column(named["text"], table))
        for name, source in wanted.items():
            if source is None or (source not in table.columns and name in optional):
                chosen.append(F.lit(None).cast("string").alias(name))
                continue
            if source not in table.columns:
                raise UsageError(_no_column(source, table))
            column = F.col(f"`{source}`")
            kind = dict(table.dtypes)[source]
            if name in ("text", "html") and kind != "string":
                raise UsageError(f"the column {source} holds {kind}, and text is wanted; cast it first")
            chosen.append(column.cast("string").alias(name))
        if not self.by_host:
            chosen.append(F.lit(None).cast("string").alias("url"))
        told = _tells_rejections(table)
        chosen.append((F.col("rejected") if told else F.lit(None).cast("string")).alias("rejected"))
        return table.select(*chosen)

    def _given(self, *names: str) -> DataFrame:
        """The input without columns that nobody asks for."""
        unused = {"keep": self.keep, "within": self.within, "url": self.by_host or None, "order": self.plan.order}
        unused["rejected"] = any(map(_tells_rejections, self.plan.sides)) or None
        return self.input.select(*names).drop(*[name for name, used in unused.items() if used is None and name != "order"])

    # The stages.

    def all(self) -> Found:
        F = self.F
        shipped = self._learn()
        sketches = self.work.stage("sketches", lambda: self._sketches(shipped))
        facts = self.work.fact("counted", lambda: self._counted(sketches))
        refuse_rejected(_rejections(facts, self.plan.task), self.plan.max_rejected, lambda side: self._reason(sketches, side))
        if facts["documents"] >= _MANY:
            raise UsageError(
                f"the tables have {facts['documents']} documents, and a run has up to {_MANY - 1}; split them, or compare parts"
            )
        numbers = self._number(sketches, facts)
        names = self.work.stage("names", lambda: self._names(numbers, facts))
        documents = self.work.stage("documents", lambda: self._documents(sketches, names))
        pairs = self.work.stage("pairs", lambda: self._pairs(shipped, documents, facts))
        candidates = self.work.stage("candidates", lambda: self._candidates(shipped, documents, pairs))
        members = names.where("n <> leader").select(F.col("leader").alias("a"), F.col("n").alias("b"))
        components = self.work.stage("components", lambda: self._components(candidates, members))
        decided = self.work.stage("decided", lambda: self._decided(shipped, names, candidates, components, facts))
        facts = {**facts, "equal": self._equal()["last"], "ordered": self.plan.order is not None}
        return Found(self.spark, self.work, names, decided, pairs, candidates, sketches, facts["references"], facts)

    def _sketches(self, shipped: workers.Shipped) -> DataFrame:
        given = self._given("side", "id", "text", "html", "url", "keep", "within", "order", "rejected")
        made = [
            given.where(self.F.col("side") == side)
            .drop("side")
            .mapInArrow(workers.sketches(shipped), workers.SKETCHES)
            .withColumn("side", self.F.lit(side))
            for side in range(len(self.plan.sides))
        ]
        return made[0] if len(made) == 1 else made[0].unionByName(made[1])

    def _counted(self, sketches: DataFrame) -> dict[str, Any]:
        F = self.F
        accepted = F.col("reason").isNull()
        found = sketches.agg(
            F.count("*").alias("documents"),
            F.count("reason").alias("rejected"),
            F.coalesce(F.sum("text_bytes"), F.lit(0)).alias("text_bytes"),
            F.count(F.when(F.col("side") == 0, 1)).alias("left"),
            F.count(F.when((F.col("side") == 0) & ~accepted, 1)).alias("left_rejected"),
            F.count(F.when(accepted & F.col("order").isNotNull() & F.col("order_number").isNull(), 1)).alias("texts"),
            F.count(F.when(accepted & (F.col("keep_number") == F.lit(False)), 1)).alias("keep_texts"),
        ).first()
        facts: dict[str, Any] = found.asDict() if found else {}
        facts["references"] = facts["left"] if len(self.plan.sides) > 1 else 0
        facts["components"] = self.merges
        return facts

    def _reason(self, sketches: DataFrame, side: int) -> Example:
        """The most frequent reason why rows of a table are no documents."""
        F = self.F
        rejected = sketches.where((F.col("side") == side) & F.col("reason").isNotNull())
        # Without its details, as the command line counts reasons.
        kinds = rejected.groupBy(F.substring_index("reason", ":", 1).alias("kind"))
        counted = kinds.agg(F.count("*").alias("count"), F.min(F.struct("id", "reason")).alias("first"))
        most = counted.orderBy(F.col("count").desc(), F.col("kind").asc()).first()
        if most is None:
            return 0, "", None
        return int(most["count"]), str(most["first"]["reason"]), most["first"]["id"]

    def _number(self, sketches: DataFrame, facts: dict[str, Any]) -> DataFrame:
        """Every document with its number, in order; documents that cannot be told apart are refused."""
        F = self.F
        by = [F.col("side").asc(), F.col("rejected").asc()]
        same = ["side", "rejected"]
        if self.plan.order is not None:
            value = "order" if facts["texts"] else "order_number"
            by.append(F.col(value).asc_nulls_last())
            same.append(value)
        by.append(F.col("id").asc())
        same.append("id")
        narrow = sketches.select(
            "side", "id", "order", "order_number", F.col("reason").isNotNull().alias("rejected"), "digest"
        )
        schema = (
            "side int, id string, `order` string, order_number double, rejected boolean, digest binary, part int, place bigint, "
            "twin boolean"
        )

        def make() -> DataFrame:
            ranged = narrow.repartitionByRange(self.parts, *by).sortWithinPartitions(*by)
            return ranged.mapInArrow(workers.numbered(same), schema)

        placed = self.work.stage("numbers", make)
        counts, twin = self.work.fact("parts", lambda: _counts(placed))
        if twin is not None:
            raise UsageError(_twins(twin, self.plan.order))
        firsts, total = [], 0
        for part in sorted(counts, key=int):
            firsts.append((int(part), total))
            total += counts[part]
        first = self.spark.createDataFrame(firsts or [(0, 0)], "part int, first bigint")
        joined = placed.join(F.broadcast(first), "part")
        return joined.withColumn("n", F.col("first") + F.col("place")).drop("part", "place", "first", "twin")

    def _names(self, numbers: DataFrame, facts: dict[str, Any]) -> DataFrame:
        """Every document with its number and that of the first with the same words; for the first, on which sides these stand."""
        F = self.F
        side = F.when(F.col("side") == 0, 1).otherwise(2) if facts["references"] else F.lit(0)
        known = numbers.withColumn("own", side)
        classes = (
            known.where("digest is not null and not rejected")
            .groupBy("digest")
            .agg(F.min("n").alias("leader"), F.bit_or("own").alias("sides"), F.count("*").alias("size"))
            .where("size > 1")
        )
        joined = known.join(classes, "digest", "left")
        return joined.select(
            "side",
            "id",
            "order",
            "rejected",
            F.col("digest").isNull().alias("wordless"),
            "n",
            F.coalesce("leader", "n").alias("leader"),
            F.coalesce("sides", "own").cast("int").alias("sides"),
        )

    def _documents(self, sketches: DataFrame, names: DataFrame) -> DataFrame:
        """The sketches of documents that are the first with their words."""
        wide = sketches.where("digest is not null").select("side", "id", "order", "record", "keys")
        leaders = names.where("n = leader and not wordless and not rejected")
        narrow = leaders.select("side", "id", "order", "n", "sides")
        return _joined(self.F, wide, narrow).select("n", "sides", "record", "keys")

    def _pairs(self, shipped: workers.Shipped, documents: DataFrame, facts: dict[str, Any]) -> DataFrame:
        F = self.F
        postings = documents.mapInArrow(workers.postings(shipped), workers.POSTINGS)
        counted = postings.groupBy("method", "key").count().where(F.col("count") > self.max_group)
        hot = self.work.stage("hot", lambda: counted.select("method", "key"))
        different = facts["documents"] - self._equal()["all"]
        group = workers.groups(shipped, different, facts["references"])
        by = ["method", "key", "n", "tag"]

        def brought_together(rows: DataFrame) -> DataFrame:
            sorted_rows = rows.repartition(self.parts, "method", "key").sortWithinPartitions(*by)
            return sorted_rows.mapInArrow(group, workers.PAIRS)

        if not hot.head(1):
            return brought_together(postings)
        cold = postings.join(F.broadcast(hot), ["method", "key"], "left_anti").select(*postings.columns)
        records = documents.select("n", "record")
        heated = postings.join(F.broadcast(hot), ["method", "key"], "left_semi").join(records, "n")
        return brought_together(cold).unionByName(brought_together(heated.select(*postings.columns, "record")))

    def _equal(self) -> dict[str, int]:
        """Documents that an earlier one with the same words stands for: on both sides, and on the last."""
        F = self.F

        def count() -> dict[str, int]:
            names = self.spark.read.parquet(self.work.path("names")).where("n <> leader")
            last = F.col("side") == len(self.plan.sides) - 1
            found = names.agg(F.count("*").alias("all"), F.count(F.when(last, 1)).alias("last")).first()
            return found.asDict() if found else {"all": 0, "last": 0}

        counted: dict[str, int] = self.work.fact("equal", count)
        return counted

    def _candidates(self, shipped: workers.Shipped, documents: DataFrame, pairs: DataFrame) -> DataFrame:
        F = self.F
        counts = []
        for method in range(self.methods):
            for name, back in ((f"f{method}", False), (f"b{method}", True)):
                mine = (F.col("method") == method) & (F.col("back") == F.lit(back))
                counts.append(F.count(F.when(mine, 1)).alias(name))
        counted = pairs.where("a is not null").groupBy("a", "b").agg(*counts)
        records = documents.select("n", "record")
        ours = records.select(F.col("n").alias("a"), F.col("record").alias("record_a"))
        theirs = records.select(F.col("n").alias("b"), F.col("record").alias("record_b"))
        return counted.join(ours, "a").join(theirs, "b").mapInArrow(workers.candidates(shipped), workers.CANDIDATES)

    def _components(self, candidates: DataFrame, members: DataFrame) -> DataFrame:
        ties = candidates.where("a is not null").select("a", "b").unionByName(members)
        fewer = self.work.stage("ties", lambda: ties.mapInArrow(workers.contract, workers.TIES))
        if fewer.count() > self.plan.driver_ties:
            return self._stars(fewer)
        import pyarrow as pa

        batches = fewer.toArrow().combine_chunks().to_batches()
        empty = pa.table({"a": pa.array([], pa.int64()), "b": pa.array([], pa.int64())}).to_batches()
        labels = [core.label(batch) for batch in batches or empty]
        schema = pa.schema([("n", pa.int64()), ("component", pa.int64())])
        return self.spark.createDataFrame(pa.Table.from_batches(labels, schema))

    def _stars(self, ties: DataFrame) -> DataFrame:
        """Components of more ties than the driver holds: large stars and small stars by turns, until nothing changes."""
        from pyspark.sql import Window

        F = self.F
        edges = ties.select(F.col("a").alias("src"), F.col("b").alias("dst"))
        before: tuple[Any, ...] | None = None
        for turn in range(64):
            both = edges.union(edges.select(F.col("dst"), F.col("src"))).toDF("src", "dst")
            lowest = F.least("src", F.min("dst").over(Window.partitionBy("src")))
            large = both.withColumn("m", lowest).where("dst > src and dst <> m")
            large = large.select(F.col("m").alias("src"), "dst").distinct()
            down = large.select(F.greatest("src", "dst").alias("u"), F.least("src", "dst").alias("v"))
            down = down.withColumn("m", F.min("v").over(Window.partitionBy("u")))
            hung = down.where("v <> m").select(F.col("m").alias("src"), F.col("v").alias("dst"))
            small = hung.union(down.select(F.col("m").alias("src"), F.col("u").alias("dst"))).distinct()
            edges = self.work.stage(f"stars-{turn}", lambda small=small: small)  # type: ignore[misc]
            now = edges.agg(F.count("*"), F.sum(F.xxhash64("src", "dst").cast("decimal(38,0)"))).first()
            if before == tuple(now or ()):
                break
            before = tuple(now or ())
        labels = edges.select(F.col("dst").alias("n"), F.col("src").alias("component"))
        return labels.union(labels.select("component", "component").distinct())

    def _decided(
        self,
        shipped: workers.Shipped,
        names: DataFrame,
        candidates: DataFrame,
        components: DataFrame,
        facts: dict[str, Any],
    ) -> DataFrame:
        F = self.F
        inside = names.select("side", "id", "order", "n", "leader").join(components, "n")
        texts = self._given("side", "id", "order", "text", "html", "url", "keep", "within")
        # A record that was rejected may bear the id of a document.
        # Sent to all workers where they fit, so that only texts of documents that hang together travel; else Spark sorts all of them.
        few = int(self.work.fact("tied", components.count)) <= _SENT
        documents = _joined(F, texts.where("text is not null or html is not null"), F.broadcast(inside) if few else inside)
        first = F.col("n") == F.col("leader")
        nothing = F.lit(None)
        documents = documents.withColumns(
            {
                "text": F.when(first, F.col("text")),
                "html": F.when(first, F.col("html")),
                "b": nothing.cast("bigint"),
                "shared": nothing.cast("array<int>"),
            }
        ).drop("side", "id", "order")
        ties = candidates.where("a is not null").select(F.col("a").alias("n"), "b", "shared").join(components, "n")
        ties = ties.withColumn("leader", F.col("n"))
        for name in documents.columns:
            if name not in ties.columns:
                ties = ties.withColumn(name, nothing.cast("string"))
        rows = documents.unionByName(ties).repartition(self.parts, "component")
        # Documents before candidates, both in order.
        rows = rows.sortWithinPartitions(F.col("component"), F.col("b").isNotNull(), F.col("n"), F.col("b"))
        decide = workers.decide(
            shipped,
            memory=self.plan.memory,
            together=self.plan.portion,
            references=facts["references"],
            numbers=not facts["keep_texts"],
        )
        return rows.mapInArrow(decide, workers.DECIDED)

    # What methods must know.

    def _learn(self) -> workers.Shipped:
        """Lets the methods learn from all documents, and ships what they learned to all workers."""
        recipe = self.plan.recipe
        lexicons, passes = core.lexicons(recipe), core.passes(recipe)
        if not lexicons and not passes and self.plan.lexicon is None:
            return workers.Shipped(recipe, self._secret())
        folder = _temporary()
        if self.plan.lexicon is not None:
            core.take_lexicon(folder, self.plan.lexicon)
        for number in lexicons:
            self._lexicon(folder, number)
        for turn in range(passes):
            self._pass(folder, turn)
        return self._ship(folder)

    def _secret(self) -> str:
        """One for all workers, also of a run that goes on: digests of equal documents are equal by it alone."""
        return str(self.work.fact("secret", core.secret))

    def _shown(self) -> DataFrame:
        return self._given("id", "text", "html", "url", "keep", "within", "rejected")

    def _lexicon(self, folder: str, number: int) -> None:
        F = self.F
        shipped = workers.Shipped(self.plan.recipe, self._secret())
        counted = self.work.stage(
            f"words-{number}", lambda: self._shown().mapInArrow(workers.words(shipped, number), workers.WORDS)
        )

        def summed() -> DataFrame:
            together = counted.where("hash is not null").repartition(self.parts, "hash").sortWithinPartitions("hash")
            return together.mapInArrow(workers.word_sums(shipped), workers.WORDS)

        sums = self.work.stage(f"lexicon-{number}", summed)
        totals = counted.where("hash is null").agg(F.sum("documents"), F.sum("occurrences")).first()
        lexicon = core.Lexicon(folder, self.plan.recipe, number)
        for batch in _in_order(sums):
            lexicon.take(batch)
        documents, occurrences = (int(total or 0) for total in (totals or (0, 0)))
        lexicon.finish(documents, occurrences)

    def _pass(self, folder: str, turn: int) -> None:
        shipped = self._ship(folder)
        seen = self.work.stage(
            f"seen-{turn}",
            lambda: self._shown()
            .mapInArrow(workers.survey(shipped), workers.SEEN)
            .withColumn("worker", self.F.spark_partition_id()),
        )
        # One worker's at a time: what all of them saw may be more than the driver holds.
        rows = seen.orderBy("worker", "place").toLocalIterator()
        workers_rows = itertools.groupby(rows, key=lambda row: row["worker"])
        core.gather(self.plan.recipe, folder, ([bytes(row["seen"]) for row in each] for _, each in workers_rows))

    def _ship(self, folder: str) -> workers.Shipped:
        """Files under names that no other run has."""
        names = sorted(os.listdir(folder))
        digest = hashlib.blake2b(self.plan.recipe.encode(), digest_size=12)
        for name in names:
            with open(os.path.join(folder, name), "rb") as file:
                while block := file.read(1 << 20):
                    digest.update(block)
        fingerprint = digest.hexdigest()
        shipping = _temporary()
        for name in names:
            copy = os.path.join(shipping, f"{fingerprint}-{name}")
            shutil.copyfile(os.path.join(folder, name), copy)
            self.spark.sparkContext.addFile(copy)
        return workers.Shipped(self.plan.recipe, self._secret(), fingerprint, tuple(names))


def limit(most: int | float | str | None) -> dict[str, Any]:
    """How many rows may be rejected, as the core is asked."""
    return {} if most is None else {"max_rejected": most}


def refuse_rejected(
    tables: list[tuple[str, int, int]], most: int | float | str | None, reason: Callable[[int], Example]
) -> None:
    """Fails when more rows of a table were rejected than may be. Of each table its name, its rows and the rejected ones are given; only
    of one that has too many `reason` is asked why, by its place."""
    for place, (name, rows, rejected) in enumerate(tables):
        if core.too_many_rejected(rows, rejected, limit(most)):
            core.refuse_rejected(name, (rows, rejected), reason(place), limit(most))


def _rejections(facts: dict[str, Any], task: str) -> list[tuple[str, int, int]]:
    """The name of each table, its rows and the rejected ones."""
    left = (facts["left"], facts["left_rejected"])
    if task != "compare":
        return [("the input", *left)]
    right = (facts["documents"] - facts["left"], facts["rejected"] - facts["left_rejected"])
    return [("the left side", *left), ("the right side", *right)]


def _temporary() -> str:
    """A folder of the driver. It stays for as long as the driver does: workers that come later fetch files from it."""
    folder = tempfile.mkdtemp(prefix="lookalike-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def _in_order(sums: DataFrame) -> Any:
    """All words in the order of their hashes, as batches."""
    import pyarrow as pa

    rows: list[Any] = []
    schema = pa.schema(
        [
            ("hash", pa.int64()),
            ("word", pa.string()),
            ("documents", pa.int64()),
            ("occurrences", pa.int64()),
            ("bins", pa.binary()),
        ]
    )
    for row in sums.orderBy("hash").toLocalIterator(prefetchPartitions=True):
        rows.append(row.asDict())
        if len(rows) == 50_000:
            yield pa.RecordBatch.from_pylist(rows, schema=schema)
            rows = []
    yield pa.RecordBatch.from_pylist(rows, schema=schema)


def _joined(F: Any, wide: DataFrame, narrow: DataFrame) -> DataFrame:
    """Rows of both that are of one document: the same side, id and order, which may be missing."""
    renamed = narrow.withColumnsRenamed({"side": "its_side", "id": "its_id", "order": "its_order"})
    same = (
        (F.col("side") == F.col("its_side"))
        & (F.col("id") == F.col("its_id"))
        & F.col("order").eqNullSafe(F.col("its_order"))
    )
    return wide.join(renamed, same).drop("its_side", "its_id", "its_order")


def _tells_rejections(table: DataFrame) -> bool:
    """Whether a table has rows that are no documents, as `read` makes them."""
    return dict(table.dtypes).get("rejected") == "string"


def _counts(placed: DataFrame) -> tuple[dict[str, int], str | None]:
    """Documents in each part, and the id of one that cannot be told from another, if there is any."""
    from pyspark.sql import functions as F

    twin = F.min(F.when(F.col("twin") & ~F.col("rejected"), F.col("id"))).alias("twin")
    found = placed.groupBy("part").agg(F.count("*").alias("count"), twin).collect()
    twins = sorted(row["twin"] for row in found if row["twin"] is not None)
    return {str(row["part"]): int(row["count"]) for row in found}, twins[0] if twins else None


def _identity(table: DataFrame) -> dict[str, Any]:
    """What a table is known again by."""
    try:
        files = sorted(table.inputFiles())
    except Exception:  # Not every table has files.
        files = []
    digest = hashlib.blake2b("\n".join(files).encode(), digest_size=16).hexdigest()
    return {"columns": table.dtypes, "files": digest if files else None}


def _no_column(name: str, table: DataFrame) -> str:
    return f"there is no column {name}; the table has {', '.join(table.columns)}"


def _twins(name: str, order: str | None) -> str:
    if order is None:
        return f"two documents bear the id {name}, and nothing tells them apart; give order= a column that does"
    return f"two documents bear the id {name} and have the same {order}; give order= a column that tells them apart"

