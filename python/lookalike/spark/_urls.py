"""Which addresses two tables share.

| stage | rows | what travels |
|---|---|---|
| `addresses` | one for each document | nothing |
| `shared` | one for each different address | key, host and id of every document, once |
| `names` | one for each host, domain, suffix and top-level domain | counts by host |
| `measured` | one for each shared address, if asked for | texts of the first documents of shared addresses |
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .. import __version__
from .._core import spark as core
from .._errors import UsageError
from ._session import prepare
from ._work import Work

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from ._workers import Batches, Mapped

_ADDRESSES = "side int, id string, url string, key binary, host string, rejected boolean"
_SHARED = (
    "host string, left_documents bigint, right_documents bigint, url string, `left` array<string>, `right` array<string>"
)
_HOST_COUNTS = [
    "left_documents",
    "right_documents",
    "left_urls",
    "right_urls",
    "shared_urls",
    "shared_documents",
    "right_shared_documents",
]
_KINDS = ["domain", "host", "suffix", "tld"]
_MATCHES = ["exact", "normal", "canonical"]
_NAMED = 100


@dataclass(frozen=True)
class Overlap:
    """What two tables share.

    `overlap` has a row for each shared address (`url`, `left` and `right` with up to a hundred ids each, how many there are beyond
    these in `left_more` and `right_more`, and `similarity`), in the order of left ids; `domains` one for each registered domain and host
    (`kind`, `name`, counts, and what share of all they are), `tlds` one for each public suffix and top-level domain; `summary` has the
    counts of the command line.
    """

    overlap: DataFrame
    domains: DataFrame
    tlds: DataFrame
    summary: dict[str, Any]
    work: str


def urls(
    left: DataFrame,
    right: DataFrame,
    *,
    id: str = "id",
    url: str = "url",
    match: str = "normal",
    similarity: str | None = None,
    shingle: int = 1,
    threshold: float | str = 0.9,
    profile: str = "web",
    content: str | None = None,
    text: str = "text",
    html: str = "html",
    names: tuple[str, str] = ("left", "right"),
    work: str | None = None,
    partitions: int | None = None,
) -> Overlap:
    """Finds the addresses that two tables share, as `lookalike urls` does.

    `match` says when two addresses are one: `exact`, `normal` or `canonical`. Documents of an address are told in the order of their ids.

    Texts are read only when `similarity` names what to measure (`jaccard` and its siblings): then the first documents of both sides are
    measured, as the command line does unless told otherwise, and ids must not come twice. Judgments and several snapshots are for the
    command line alone.
    """
    asked = {"similarity": similarity or "jaccard", "shingle": shingle, "threshold": threshold, "profile": profile}
    measurer = core.Measurer({**asked, "content": content})
    run = _Urls([left, right], {"id": id, "url": url, "text": text, "html": html}, match, work, partitions)
    measured = run.measured({**asked, "content": content}) if similarity is not None else None
    summary = run.summary(list(names))
    if measured is not None:
        summary["similarity"] = run.similarity(measured, measurer.told(), summary["shared_urls"])
        summary["version"] = summary.pop("version")
    return Overlap(run.overlap(measured), run.table(["domain", "host"]), run.table(["suffix", "tld"]), summary, run.work.folder)


class _Urls:
    def __init__(
        self, sides: list[DataFrame], columns: dict[str, str], match: str, work: str | None, partitions: int | None
    ) -> None:
        from pyspark.sql import functions as F

        from ._stages import _identity

        self.F = F
        self.sides, self.columns, self.match = sides, columns, match
        self.spark = sides[0].sparkSession
        prepare(self.spark)
        self.parts = partitions or int(self.spark.conf.get("spark.sql.shuffle.partitions") or "200")
        self.given = [self._side(table, side) for side, table in enumerate(sides)]
        if match not in _MATCHES:
            raise UsageError(f"invalid value '{match}' for 'match': possible values: {', '.join(_MATCHES)}")
        job = {
            "recipe": f'task = "urls"\nmatching = "{match}"',
            "columns": columns,
            "version": __version__,
            "input": [_identity(table) for table in sides],
        }
        self.work = Work(self.spark, work, job)
        addresses = self.work.stage("addresses", self._addresses)
        self.counts = self.work.fact("read", lambda: _by_side(F, addresses))
        self.shared = self.work.stage("shared", lambda: self._shared(addresses))
        self.names = self.work.stage("names", self._names)
        self.totals = self.work.fact("totals", self._totals)

    def _side(self, table: DataFrame, side: int) -> DataFrame:
        F = self.F
        for name in (self.columns["id"], self.columns["url"]):
            if name not in table.columns:
                raise UsageError(f"there is no column {name}; the table has {', '.join(table.columns)}")
        told = dict(table.dtypes).get("rejected") == "string"
        rejected = F.col("rejected") if told else F.lit(None).cast("string")
        chosen = [F.col(f"`{self.columns[name]}`").cast("string").alias(name) for name in ("id", "url")]
        return table.select(F.lit(side).alias("side"), *chosen, rejected.alias("rejected"))

    def _addresses(self) -> DataFrame:
        return self.given[0].unionByName(self.given[1]).mapInArrow(_keys(self.match), _ADDRESSES)

    def _shared(self, addresses: DataFrame) -> DataFrame:
        there = addresses.where("key is not null").select("side", "id", "url", "key", "host")
        by_key = there.repartition(self.parts, "key").sortWithinPartitions("key", "side", "id")
        return by_key.mapInArrow(_together, _SHARED)

    def _names(self) -> DataFrame:
        """Counts by host, and by what hosts have in common."""
        F = self.F
        left, right = F.col("left_documents"), F.col("right_documents")
        both = (left > 0) & (right > 0)
        by_host = self.shared.groupBy("host").agg(
            F.sum(left).alias("left_documents"),
            F.sum(right).alias("right_documents"),
            F.count(F.when(left > 0, 1)).alias("left_urls"),
            F.count(F.when(right > 0, 1)).alias("right_urls"),
            F.count(F.when(both, 1)).alias("shared_urls"),
            F.coalesce(F.sum(F.when(both, left)), F.lit(0)).alias("shared_documents"),
            F.coalesce(F.sum(F.when(both, right)), F.lit(0)).alias("right_shared_documents"),
        )
        counts = ", ".join(f"{name} bigint" for name in _HOST_COUNTS)
        known = by_host.mapInArrow(_domains, f"host string, {counts}, domain string, suffix string, tld string")
        pairs = [F.struct(F.lit(kind).alias("kind"), F.col(kind).alias("name")) for kind in _KINDS]
        spread = known.withColumn("of", F.explode(F.array(*pairs))).select("of.kind", "of.name", *_HOST_COUNTS)
        nameless = F.when(F.col("name") == "", "(no host)").otherwise(F.col("name")).alias("name")
        summed = spread.select("kind", nameless, *_HOST_COUNTS).groupBy("kind", "name")
        return summed.agg(*[F.sum(name).alias(name) for name in _HOST_COUNTS])

    def _totals(self) -> dict[str, int]:
        F = self.F
        sums = [F.sum(F.when(F.col("kind") == "host", F.col(name))).alias(name) for name in _HOST_COUNTS]
        sharing = (F.col("shared_urls") > 0) & (F.col("name") != "(no host)")
        for kind in ("host", "domain"):
            sums.append(F.count(F.when((F.col("kind") == kind) & sharing, 1)).alias(f"shared_{kind}s"))
        found = self.names.agg(*sums).first()
        return {name: int(count or 0) for name, count in (found.asDict() if found else {}).items()}

    def table(self, kinds: list[str]) -> DataFrame:
        """Counts with their shares, the most first."""
        F = self.F
        of = self.totals
        wholes = {
            "shared_urls": of["shared_urls"],
            "shared_documents": of["shared_documents"],
            "left_documents": of["left_documents"],
            "right_documents": of["right_documents"],
        }
        rows = self.names.where(F.col("kind").isin(kinds))
        order = [F.col("kind").asc()] + [F.col(name).desc() for name in ("shared_urls", "left_documents", "right_documents")]
        columns = [F.col("kind"), F.col("name")]
        for name, whole in wholes.items():
            share = F.col(name) / F.lit(float(whole)) if whole else F.lit(None).cast("double")
            columns += [F.col(name), share.alias(f"{name}_share")]
        return rows.orderBy(*order, F.col("name").asc()).select(*columns)

    def overlap(self, measured: DataFrame | None) -> DataFrame:
        """Shared addresses in the order of their first left documents."""
        F = self.F
        shared = self.shared.where("url is not null").withColumn("place", F.col("left")[0])
        if measured is None:
            shared = shared.withColumn("similarity", F.lit(None).cast("double"))
        else:
            shared = shared.join(measured.select("place", "similarity"), "place", "left")
        more = [
            F.greatest(F.col(f"{side}_documents") - _NAMED, F.lit(0)).alias(f"{side}_more") for side in ("left", "right")
        ]
        return shared.orderBy("place").select("url", "left", "right", "similarity", *more)

    def summary(self, names: list[str]) -> dict[str, Any]:
        found, left = self.totals, self.counts[0]
        sides = [
            {"name": name, **counts, "urls": found[f"{side}_urls"]}
            for name, side, counts in zip(names, ("left", "right"), self.counts)
        ]
        accepted = left["documents"] - left["rejected"]
        return {
            "left": sides[0],
            "right": sides[1],
            "matching": self.match,
            "shared_urls": found["shared_urls"],
            "left_documents_with_shared_url": found["shared_documents"],
            "left_documents_with_shared_url_share": round(found["shared_documents"] / accepted, 9) if accepted else None,
            "right_documents_with_shared_url": found["right_shared_documents"],
            "shared_hosts": found["shared_hosts"],
            "shared_domains": found["shared_domains"],
            "version": __version__,
        }

    # What texts say.

    def measured(self, options: dict[str, Any]) -> DataFrame:
        """How similar the first documents of each shared address are."""
        F = self.F
        firsts = self.shared.where("url is not null").select(F.col("left")[0].alias("place"), F.col("right")[0].alias("other"))
        ours = self._texts(0, "left", "place")
        theirs = self._texts(1, "right", "other")
        pairs = firsts.join(ours, "place").join(theirs, "other").drop("other")
        schema = "place string, similarity double, near boolean, unchanged boolean"
        name = "measured-" + "-".join(str(options[option]) for option in ("similarity", "shingle", "threshold", "profile"))
        found = self.work.stage(name.replace("/", "-"), lambda: pairs.mapInArrow(_measure(options), schema))
        twice = found.groupBy("place").count().where("count > 1").first()
        if twice:
            raise UsageError(f"two documents bear the id {twice['place']}, or share their address with such; give ids once")
        return found

    def _texts(self, side: int, name: str, key: str) -> DataFrame:
        F, table = self.F, self.sides[side]
        chosen = [F.col(f"`{self.columns['id']}`").cast("string").alias(key)]
        for column in ("text", "html"):
            source = self.columns[column]
            value = F.col(f"`{source}`") if source in table.columns else F.lit(None).cast("string")
            chosen.append(value.alias(f"{name}_{column}"))
        return table.select(*chosen)

    def similarity(self, measured: DataFrame, told: tuple[str, str], shared: int) -> dict[str, Any]:
        F = self.F
        found = measured.agg(
            F.count("similarity").alias("pairs"),
            F.count(F.when(F.col("unchanged"), 1)).alias("unchanged"),
            F.count(F.when(F.col("near"), 1)).alias("near"),
            F.avg("similarity").alias("mean"),
            F.expr("percentile(similarity, 0.5)").alias("median"),
        ).first()
        counts = found.asDict() if found else {}
        pairs, near = counts["pairs"], counts["near"]
        rounded = {name: None if counts[name] is None else round(counts[name], 9) for name in ("mean", "median")}
        return {
            "measure": told[0],
            "threshold": told[1],
            "pairs": pairs,
            "not_measured": shared - pairs,
            "unchanged": counts["unchanged"],
            "near": near,
            "near_share": round(near / pairs, 9) if pairs else None,
            **rounded,
        }


def _by_side(F: Any, addresses: DataFrame) -> list[dict[str, int]]:
    counted = addresses.groupBy("side").agg(
        F.count("*").alias("documents"),
        F.count(F.when(F.col("rejected"), 1)).alias("rejected"),
        F.count(F.when(F.col("key").isNull() & ~F.col("rejected"), 1)).alias("without_url"),
    )
    found = {row["side"]: row for row in counted.collect()}
    return [
        {
            "documents": found[side]["documents"] if side in found else 0,
            "rejected": found[side]["rejected"] if side in found else 0,
            "skipped": 0,
            "without_url": found[side]["without_url"] if side in found else 0,
        }
        for side in (0, 1)
    ]


def _keys(match: str) -> Mapped:
    def run(batches: Batches) -> Batches:
        for batch in batches:
            yield core.addresses(batch, match)

    return run


def _together(batches: Batches) -> Batches:
    """Addresses, sorted by key, side and id, become one row for each."""
    stream = core.Addresses()
    for batch in batches:
        yield stream.take(batch)
    yield stream.finish()


def _domains(batches: Batches) -> Batches:
    for batch in batches:
        yield core.domains(batch)


def _measure(options: dict[str, Any]) -> Mapped:
    def run(batches: Batches) -> Batches:
        measurer = core.Measurer(options)
        for batch in batches:
            yield measurer.measure(batch)

    return run
