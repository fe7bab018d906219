"""Where a run keeps its stages, so that one that failed goes on where it ended.

A stage is a folder of Parquet files. It counts once its note is there, which is written last and bears the fingerprint of the run:
the recipe, the columns, the files of the input, the version. A run with another fingerprint is refused by name.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from .._errors import InputChangedError, RecipeError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_JOB = "lookalike.json"


class Work:
    """A folder that the driver and all workers see."""

    def __init__(self, spark: SparkSession, folder: str | None, job: dict[str, Any]) -> None:
        self.spark = spark
        if folder is None:
            folder = f"{spark.conf.get('spark.sql.warehouse.dir')}/_lookalike/{uuid.uuid4().hex}"
        self.folder = folder.rstrip("/")
        jvm: Any = spark._jvm
        self._paths = jvm.org.apache.hadoop.fs.Path
        self._io = jvm.org.apache.commons.io.IOUtils
        configuration = spark._jsc.hadoopConfiguration()
        self._files = self._paths(self.folder).getFileSystem(configuration)
        self._job = json.loads(json.dumps(job))
        self._settle()

    def _settle(self) -> None:
        """Takes a new folder, or one in which the same run was begun."""
        before = self.read(_JOB)
        if before is None:
            self.write(_JOB, self._job)
            return
        if before == self._job:
            return
        if before.get("recipe") != self._job["recipe"] or before.get("version") != self._job["version"]:
            there, here = _lines(before), _lines(self._job)
            raise RecipeError(
                f"the work folder {self.folder} was begun with another recipe: there {_listed(there - here)} and here "
                f"{_listed(here - there)}; name another folder"
            )
        raise InputChangedError(
            f"the work folder {self.folder} was begun with another input; name another folder, or give the same tables"
        )

    def path(self, name: str) -> str:
        """The path of a file or a stage."""
        return f"{self.folder}/{name}"

    def read(self, name: str) -> Any:
        """A small file, if it is there."""
        path = self._paths(self.path(name))
        if not self._files.exists(path):
            return None
        stream = self._files.open(path)
        try:
            return json.loads(self._io.toString(stream, "UTF-8"))
        finally:
            stream.close()

    def write(self, name: str, value: Any) -> None:
        """Writes a small file whole or not at all."""
        pending = self._paths(self.path(name + ".part"))
        stream = self._files.create(pending, True)
        stream.write(bytearray(json.dumps(value, sort_keys=True).encode()))
        stream.close()
        target = self._paths(self.path(name))
        self._files.delete(target, False)
        self._files.rename(pending, target)

    def stage(self, name: str, make: Callable[[], DataFrame]) -> DataFrame:
        """A stage, made unless an earlier run did."""
        note = f"{name}.done"
        if self.read(note) is not None:
            return self.spark.read.parquet(self.path(name))
        made = make()
        made.write.mode("overwrite").parquet(self.path(name))
        self.write(note, {"stage": name})
        # Told the columns, Spark need not open a file to learn them: one job less for each stage.
        return self.spark.read.schema(made.schema).parquet(self.path(name))

    def fact(self, name: str, make: Callable[[], Any]) -> Any:
        """Something small that was found out, found out unless an earlier run did."""
        known = self.read(f"{name}.json")
        if known is None:
            known = make()
            self.write(f"{name}.json", known)
        return known

    def remove(self) -> None:
        """Takes the folder away."""
        self._files.delete(self._paths(self.folder), True)


def _lines(job: dict[str, Any]) -> set[str]:
    lines = set(str(job.get("recipe", "")).splitlines())
    lines.add(f"version = {job.get('version')}")
    return lines


def _listed(lines: set[str]) -> str:
    return ", ".join(sorted(lines)) or "nothing more"
