"""Files of every format that the command line reads, as a table: workers read them, each file by itself."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from .. import __version__
from .._core import spark as core
from .._errors import UsageError
from ._session import prepare

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from ._workers import Batches, Mapped

Path = str | os.PathLike[str]

_COLUMNS = {
    "id": "string",
    "url": "string",
    "text": "string",
    "source": "string",
    "shard": "bigint",
    "record": "bigint",
    "position": "bigint",
    "rejected": "string",
    "skipped": "bigint",
    "rejected_id": "string",
}
_MOST_TASKS = 20_000


def read(
    spark: SparkSession,
    inputs: Path | Sequence[Path],
    *,
    id: str = "id",
    text: str = "text",
    html: str = "html",
    url: str = "url",
    fields: Sequence[str] = (),
    input_format: str | None = None,
    max_document_bytes: int | str = "32M",
    revisions: bool = False,
    namespaces: str = "0",
    content: str | None = None,
    profile: str = "web",
    addresses: bool = False,
) -> DataFrame:
    """Files, folders and patterns as a table of documents, in any format that the command line reads, compressed or not.

        pages = lookalike.spark.read(spark, "/crawl/warc/")
        found = lookalike.spark.dedup(pages)

    Columns are `id`, `url` and `text` (extracted; `content` is `page`, `main` or `email`), where a record stands (`source`, the name of its
    file as the command line has it; `shard`, the place of the file among all; `record` and `position` in it), `rejected`, and those
    `fields` that are asked for, as text. A record that cannot be read is a row without text whose `rejected` says why: `dedup` and its
    siblings count it and tell of it.

    The driver lists files, and workers open them by the same paths: all machines must see them. **A file is read by one task**, from its
    beginning to its end, so give many files rather than one large one. `addresses` wants no texts, and lets lists of addresses be read,
    for `urls`. Options are those of the command line.
    """
    options = {
        "id": id,
        "text": text,
        "html": html,
        "url": url,
        "input_format": input_format,
        "max_document_bytes": max_document_bytes,
        "revisions": revisions,
        "namespaces": namespaces,
        "content": content,
        "profile": profile,
    }
    return rows(spark, inputs, options, fields, addresses, not addresses).where("skipped is null").drop("skipped", "rejected_id")


def rows(
    spark: SparkSession,
    inputs: Path | Sequence[Path],
    options: dict[str, Any],
    fields: Sequence[str] = (),
    addresses: bool = False,
    texts: bool = True,
) -> DataFrame:
    """The same with a row for each file in which something was no document; `skipped` says how much."""
    given = [inputs] if isinstance(inputs, (str, os.PathLike)) else list(inputs)
    further = tuple(dict.fromkeys(name for name in fields if name not in ("id", "url")))
    taken = [name for name in further if name in _COLUMNS]
    if taken:
        raise UsageError(f"the field {taken[0]} would hide the column of that name; rename it in the input")
    options = {name: value for name, value in options.items() if value is not None}
    shards = core.shards(given, options)
    prepare(spark)
    listed = [(place, *shard) for place, shard in enumerate(shards)]
    table = spark.createDataFrame(listed, "shard bigint, name string, place string, format string")
    # One after the other from one partition: every task gets as many files as the others.
    spread = table.coalesce(1).repartition(min(len(listed), _MOST_TASKS))
    kinds = {**_COLUMNS, **dict.fromkeys(further, "string")}
    schema = ", ".join(f"`{name.replace('`', '``')}` {kind}" for name, kind in kinds.items())
    return spread.mapInArrow(_opened(options, further, addresses, texts, __version__), schema)


def _opened(options: dict[str, Any], fields: tuple[str, ...], addresses: bool, texts: bool, version: str) -> Mapped:
    """Names of files become their records."""

    def run(batches: Batches) -> Batches:
        if version != __version__:
            raise UsageError(
                f"this worker has lookalike {__version__} and the driver {version}; install one wheel on all machines"
            )
        for batch in batches:
            for row in batch.to_pylist():
                listed = (row["name"], row["place"], row["format"])
                reader = core.ShardReader(row["shard"], listed, options, list(fields), addresses, texts)
                while (found := reader.next()) is not None:
                    yield found

    return run
