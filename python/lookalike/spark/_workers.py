"""What runs on Spark's workers: each function takes batches of rows and hands on batches of rows.

Nothing is decided here; the core does that. Every function first makes sure that the worker has the wheel that the driver has.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .. import __version__
from .._core import spark as core
from .._errors import UsageError

if TYPE_CHECKING:
    import pyarrow as pa

    Batches = Iterator[pa.RecordBatch]
    Mapped = Callable[[Batches], Batches]

# The columns of what comes out, as Spark writes them.
SKETCHES = (
    "id string, `order` string, order_number double, keep_number boolean, reason string, words int, text_bytes bigint, "
    "digest binary, record binary, keys binary"
)
POSTINGS = "method int, key bigint, n bigint, tag int, length int, mark int, sides int"
PAIRS = "method int, a bigint, b bigint, back boolean, giant_groups bigint, `group` array<bigint>"
CANDIDATES = "a bigint, b bigint, shared array<int>, proposed bigint"
TIES = "a bigint, b bigint"
DECIDED = (
    "n bigint, other bigint, similarity double, reverse double, via bigint, near boolean, methods int, `group` string, "
    "verified bigint, histogram array<bigint>, pairs_in_groups bigint"
)
WORDS = "hash bigint, word string, documents bigint, occurrences bigint, bins binary"
SEEN = "place bigint, seen binary"

# Ties that are held before they are made fewer.
_MANY_TIES = 1_000_000


@dataclass(frozen=True)
class Shipped:
    """What every worker must have: a recipe, the secret that equal words are told by, the files with what its methods learned, and the version of the driver."""

    recipe: str
    secret: str
    fingerprint: str = "nothing"
    files: tuple[str, ...] = ()
    version: str = __version__

    def knowledge(self) -> str:
        """A folder on this machine with what the methods learned."""
        if self.version != __version__:
            raise UsageError(
                f"this worker has lookalike {__version__} and the driver {self.version}; install one wheel on all machines"
            )
        from pyspark import SparkFiles

        root = os.path.join(SparkFiles.getRootDirectory(), f"lookalike-{self.fingerprint}")
        if not os.path.isdir(root):
            # Several workers of one machine may come here together: the first to rename wins.
            made = tempfile.mkdtemp(prefix="lookalike-", dir=SparkFiles.getRootDirectory())
            for name in self.files:
                os.symlink(SparkFiles.get(f"{self.fingerprint}-{name}"), os.path.join(made, name))
            try:
                os.rename(made, root)
            except OSError:
                if not os.path.isdir(root):
                    raise
        return root


def scratch() -> str:
    """A folder of this machine for scratch files."""
    folders = os.environ.get("SPARK_LOCAL_DIRS") or os.environ.get("LOCAL_DIRS") or ""
    return folders.split(",")[0] or tempfile.gettempdir()


def sketches(shipped: Shipped) -> Mapped:
    """Documents become sketches."""

    def run(batches: Batches) -> Batches:
        sketcher = core.Sketcher(shipped.recipe, shipped.knowledge(), shipped.secret)
        for batch in batches:
            yield sketcher.sketch(batch)

    return run


def postings(shipped: Shipped) -> Mapped:
    """Numbered sketches become postings."""

    def run(batches: Batches) -> Batches:
        sketcher = core.Sketcher(shipped.recipe, shipped.knowledge(), shipped.secret)
        for batch in batches:
            yield sketcher.postings(batch)

    return run


def _streamed(shipped: Shipped, make: Callable[[str], Any]) -> Mapped:
    """A worker that remembers from batch to batch, and has something to say at the end."""

    def run(batches: Batches) -> Batches:
        worker = make(shipped.knowledge())
        for batch in batches:
            yield worker.take(batch)
        yield worker.finish()

    return run


def groups(shipped: Shipped, different: int, references: int) -> Mapped:
    """Postings, sorted by method, key and document, become pairs."""
    recipe = shipped.recipe
    return _streamed(shipped, lambda knowledge: core.Groups(recipe, knowledge, different, references))


def candidates(shipped: Shipped) -> Mapped:
    """Counted pairs with the records of their documents become candidates."""
    recipe = shipped.recipe
    return _streamed(shipped, lambda knowledge: core.Filter(recipe, knowledge))


def decide(shipped: Shipped, *, memory: int, together: int, references: int, numbers: bool) -> Mapped:
    """Components, one behind the other, are measured and decided."""

    def make(knowledge: str) -> Any:
        return core.Portions(
            shipped.recipe,
            knowledge,
            scratch(),
            memory=memory,
            together=together,
            references=references,
            numbers=numbers,
        )

    return _streamed(shipped, make)


def words(shipped: Shipped, number: int) -> Mapped:
    """Documents become counts of words."""
    recipe = shipped.recipe
    return _streamed(shipped, lambda _: core.Words(recipe, number))


def word_sums(shipped: Shipped) -> Mapped:
    """Counts of words, sorted by hash, are added up."""
    return _streamed(shipped, lambda _: core.WordSums())


def survey(shipped: Shipped) -> Mapped:
    """Documents are shown to the methods; one row for each method comes out."""

    def run(batches: Batches) -> Batches:
        surveyor = core.Survey(shipped.recipe, shipped.knowledge())
        for batch in batches:
            surveyor.take(batch)
        yield surveyor.finish()

    return run


def numbered(same: list[str]) -> Mapped:
    """Sorted rows get the number of their partition and their place in it; `twin` is true for one that `same` columns do not tell
    from the one before."""

    def run(batches: Batches) -> Batches:
        import pyarrow as pa
        import pyarrow.compute as pc
        from pyspark import TaskContext

        context = TaskContext.get()
        part = context.partitionId() if context else 0
        before: Any = None
        place = 0
        for batch in batches:
            if not batch.num_rows:
                continue
            twins: Any = None
            for name in same:
                column = batch.column(name)
                first = before[name] if before else pa.nulls(1, column.type)
                shifted = pa.concat_arrays([first, column.slice(0, len(column) - 1)])
                both = pc.and_(pc.is_null(column), pc.is_null(shifted))
                equal = pc.or_(pc.fill_null(pc.equal(column, shifted), False), both)
                twins = equal if twins is None else pc.and_(twins, equal)
            if not before:
                twins = pa.concat_arrays([pa.array([False]), twins.slice(1)])
            before = {name: pa.concat_arrays([batch.column(name).slice(len(batch) - 1)]) for name in same}
            rows = pa.array(range(place, place + len(batch)), pa.int64())
            place += len(batch)
            yield pa.RecordBatch.from_arrays(
                [*batch.columns, pa.array([part] * len(batch), pa.int32()), rows, twins],
                names=[*batch.schema.names, "part", "place", "twin"],
            )

    return run


def contract(batches: Batches) -> Batches:
    """As few ties as hold the same documents together."""
    import pyarrow as pa

    held: list[Any] = []
    rows = 0
    for batch in batches:
        held.append(batch)
        rows += batch.num_rows
        if rows > _MANY_TIES:
            held = [core.contract(_joined(pa, held))]
            rows = min(held[0].num_rows, _MANY_TIES // 2)
    if held:
        yield core.contract(_joined(pa, held))


def _joined(pa: Any, batches: list[Any]) -> Any:
    joined = pa.Table.from_batches(batches).combine_chunks().to_batches()
    return joined[0] if joined else batches[0]
