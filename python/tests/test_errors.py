"""Bad input: exceptions with the sentences of the command line."""

from __future__ import annotations

import pathlib
from typing import Any

import polars
import pyarrow
import pytest

import lookalike
from conftest import run, sentence

TEXTS = ["one two three", "four five six"]


@pytest.mark.parametrize("documents", [42, None, b"bytes", {"text": ["a"]}, object(), 1.5])
def test_wrong_types_are_told(documents: Any) -> None:
    with pytest.raises(lookalike.InputTypeError, match="and not of type " + type(documents).__name__):
        lookalike.dedup(documents)
    with pytest.raises(TypeError):
        lookalike.pairs(documents)


def test_a_wrong_type_inside_is_told_with_its_place() -> None:
    with pytest.raises(lookalike.InputTypeError, match="texts are str or None; number 1 is of type int"):
        lookalike.dedup(["a", 1])
    with pytest.raises(lookalike.InputTypeError, match="ids are str, int or None; number 0 is of type float"):
        lookalike.dedup(["a"], ids=[1.5])
    with pytest.raises(lookalike.InputTypeError, match="not of type Int64"):
        lookalike.dedup(pyarrow.array([1, 2]))
    with pytest.raises(lookalike.InputTypeError, match="ids are a column of strings or whole numbers"):
        lookalike.dedup(["a"], ids=pyarrow.array([1.5]))
    with pytest.raises(lookalike.InputTypeError, match="paths are str or os.PathLike; number 1 is of type int"):
        lookalike.dedup([pathlib.Path("a"), 1])
    with pytest.raises(lookalike.InputTypeError):
        lookalike.similarity("a", None)  # type: ignore[arg-type]


def test_unequal_lengths_are_told() -> None:
    for documents in (TEXTS, pyarrow.array(TEXTS), pyarrow.table({"text": TEXTS})):
        for ids in (["a"], pyarrow.array(["a", "b", "c"])):
            with pytest.raises(lookalike.UsageError, match="ids and 2 documents; give one id for each"):
                lookalike.dedup(documents, ids=ids)


def test_ids_do_not_go_with_files(pages: pathlib.Path) -> None:
    with pytest.raises(lookalike.UsageError, match="ids go with documents in memory"):
        lookalike.dedup(pages, ids=["a"])


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"method": "nobody"}, ["--method", "nobody"]),
        ({"method": "simhash:k=99"}, ["--method", "simhash:k=99"]),
        ({"method": "minhash:nothing=1"}, ["--method", "minhash:nothing=1"]),
        ({"method": "exact", "unverified": True}, ["--method", "exact", "--unverified"]),
        ({"method": "exact", "similarity": "edit"}, ["--method", "exact", "--similarity", "edit"]),
        ({"method": "simhash", "similarity": "containment"}, ["--method", "simhash", "--similarity", "containment"]),
        ({"memory": "1M"}, ["--memory", "1M"]),
        ({"annotate": True}, ["--annotate"]),
        ({"lexicon": "/nowhere/words"}, ["--lexicon", "/nowhere/words"]),
        ({"recipe": "/nowhere/recipe.toml"}, ["--recipe", "/nowhere/recipe.toml"]),
        ({"into": "/nowhere", "against": "/nowhere"}, ["--into", "/nowhere", "--against", "/nowhere"]),
    ],
    ids=str,
)
def test_sentences_are_those_of_the_command_line(
    options: dict[str, Any], words: list[str], pages: pathlib.Path, tmp_path: pathlib.Path
) -> None:
    done = run("dedup", pages, "-o", tmp_path / "out", *words)
    assert done.returncode in (1, 2)
    for documents in [pages] if "into" in options else [pages, TEXTS]:
        with pytest.raises(lookalike.Error) as caught:
            lookalike.dedup(documents, **options)
        assert str(caught.value) == sentence(done)


@pytest.mark.parametrize(
    ("name", "value", "flag"),
    [
        ("threshold", 2, "--threshold"),
        ("threshold", "x", "--threshold"),
        ("recall", 1, "--recall"),
        ("shingle", 0, "--shingle"),
        ("similarity", "taste", "--similarity"),
        ("keep", "best", "--keep"),
        ("profile", "nobody", "--profile"),
        ("max_document_bytes", "2G", "--max-document-bytes"),
        ("memory", "lots", "--memory"),
        ("threads", 0, "--threads"),
        ("seed", -1, "--seed"),
        ("input_format", "docx", "--input-format"),
        ("namespaces", "one", "--namespaces"),
    ],
)
def test_values_are_refused_for_the_reason_of_the_command_line(
    name: str, value: Any, flag: str, pages: pathlib.Path
) -> None:
    done = run("dedup", pages, "-o", "unused", f"{flag}={value}")
    assert done.returncode == 2
    reason = next(line for line in done.stderr.splitlines() if line.startswith("error: ")).partition("': ")[2]
    with pytest.raises(lookalike.UsageError) as caught:
        lookalike.dedup(TEXTS, **{name: value})
    assert str(caught.value) == f"invalid value '{value}' for '{name}': {reason}"


def test_options_of_a_wrong_type_are_told() -> None:
    wrong: list[dict[str, Any]] = [{"threshold": []}, {"unverified": 1}, {"method": 3.5j}, {"progress": 1}, {"output": 7}]
    for options in wrong:
        with pytest.raises(lookalike.InputTypeError, match=f"'{next(iter(options))}' is .* not of type"):
            lookalike.dedup(TEXTS, **options)
    for options in ({"cluster": "moon"}, {"combine": "some"}, {"write": "all"}, {"method": []}):
        with pytest.raises(lookalike.UsageError):
            lookalike.dedup(TEXTS, **options)
    with pytest.raises(TypeError):
        lookalike.dedup(TEXTS, nonsense=1)  # type: ignore[call-arg]


def test_missing_columns_are_told() -> None:
    with pytest.raises(lookalike.InputError, match='there is no column "text"; the columns are "x", "y"'):
        lookalike.dedup(pyarrow.table({"x": [1], "y": ["a"]}))


def test_a_column_that_a_frame_does_not_have_is_told_with_all_that_it_has() -> None:
    frame = polars.DataFrame({"doc_id": ["a", "b"], "content": ["a b c"] * 2, "lang": ["en"] * 2, "score": [1, 2]})
    right: dict[str, Any] = {"text": "content", "id": "doc_id", "within": "lang", "keep": "field:score:desc"}
    assert lookalike.dedup(frame, **right).removed["id"] == ["a"]
    wrong = {"text": "contents", "id": "docid", "within": "language", "keep": "field:scor:desc"}
    for name, value in wrong.items():
        for documents in (frame, frame.lazy(), frame.to_pandas(), frame.to_arrow()):
            with pytest.raises(lookalike.InputError) as told:
                lookalike.dedup(documents, **{**right, name: value})
            assert 'the columns are "doc_id", "content", "lang", "score"; did you mean ' in str(told.value), name
    with pytest.raises(lookalike.InputError, match="the parameter text names the column of the texts"):
        lookalike.dedup(frame)
    # A name of the other side is told as well, but its ids need not have one.
    other = polars.DataFrame({"body": ["a b c"], "lang": ["en"], "score": [0]})
    assert len(lookalike.dedup(frame, against=other, against_fields={"text": "body"}, **right).removed) == 2
    with pytest.raises(lookalike.InputError, match='no column "bodi"'):
        lookalike.dedup(frame, against=other, against_fields={"text": "bodi"}, **right)


def test_a_text_is_no_path() -> None:
    with pytest.raises(lookalike.UsageError, match="give texts in a list"):
        lookalike.dedup("a text of\ntwo lines")


def test_missing_files_are_told_as_on_the_command_line(tmp_path: pathlib.Path) -> None:
    for path in (tmp_path / "nowhere", tmp_path):
        done = run("dedup", path, "-o", tmp_path / ".." / "out")
        with pytest.raises(lookalike.InputError) as caught:
            lookalike.dedup(path)
        assert str(caught.value) == sentence(done) and isinstance(caught.value, OSError)


def test_folders_are_refused_as_on_the_command_line(pages: pathlib.Path, tmp_path: pathlib.Path) -> None:
    (tmp_path / "mine").write_text("mine")
    done = run("dedup", pages, "-o", tmp_path)
    with pytest.raises(lookalike.FolderError) as caught:
        lookalike.dedup(pages, output=tmp_path)
    assert str(caught.value) == sentence(done)
    lookalike.dedup(pages, output=tmp_path / "out")
    done = run("dedup", pages, "-o", tmp_path / "out", "--threshold", "0.7")
    with pytest.raises(lookalike.RecipeError) as other:
        lookalike.dedup(pages, output=tmp_path / "out", threshold=0.7)
    assert str(other.value) == sentence(done)
    with pytest.raises(lookalike.UsageError, match="lies inside the input"):
        lookalike.dedup(pages.parent, output=pages.parent / "out")
    with pytest.raises(lookalike.OutputError):
        lookalike.dedup(TEXTS, scratch=tmp_path / "nowhere")


def test_a_table_wants_a_new_folder(tmp_path: pathlib.Path) -> None:
    lookalike.dedup(TEXTS, output=tmp_path / "out")
    with pytest.raises(lookalike.UsageError, match="name a new folder"):
        lookalike.dedup(TEXTS, output=tmp_path / "out")
    with pytest.raises(lookalike.UsageError, match="added to an index by Index.add"):
        lookalike.dedup(TEXTS, into=tmp_path / "index")
    with pytest.raises(lookalike.UsageError, match="name one by output"):
        lookalike.dedup(TEXTS, write="kept")


def test_strict_is_an_exception_with_the_result() -> None:
    with pytest.raises(lookalike.RejectedError, match="1 rejected, the first in texts at 1: missing field") as caught:
        lookalike.dedup(["a b c", None], strict=True)
    assert isinstance(caught.value.result, lookalike.Result) and caught.value.result.summary["kept"] == 1


def test_scratch_is_gone_after_errors(tmp_path: pathlib.Path) -> None:
    with pytest.raises(lookalike.Error):
        lookalike.dedup(TEXTS, scratch=tmp_path, memory="1M")
    with pytest.raises(ZeroDivisionError):
        lookalike.dedup(["a b c"] * 200_000, scratch=tmp_path, progress=lambda *_: 1 / 0)
    assert list(tmp_path.iterdir()) == []


def test_all_exceptions_are_errors() -> None:
    for name in lookalike.__all__:
        kind = getattr(lookalike, name)
        if isinstance(kind, type) and issubclass(kind, Exception):
            assert issubclass(kind, lookalike.Error) and kind.__doc__
