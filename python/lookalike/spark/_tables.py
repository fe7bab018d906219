"""Rows on their way through the driver into files."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from .._core import spark as core

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_BATCH = 10_000


def batches(rows: DataFrame, most: int = _BATCH) -> Iterator[Any]:
    """Rows in batches, as many as the driver holds at once; one partition comes while the one before is taken."""
    import pyarrow as pa
    from pyspark.sql.pandas.types import to_arrow_schema

    arrow = to_arrow_schema(rows.schema)
    held: list[dict[str, Any]] = []
    for row in rows.toLocalIterator(prefetchPartitions=True):
        held.append(row.asDict())
        if len(held) == most:
            yield pa.RecordBatch.from_pylist(held, schema=arrow)
            held = []
    if held:
        yield pa.RecordBatch.from_pylist(held, schema=arrow)


def write(rows: DataFrame, table: str, path: str, parquet: bool, recipe: str) -> int:
    """Writes a table of the command line; the file appears when it is whole. Says how many rows it has."""
    file = core.TableFile(table, path, parquet, recipe)
    count = 0
    for batch in batches(rows):
        file.take(batch)
        count += batch.num_rows
    file.finish()
    return count
