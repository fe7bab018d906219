"""What people have becomes what the core reads: paths, a list of strings, or Arrow."""

from __future__ import annotations

import difflib
import importlib
import os
from collections.abc import Iterable, Mapping
from typing import Any

from . import _core
from ._errors import InputError, InputTypeError, UsageError

#: A string that is longer, or has a line break, is a text and no path.
_LONGEST_PATH = 500

_WANTED = "texts in a list, an Arrow table, a pandas or polars frame, a Hugging Face dataset, or paths"


def source(documents: Any, ids: Any, columns: Iterable[str | None], named: Iterable[str] | None = ()) -> _core.Source:
    """The documents as the core takes them. Of frames, only these columns are looked at: those of id, text, html and url, and others.
    Those in `named` must be there, and a text or HTML; None leaves it to the core to say what is missing."""
    paths = _paths(documents)
    if paths is not None:
        if ids is not None:
            raise UsageError("ids go with documents in memory; files have their own, by the field that id names")
        return _core.Source.paths(paths)
    if ids is not None:
        ids = _plain(ids, ())
    wanted = [name for name in columns if name]
    if named is not None:
        _check_columns(documents, wanted[1:3], list(named))
    lists = None if ids is not None else _object_lists(documents, wanted)
    if lists is not None:
        return _core.Source.lists(lists, wanted[0])
    documents = _plain(documents, wanted)
    if _is_arrow(documents):
        return _core.Source.table(documents, ids)
    return _core.Source.texts(documents, ids)


def _check_columns(documents: Any, texts: list[str], named: list[str]) -> None:
    """Refuses names of columns that a frame does not have: a name that was given, or both of text and HTML."""
    there = _column_names(documents)
    if there is None:
        return
    missing = [name for name in named if name not in there]
    if not missing and not any(name in there for name in texts):
        missing = texts
    if missing:
        raise InputError(_no_column(missing[0], texts[0], there))


def _no_column(missing: str, text: str, there: list[str]) -> str:
    near = difflib.get_close_matches(missing, there, 1)
    columns = ", ".join(f'"{name}"' for name in there)
    advice = "; the parameter text names the column of the texts" if missing == text else ""
    advice = f"; did you mean {near[0]}?" if near else advice
    return f'there is no column "{missing}"; the columns are {columns}{advice}'


def _column_names(value: Any) -> list[str] | None:
    """The names of a frame's columns; None for all else."""
    module = type(value).__module__.partition(".")[0]
    if module == "polars" and hasattr(value, "collect_schema"):
        return list(value.collect_schema().names())
    names = getattr(value, "column_names", None) if module in ("pyarrow", "datasets") else None
    if module == "pandas" and hasattr(value, "columns"):
        names = list(value.columns)
    return [str(name) for name in names] if isinstance(names, list) else None


def _is_arrow(value: Any) -> bool:
    return hasattr(value, "__arrow_c_stream__") or hasattr(value, "__arrow_c_array__")


def _paths(documents: Any) -> list[str | os.PathLike[str]] | None:
    """Paths: a string or a path, or a list of paths. A list of strings is texts."""
    if isinstance(documents, str) and (len(documents) > _LONGEST_PATH or "\n" in documents):
        raise UsageError("a string is the path of a file, and this one is a text; give texts in a list")
    if isinstance(documents, (str, os.PathLike)):
        return [documents]
    if isinstance(documents, (list, tuple)) and documents and isinstance(documents[0], os.PathLike):
        for number, path in enumerate(documents):
            if not isinstance(path, (str, os.PathLike)):
                raise InputTypeError(f"paths are str or os.PathLike; number {number} is of type {type(path).__name__}")
        return list(documents)
    return None


def _plain(value: Any, columns: Iterable[str]) -> Any:
    """A list, or something that hands over Arrow."""
    module = type(value).__module__.partition(".")[0]
    if module == "pandas":
        return _pandas(value, list(columns))
    if module == "polars" and hasattr(value, "collect_schema"):
        return _polars(value, list(columns))
    if module == "datasets" and hasattr(value, "with_format"):
        return _dataset(value, set(columns))
    if _is_arrow(value) or isinstance(value, (list, tuple)):
        return value
    if isinstance(value, (str, bytes, bytearray, Mapping)) or not isinstance(value, Iterable):
        raise InputTypeError(f"documents are {_WANTED}, and not of type {type(value).__name__}")
    return list(value)


def _object_lists(value: Any, columns: list[str]) -> list[tuple[str, list[Any]]] | None:
    """The columns of a pandas frame whose strings are Python objects: those are borrowed where they stand. None where Arrow is needed,
    as for fields beside id, text, html and url."""
    if type(value).__module__.partition(".")[0] != "pandas" or not hasattr(value, "columns") or len(columns) != 4:
        return None
    there = [name for name in columns if name in value.columns]
    if not any(name in there for name in columns[1:3]) or len({*value.columns}) != len(value.columns):
        return None
    kinds = {name: str(value[name].dtype) for name in there}
    names = kinds.pop(columns[0], "object")
    fit = set(kinds.values()) == {"object"} and (names == "object" or names.startswith(("int", "uint")))
    return [(name, value[name].tolist()) for name in there] if fit else None


def _pandas(value: Any, columns: list[str]) -> Any:
    """A frame or a series as Arrow. Strings that are Python objects are copied by pyarrow, but those of a series are handed on."""
    if hasattr(value, "columns"):
        wanted = [name for name in columns if name in value.columns]
        value = value[wanted] if wanted else value
    if hasattr(value, "__arrow_c_stream__"):
        return value
    if not hasattr(value, "columns") and str(value.dtype) == "object":
        return value.tolist()
    pyarrow = importlib.import_module("pyarrow")
    if hasattr(value, "columns"):
        return pyarrow.Table.from_pandas(value, preserve_index=False)
    return pyarrow.array(value, from_pandas=True)


def _polars(value: Any, columns: list[str]) -> Any:
    """A frame, of which only what is looked at is handed over. A column without any value has no type yet."""
    if hasattr(value, "collect"):
        value = value.collect()
    wanted = [name for name in columns if name in value.columns]
    value = value.select(wanted) if wanted else value
    empty = [column.name for column in value if str(column.dtype) == "Null"]
    polars = importlib.import_module("polars")
    return value.with_columns(polars.col(name).cast(polars.String) for name in empty) if empty else value


def _dataset(value: Any, columns: set[str]) -> Any:
    """A dataset, with the order and choice of rows that it has. Tables on disk stay there, mapped into memory."""
    if not hasattr(value, "column_names") or isinstance(value, Mapping):
        raise InputTypeError(f"documents are {_WANTED}; of several datasets name one, as in datasets['train']")
    wanted = [name for name in value.column_names if name in columns]
    if wanted and wanted != value.column_names:
        value = value.select_columns(wanted)
    return value.with_format("arrow")[:]
