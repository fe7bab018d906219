"""The Python of Spark's workers, which must have this package."""

from __future__ import annotations

import os
import re
import sys
import weakref
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from .. import __version__
from .._errors import UsageError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

#: Sessions whose workers have answered.
_ready: weakref.WeakSet[Any] = weakref.WeakSet()


def prepare(spark: SparkSession) -> None:
    """Asks one worker for its version of this package, once for a session.

    Without this a first stage would fail deep in a worker, behind pages of Java.
    """
    if spark in _ready:
        return
    _use_own_python(spark)
    try:
        version = spark.range(1, numPartitions=1).mapInArrow(_answer, "version string").first()
    except Exception as error:
        lacks = re.search(r"No module named '([^'.]+)", str(error))
        if lacks is None:
            raise
        raise UsageError(
            f"the Python of Spark's workers has no {lacks[1]}: install the wheel on every machine, or name a Python that has it in "
            f"PYSPARK_PYTHON before Spark is started (the driver's is {sys.executable})"
        ) from None
    if version is not None and version[0] != __version__:
        raise UsageError(
            f"Spark's workers have version {version[0]} of lookalike and the driver has {__version__}: install one on every machine"
        )
    _ready.add(spark)


def _use_own_python(spark: SparkSession) -> None:
    """Takes the driver's Python for workers on this machine, unless another was named.

    Spark takes the first `python3` on the path, which in a virtual environment that was not activated is another one.
    """
    try:
        context = spark.sparkContext
    except Exception:
        # A session over Spark Connect has none: its workers are elsewhere.
        return
    named = "PYSPARK_PYTHON" in os.environ or context.getConf().get("spark.pyspark.python") is not None
    if (context.master or "").startswith("local") and not named:
        context.pythonExec = sys.executable


def _answer(batches: Iterator[Any]) -> Iterator[Any]:
    import pyarrow

    for _ in batches:
        yield pyarrow.RecordBatch.from_pydict({"version": [__version__]})
