'''Finds near-duplicate documents.

>>> import lookalike
>>> texts = [
...     "a rose is a rose is a rose, said the gardener to his guests",
...     "A rose is a rose is a rose, said the gardener to his guests!",
...     "an orchid needs warmth and shade, and never too much water",
... ]
>>> found = lookalike.dedup(texts, ids=["one", "two", "three"])
>>> found.kept_mask.to_pylist()
[True, False, True]
>>> found.removed[0]["id"], found.removed[0]["witness"], found.removed[0]["similarity"]
('two', 'one', 1.0)

Documents come as

- a list of strings; `None` is a document without text, which is rejected and told of,
- anything that hands over Arrow data (`__arrow_c_stream__`, `__arrow_c_array__`): tables, record batches and arrays of pyarrow,
  frames and series of polars, pandas from 2.2 on; a Hugging Face dataset; pandas series (through pyarrow). Columns are `id`,
  `text`, `html` and `url` unless `id=`, `text=`, `html=` and `url=` name others; an array by itself holds texts,
- paths: a string or `os.PathLike` that names a file, a folder or a pattern, or a list of `os.PathLike`. **A list of strings is a
  list of texts.** Files can be larger than memory.

Options have the names and defaults of the command line, and so do results: the same documents give the same rows. Work runs on
all cores while the interpreter is free for other threads; Ctrl-C stops it. `progress` is called with the stage, what is done and
what there is to do (or None), about twenty times a second.

Exceptions are classes under `lookalike.Error`, each with the sentence that the command line prints.
'''

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Sequence
from types import TracebackType
from typing import Any, TypeVar

from . import _core
from ._core import Column, Table, __version__
from ._errors import (
    DamagedError,
    Error,
    FolderError,
    InputChangedError,
    InputError,
    InputTypeError,
    LockedError,
    MemoryCapError,
    OutputError,
    RecipeError,
    RejectedError,
    TooManyRejectedError,
    UsageError,
)
from ._sources import source as _source

__all__ = [
    "Added",
    "Column",
    "Comparison",
    "DamagedError",
    "Error",
    "FolderError",
    "Index",
    "InputChangedError",
    "InputError",
    "InputTypeError",
    "LockedError",
    "MemoryCapError",
    "OutputError",
    "Pairs",
    "RecipeError",
    "RejectedError",
    "Result",
    "Table",
    "TooManyRejectedError",
    "UsageError",
    "__version__",
    "compare",
    "dedup",
    "diff",
    "methods",
    "pairs",
    "presets",
    "similarity",
    "sketch",
]

Path = str | os.PathLike[str]
_Value = TypeVar("_Value")
Progress = Callable[[str, int, int | None], object]


class _Found:
    """What all results have."""

    #: Records that could not be read: `source`, `position` (a row, or a byte of a file), `reason`, and `id` where one is known.
    rejected: Table
    #: Counts, as in `summary.json`.
    summary: dict[str, Any]
    #: Everything that can change the result, as the text of `recipe.toml`.
    recipe: str
    #: What the methods have to say about their parameters.
    advice: list[str]
    #: The folder with the job's files, if one was named.
    folder: str | None

    def __init__(self, found: dict[str, Any]) -> None:
        for name, value in found.items():
            setattr(self, name, value)
        # What the files of a folder are known again by says nothing of the documents.
        self.summary = {name: value for name, value in json.loads(found["summary"]).items() if name not in ("files", "checksum")}

    def _checked(self, strict: bool) -> None:
        if strict and len(self.rejected) > 0:
            first = self.rejected[0]
            error = RejectedError(
                f"{len(self.rejected)} rejected, the first in {first['source']} "
                f"at {first['position']}: {first['reason']}"
            )
            error.result = self
            raise error


class Result(_Found):
    """What `dedup` found."""

    #: A row for every removed document: `id`, `witness` (the kept one that stands for it), their measured `similarity`, the
    #: `cluster`, and the ordinals `n` and `witness_n`. With `against`, documents of the other corpus say so in `against`.
    removed: Table
    #: A row for every cluster: `cluster`, `keep`, `members` and `members_n`.
    clusters: Table
    #: True for every document that stays, in the order of the input; False for removed and for rejected ones.
    kept_mask: Column

    def __repr__(self) -> str:
        count = self.summary
        return (
            f"<lookalike.Result: {count['documents']} documents, {count['kept']} kept, {count['removed']} removed, "
            f"{count['rejected']} rejected>"
        )


class Pairs(_Found):
    """What `pairs` found."""

    #: A row for every pair: `a`, `b` and `similarity`; with containment also `reverse`.
    pairs: Table

    def __repr__(self) -> str:
        return f"<lookalike.Pairs: {len(self.pairs)} pairs>"


class Comparison(_Found):
    """What `compare` found."""

    #: A row for every pair that a method accepts: `a` (left), `b` (right), `similarity`, and `near` where it reaches the
    #: threshold; with several methods also `methods`, those that accept it.
    pairs: Table
    #: The most similar right document of each left one, and how many `pairs` it has.
    best: Table

    def __repr__(self) -> str:
        return f"<lookalike.Comparison: {len(self.pairs)} pairs of {len(self.best)} left documents>"


class Added:
    """What became of documents that were added to an index."""

    #: A row for every document: `id`, `new`, the `witness` that stands for it and their `similarity`, whether it was `known`
    #: already; `error` where its id is there with other words.
    verdicts: Table
    #: Records that could not be read.
    rejected: Table
    #: Counts: `new`, `removed`, `known`, `conflicts`, `rejected`, `skipped`.
    summary: dict[str, int]

    def __init__(self, found: dict[str, Any]) -> None:
        self.verdicts = found["verdicts"]
        self.rejected = found["rejected"]
        self.summary = found["summary"]

    def __repr__(self) -> str:
        return f"<lookalike.Added: {self.summary}>"


#: Options that a recipe has already.
_REPLAYED = (
    "method", "combine", "filter", "similarity", "shingle", "threshold", "recall", "unverified", "within", "max_group", "seed",
    "input_format", "id", "text", "html", "url", "max_document_bytes", "revisions", "namespaces", "content", "profile", "keep",
    "cluster", "against_fields", "right_fields",
)  # fmt: skip


#: The fields of documents that columns stand for.
_ROLES = ("id", "text", "html", "url")

#: Options that a preset decides about, unless they are given.
_PRESET = ("method", "similarity", "shingle", "threshold", "recall", "profile")


def _default(value: _Value) -> _Value:
    """A default that is told from the same value when somebody gives it."""
    marked: _Value = type("_Default", (type(value),), {})(value)
    return marked


def _options(function: Callable[..., Any], given: dict[str, Any]) -> dict[str, Any]:
    """The keywords of a call; beside a recipe none that it has already."""
    defaults: dict[str, Any] = function.__kwdefaults__ or {}
    options = {name: given[name] for name in defaults}
    if options.get("recipe") is not None:
        changed = [name for name in _REPLAYED if name in options and options[name] != defaults[name]]
        if changed:
            raise UsageError(f"the recipe has {changed[0]} already; leave it out, or leave recipe out")
    if options.get("preset") is not None:
        if options["recipe"] is not None:
            raise UsageError("a recipe says all that a preset could; leave one of them out")
        options.update({name: None for name in _PRESET if options[name] is defaults[name]})
    return options


def _columns(options: dict[str, Any]) -> list[str | None]:
    """The columns that are looked at: those of id, text, html and url, and then further ones."""
    recipe = options.get("recipe")
    if recipe is not None:
        return _columns_of_recipe(recipe)
    named = [options.get(name) for name in _ROLES]
    further = [_field_of(options.get("keep")), options.get("within")]
    return [*named, *(name for name in further if isinstance(name, str))]


def _own_source(documents: Any, ids: Any, options: dict[str, Any]) -> _core.Source:
    """The documents of a call. Columns that were named must be there."""
    columns = [name for name in _columns(options) if name]
    named = [name for role, name in zip(_ROLES, columns[:4], strict=True) if name != role and (role != "id" or ids is None)]
    named += [name for name in columns[4:] if not name.startswith("@")]
    return _source(documents, ids, columns, named if options.get("recipe") is None else None)


def _other_source(documents: Any, ids: Any, options: dict[str, Any], fields: Any) -> _core.Source:
    """The documents of the other side, where fields may have other names. Only what is named for that side must be there."""
    columns = _columns(options)
    # The core says what is wrong with other ones.
    known = fields is None or isinstance(fields, dict) and all(name in (*_ROLES, *columns[4:]) for name in fields)
    known = known and options.get("recipe") is None
    fields = fields if isinstance(fields, dict) else {}
    own = [fields.get(name, column) for name, column in zip(_ROLES, columns[:4], strict=True)]
    further = [fields.get(name, name) for name in columns[4:]]
    return _source(documents, ids, [*own, *further], list(fields.values()) if known else None)


def _field_of(keep: Any) -> str | None:
    """The field by which the document to keep is chosen."""
    is_field = isinstance(keep, str) and keep.startswith("field:")
    return keep.removeprefix("field:").removesuffix(":desc").removesuffix(":asc") if is_field else None


def _columns_of_recipe(recipe: Path) -> list[str | None]:
    import tomllib

    try:
        with open(recipe, "rb") as file:
            read = tomllib.load(file)
    except (OSError, tomllib.TOMLDecodeError):
        return list(_ROLES)  # the core says what is wrong with it
    fields = [read.get("reading", {}).get(f"{name}-field", name) for name in _ROLES]
    further = [_field_of(read.get("keep")), read.get("within")]
    return [*fields, *(name for name in further if isinstance(name, str))]


def dedup(
    documents: Any,
    *,
    ids: Any = None,
    method: str | Sequence[str] = _default("minhash"),
    threshold: float | str = _default(0.8),
    similarity: str = _default("jaccard"),
    shingle: int = _default(5),
    keep: str = "first",
    cluster: str = "star",
    against: Any = None,
    against_fields: dict[str, str] | None = None,
    into: Path | None = None,
    combine: str = "any",
    filter: str | None = None,
    lexicon: Path | None = None,
    recall: float | str = _default(0.98),
    unverified: bool = False,
    within: str | None = None,
    max_group: int | None = None,
    seed: int = 1,
    recipe: Path | None = None,
    preset: str | None = None,
    id: str = "id",
    text: str = "text",
    html: str = "html",
    url: str = "url",
    input_format: str | None = None,
    max_document_bytes: int | str = "32M",
    revisions: bool = False,
    namespaces: str = "0",
    content: str | None = None,
    profile: str = _default("web"),
    output: Path | None = None,
    write: str = "none",
    annotate: bool = False,
    scratch: Path | None = None,
    spool: str = "auto",
    threads: int | None = None,
    memory: int | str | None = None,
    max_rejected: int | float | str | None = None,
    skip_unreadable: bool = False,
    strict: bool = False,
    progress: Progress | None = None,
) -> Result:
    """Near-duplicates inside a corpus, one kept of each.

    >>> pages = ["the cat sat on the mat and looked at me"] * 2 + ["no cat was seen here today, said the dog"]
    >>> lookalike.dedup(pages)
    <lookalike.Result: 3 documents, 2 kept, 1 removed, 0 rejected>
    >>> lookalike.dedup(pages).removed.to_pylist()  # doctest: +NORMALIZE_WHITESPACE
    [{'id': 'texts#1', 'witness': 'texts#0', 'similarity': 1.0, 'cluster': 0, 'n': 1, 'witness_n': 0}]

    `ids` are the names of documents in memory, in their order; without them, documents of a table without a column `id` are
    called `texts#0` and so on.

    `output` names a folder for the files of the job, with a report: a new one, or one in which the same job on files was begun, which
    then goes on. Without it, scratch files go to a temporary folder below `scratch`, and are gone when the call ends.

    `against` has documents of another corpus, whose near-duplicates are removed too; or the path of an index, also `into`, for
    documents in files. `against_fields` has the names that fields have there, by those that they have here: `{"text": "body"}`.

    More rejected records than `max_rejected`, a number or a share such as "5%", are a `TooManyRejectedError`; by default that is a
    tenth of 100 documents or more, or all of them.

    `preset` names the settings of a published pipeline, which `lookalike.presets()` lists; options that are given beside it hold.

    The other options are those of `lookalike dedup`; `lookalike.methods()` tells of all methods.
    """
    options = _options(dedup, locals())
    other = None if against is None else _other_source(against, None, options, against_fields)
    result = Result(_core.dedup(_own_source(documents, ids, options), other, options))
    result._checked(strict)
    return result


def pairs(
    documents: Any,
    *,
    ids: Any = None,
    method: str | Sequence[str] = _default("minhash"),
    threshold: float | str = _default(0.8),
    similarity: str = _default("jaccard"),
    shingle: int = _default(5),
    all: bool = False,
    combine: str = "any",
    filter: str | None = None,
    lexicon: Path | None = None,
    recall: float | str = _default(0.98),
    unverified: bool = False,
    within: str | None = None,
    max_group: int | None = None,
    seed: int = 1,
    recipe: Path | None = None,
    preset: str | None = None,
    id: str = "id",
    text: str = "text",
    html: str = "html",
    url: str = "url",
    input_format: str | None = None,
    max_document_bytes: int | str = "32M",
    revisions: bool = False,
    namespaces: str = "0",
    content: str | None = None,
    profile: str = _default("web"),
    output: Path | None = None,
    scratch: Path | None = None,
    spool: str = "auto",
    threads: int | None = None,
    memory: int | str | None = None,
    max_rejected: int | float | str | None = None,
    skip_unreadable: bool = False,
    strict: bool = False,
    progress: Progress | None = None,
) -> Pairs:
    """Every near-duplicate pair with its measured similarity; with `all` also measured pairs below the threshold.

    >>> pages = ["one two three four five six", "one two three four five six seven", "a b c d e f g"]
    >>> lookalike.pairs(pages, ids=["x", "y", "z"], threshold=0.5).pairs.to_pylist()
    [{'a': 'x', 'b': 'y', 'similarity': 0.666666667}]

    `output` names a file for the pairs that ends in `.jsonl`, also with `.gz`, `.zst` or `.bz2`; a folder with `.job` behind its name
    holds the rest.
    """
    options = _options(pairs, locals())
    result = Pairs(_core.pairs(_own_source(documents, ids, options), options))
    result._checked(strict)
    return result


def compare(
    left: Any,
    right: Any,
    *,
    left_ids: Any = None,
    right_ids: Any = None,
    method: str | Sequence[str] = _default("minhash"),
    threshold: float | str = _default(0.8),
    similarity: str = _default("jaccard"),
    shingle: int = _default(5),
    right_fields: dict[str, str] | None = None,
    combine: str = "any",
    filter: str | None = None,
    lexicon: Path | None = None,
    recall: float | str = _default(0.98),
    unverified: bool = False,
    within: str | None = None,
    max_group: int | None = None,
    seed: int = 1,
    recipe: Path | None = None,
    preset: str | None = None,
    id: str = "id",
    text: str = "text",
    html: str = "html",
    url: str = "url",
    input_format: str | None = None,
    max_document_bytes: int | str = "32M",
    revisions: bool = False,
    namespaces: str = "0",
    content: str | None = None,
    profile: str = _default("web"),
    output: Path | None = None,
    scratch: Path | None = None,
    spool: str = "auto",
    threads: int | None = None,
    memory: int | str | None = None,
    max_rejected: int | float | str | None = None,
    skip_unreadable: bool = False,
    strict: bool = False,
    progress: Progress | None = None,
) -> Comparison:
    """Which documents of one corpus are in another.

    >>> old = ["to be or not to be that is the question", "all the world is a stage"]
    >>> new = ["to be, or not to be: that is the question", "something else altogether"]
    >>> lookalike.compare(old, new, left_ids=["a", "b"], right_ids=["c", "d"]).best.to_pylist()
    [{'a': 'a', 'b': 'c', 'similarity': 1.0, 'near': True, 'pairs': 1}]
    """
    options = _options(compare, locals())
    ours = _own_source(left, left_ids, options)
    theirs = _other_source(right, right_ids, options, right_fields)
    result = Comparison(_core.compare(ours, theirs, options))
    result._checked(strict)
    return result


def sketch(
    documents: Any,
    *,
    ids: Any = None,
    method: str = "minhash",
    threshold: float | str = 0.8,
    similarity: str = "jaccard",
    shingle: int = 5,
    recall: float | str = 0.98,
    lexicon: Path | None = None,
    seed: int = 1,
    id: str = "id",
    text: str = "text",
    html: str = "html",
    url: str = "url",
    input_format: str | None = None,
    max_document_bytes: int | str = "32M",
    revisions: bool = False,
    namespaces: str = "0",
    content: str | None = None,
    profile: str = "web",
    scratch: Path | None = None,
    threads: int | None = None,
    memory: int | str | None = None,
    progress: Progress | None = None,
) -> Table:
    """What a method makes of every document: a row for every row of the input, in its order.

    >>> made = lookalike.sketch(["one two three", "one two three", None], method="simhash")
    >>> made.columns
    ['id', 'words', 'digest', 'length', 'payload', 'keys', 'tags', 'rejected']
    >>> made["digest"][0] == made["digest"][1], made["words"], made["rejected"][2]
    (True, [3, 3, None], 'missing field: neither "text" nor "html" is there')

    Documents that share one of their `keys` are what the method proposes as pairs; `tags` are what it wants to know again of each key.
    `digest` is that of the words, none where there is no word; `length` is the document's length as the method sees it, 0 where it
    has no signature. Methods that must know a corpus learn from the documents themselves, or their words from `lexicon`.
    """
    options = _options(sketch, locals())
    return _core.sketch(_own_source(documents, ids, options), options)


def similarity(
    a: str,
    b: str,
    *,
    similarity: str = "jaccard",
    shingle: int = 5,
    profile: str = "web",
    content: str | None = None,
) -> float:
    """How similar two texts are; of containment, how much of `a` is in `b`.

    >>> lookalike.similarity("one two three four", "one two three five", shingle=1)
    0.6
    >>> lookalike.similarity("one two", "one two three five", shingle=1, similarity="containment")
    1.0
    """
    _check_texts(a, b)
    options = {"similarity": similarity, "shingle": shingle, "profile": profile, "content": content}
    return _core.similarity(a, b, options)


def diff(a: str, b: str, *, context: int | None = 8, profile: str = "web") -> list[tuple[str, str]]:
    """What two texts differ in, word by word: runs of words that are `equal`, `removed` (only in `a`) or `added` (only in `b`).

    >>> lookalike.diff("The cat sat on the mat.", "The dog sat on the mat!")
    [('equal', 'The '), ('removed', 'cat '), ('added', 'dog '), ('equal', 'sat on the mat.')]

    Words are equal as `profile` reads them. Of equal ones `context` stand beside a change, and `…` for the others; None shows all.
    What lies behind the part of very long texts that is compared is `uncompared`.
    """
    _check_texts(a, b)
    return [(change, "…" if text is None else text) for change, _, text in _core.diff(a, b, context, {"profile": profile})]


def _check_texts(*texts: object) -> None:
    for text in texts:
        if not isinstance(text, str):
            raise InputTypeError(f"texts are str, and not of type {type(text).__name__}")


def presets() -> dict[str, str]:
    """The presets by their names, each with a sentence. `lookalike presets NAME` says what differs from the original.

    >>> lookalike.presets()["fineweb"]
    'FineWeb (2024): MinHash of 5-word shingles in 14 bands of 8, aimed at pages that are 75 % alike.'
    """
    return _core.presets()


def methods(name: str | None = None) -> Any:
    """All methods, each as a dict with its parameters, formula, source and cost; or one of them, by name or alias.

    >>> [method["name"] for method in lookalike.methods()][:3]
    ['minhash', 'simhash', 'exact']
    >>> lookalike.methods("a12")["name"]
    'three-plus-five'
    """
    return json.loads(_core.methods(name))


class Index:
    """An index on disk: documents that are kept for ever, found by what they are like.

    >>> import tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> with lookalike.Index.create(folder.name + "/seen", threshold=0.7) as index:
    ...     added = index.add(["to be or not to be that is the question"], ids=["hamlet"])
    ...     again = index.query(["To be, or not to be, that is the question!"], ids=["mine"])
    >>> added.verdicts.to_pylist()
    [{'id': 'hamlet', 'new': True, 'witness': None, 'similarity': None, 'known': False}]
    >>> [(match["id"], match["similarity"]) for match in again[0]["matches"]]
    [('hamlet', 1.0)]
    >>> folder.cleanup()

    Documents are decided one after the other as `dedup` would decide them: each is new, or a kept one stands for it. One process can
    write to an index; any number can read it (`read=True`), each seeing the moment at which it was opened.
    """

    def __init__(
        self,
        folder: Path,
        *,
        read: bool = False,
        sync: bool = False,
        tail: int | str = "32M",
        memory: int | str | None = None,
    ) -> None:
        """Opens an index that is there."""
        options = {"sync": sync, "tail": tail, "memory": memory}
        self._memory = memory
        self._index = _core.Index(os.fspath(folder), read, options)

    @classmethod
    def create(
        cls,
        folder: Path,
        *,
        learn: Any = None,
        no_text: bool = False,
        method: str | Sequence[str] = _default("minhash"),
        threshold: float | str = _default(0.8),
        similarity: str = _default("jaccard"),
        shingle: int = _default(5),
        combine: str = "any",
        filter: str | None = None,
        lexicon: Path | None = None,
        recall: float | str = _default(0.98),
        unverified: bool = False,
        max_group: int | None = None,
        seed: int = 1,
        recipe: Path | None = None,
        preset: str | None = None,
        id: str = "id",
        text: str = "text",
        html: str = "html",
        url: str = "url",
        input_format: str | None = None,
        max_document_bytes: int | str = "32M",
        revisions: bool = False,
        namespaces: str = "0",
        content: str | None = None,
        profile: str = _default("web"),
        threads: int | None = None,
        memory: int | str | None = None,
        sync: bool = False,
        tail: int | str = "32M",
        progress: Progress | None = None,
    ) -> Index:
        """Makes a new index and opens it. What is asked for here is stored, and holds for everything that is added.

        `learn` has documents for methods that must know a collection.
        """
        options = _options(cls.create.__func__, locals())  # type: ignore[attr-defined]
        learned = None if learn is None else _own_source(learn, None, options)
        _core.Index.create(os.fspath(folder), learned, options)
        return cls(folder, sync=sync, tail=tail, memory=memory)

    def _source(self, documents: Any, ids: Any) -> _core.Source:
        import tomllib

        reading = tomllib.loads(self._index.recipe)["reading"]
        return _source(documents, ids, [reading[f"{name}-field"] for name in _ROLES])

    def add(
        self,
        documents: Any,
        *,
        ids: Any = None,
        replace: bool = False,
        threads: int | None = None,
        progress: Progress | None = None,
    ) -> Added:
        """Adds documents: each is new, or a kept one stands for it.

        A document whose id is there with the same words is the same document; one whose id is there with other words is refused,
        unless `replace` is given. Documents without an id are called `texts#0` and so on, anew with every call: give ids.
        """
        options = {"replace": replace, "threads": threads, "memory": self._memory, "progress": progress}
        return Added(self._index.add(self._source(documents, ids), options))

    def query(
        self,
        documents: Any,
        *,
        ids: Any = None,
        limit: int = 10,
        threads: int | None = None,
        progress: Progress | None = None,
    ) -> Table:
        """What documents are near-duplicates of: rows of `id`, how many there are in `total`, and the most similar ones in `matches`.
        `left_out` counts documents that share only very common keys and were not compared.

        Records that could not be read have no row.
        """
        options = {"limit": limit, "threads": threads, "memory": self._memory, "progress": progress}
        found: Table = self._index.query(self._source(documents, ids), options)["answers"]
        return found

    def remove(self, ids: Iterable[str] | str) -> dict[str, Any]:
        """Takes documents out by their ids; those that one of them stood for are decided anew.

        Returns how many were `removed`, and the ids that were `missing`.
        """
        removed, missing = self._index.remove([ids] if isinstance(ids, str) else list(ids))
        return {"removed": removed, "missing": missing}

    def merge(self, *others: Path, progress: Progress | None = None) -> Added:
        """Adds all documents of other indexes, as if they had come after those that are there; without any, the index becomes one
        segment."""
        options = {"memory": self._memory, "progress": progress}
        return Added(self._index.merge([os.fspath(other) for other in others], options))

    def stats(self) -> dict[str, Any]:
        """Counts of documents, and what they take."""
        stats: dict[str, Any] = json.loads(self._index.stats())
        return stats

    def check(self) -> dict[str, Any]:
        """Reads everything; `mistakes` is 0 where all is as it was written and holds together, else `wrong` says what is not."""
        checked: dict[str, Any] = json.loads(self._index.check())
        return checked

    @property
    def recipe(self) -> str:
        """What documents are read, found and measured by, as the text of `recipe.toml`."""
        return self._index.recipe

    def close(self) -> None:
        """Ends writing: what was added then survives the end of the machine, too."""
        self._index.close()

    def __enter__(self) -> Index:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()
