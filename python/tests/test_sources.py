"""Documents come from lists, Arrow, pandas, polars and datasets, and give the same results."""

from __future__ import annotations

import gc
import pathlib
import sys
import warnings
from typing import Any

import datasets
import numpy
import pandas
import polars
import pyarrow
import pytest

import lookalike


def tables(columns: dict[str, list[Any]]) -> dict[str, Any]:
    table = pyarrow.table(columns)
    half = len(table) // 2
    return {
        "pyarrow table": table,
        "chunks": pyarrow.concat_tables([table.slice(0, half), table.slice(half, 3), table.slice(half + 3)]),
        "record batch": table.combine_chunks().to_batches()[0],
        "a slice": pyarrow.concat_tables([table.slice(0, 10), table]).slice(10),
        "large strings": table.cast(pyarrow.schema([(name, pyarrow.large_string()) for name in columns])),
        "views": table.cast(pyarrow.schema([(name, pyarrow.string_view()) for name in columns])),
        "a reader": table.to_reader(max_chunksize=100),
        "pandas": pandas.DataFrame(columns),
        "pandas with a column of anything": pandas.DataFrame({**columns, "other": [object()] * len(table)}),
        "pandas of Arrow": table.to_pandas(types_mapper=pandas.ArrowDtype),
        "polars": polars.DataFrame(columns),
        "a dataset": datasets.Dataset.from_dict(columns),
        "a dataset in another order": datasets.Dataset.from_dict(
            {name: values[::-1] for name, values in columns.items()}
        ).select(range(len(table) - 1, -1, -1)),
    }


def test_every_table_gives_the_same_result(plain: dict[str, list[Any]]) -> None:
    expected = lookalike.dedup(plain["text"], ids=plain["id"])
    assert len(expected.removed) > 100 and expected.summary["rejected"] == 1
    for name, table in tables(plain).items():
        found = lookalike.dedup(table)
        assert found.removed == expected.removed, name
        assert found.clusters == expected.clusters, name
        assert found.kept_mask == expected.kept_mask, name
        assert found.rejected == expected.rejected, name


def test_every_column_gives_the_same_result(plain: dict[str, list[Any]]) -> None:
    texts, ids = plain["text"], plain["id"]
    expected = lookalike.dedup(texts, ids=ids)
    sources: dict[str, Any] = {
        "tuple": (tuple(texts), tuple(ids)),
        "generator": ((text for text in texts), (id for id in ids)),
        "pyarrow": (pyarrow.array(texts), pyarrow.array(ids)),
        "chunks": (pyarrow.chunked_array([texts[:7], texts[7:]]), pyarrow.chunked_array([ids[:900], [], ids[900:]])),
        "pandas": (pandas.Series(texts), pandas.Series(ids)),
        "polars": (polars.Series(texts), polars.Series(ids)),
        "numpy": (numpy.array(texts, dtype=object), numpy.array(ids, dtype=object)),
        "mixed": (polars.Series(texts), ids),
        "with a table": (pyarrow.table({"text": texts, "id": ["x"] * len(texts)}), ids),
    }
    for name, (documents, names) in sources.items():
        found = lookalike.dedup(documents, ids=names)
        assert found.removed == expected.removed and found.clusters == expected.clusters, name


def test_names_of_columns_can_be_others() -> None:
    table = pyarrow.table({"docid": [7, 8, 9], "body": ["a b c d e f"] * 2 + ["no"], "text": [1, 2, 3]})
    found = lookalike.dedup(table, id="docid", text="body")
    assert found.removed["id"] == ["8"] and found.removed["witness"] == ["7"]


def test_columns_of_categories_and_dates_are_values_like_others() -> None:
    columns = {"text": ["a b c d e"] * 4, "lang": ["en", "de", "en", None], "day": [1, 2, 3, 4]}
    table = pyarrow.table(columns)
    table = table.set_column(1, "lang", table["lang"].dictionary_encode())
    for kind in (pyarrow.date32(), pyarrow.timestamp("s"), pyarrow.timestamp("us", "UTC"), pyarrow.timestamp("ns")):
        wide = pyarrow.int32() if kind == pyarrow.date32() else pyarrow.int64()
        dated = table.set_column(2, "day", table["day"].cast(wide).cast(kind))
        found = lookalike.dedup(dated, keep="field:day:desc", within="lang")
        assert found.kept_mask.to_pylist() == [False, True, True, True], kind
    frame = polars.DataFrame(columns, schema_overrides={"lang": polars.Categorical})
    assert lookalike.dedup(frame, within="lang").removed["n"] == [2]
    texts = pyarrow.table({"text": pyarrow.array(columns["text"]).dictionary_encode()})
    assert len(lookalike.dedup(texts).removed) == 3


def test_what_is_not_a_number_comes_last() -> None:
    frame = polars.DataFrame({"text": ["a b c d e"] * 4, "score": [float("nan"), 9.0, 10.0, None]})
    assert lookalike.dedup(frame, keep="field:score:desc").kept_mask[:] == [False, False, True, False]
    assert lookalike.dedup(frame, keep="field:score:asc").kept_mask[:] == [False, True, False, False]


def test_a_lazy_frame_is_collected() -> None:
    frame = polars.LazyFrame({"text": ["a b c d e"] * 2})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert lookalike.dedup(frame).kept_mask.to_pylist() == [True, False]


def test_rejected_rows_have_their_ids_and_are_counted_as_rows() -> None:
    found = lookalike.dedup(polars.DataFrame({"id": [7, 8], "text": ["a b c", None]}))
    assert found.rejected["id"] == ["8"] and found.summary["reasons"][0]["unit"] == "row"


def test_whole_numbers_are_names() -> None:
    found = lookalike.dedup(["same words here", "same words here"], ids=[10, 2**70])
    assert found.removed["id"] == [str(2**70)] and found.removed["witness"] == ["10"]


def test_html_is_used_where_there_is_no_text() -> None:
    table = pyarrow.table({"text": [None, "one two three"], "html": ["<p>one <b>two</b> three", "<p>other"]})
    assert lookalike.dedup(table).kept_mask.to_pylist() == [True, False]


def test_missing_values_are_rejected_and_told_of() -> None:
    frame = pandas.DataFrame({"text": ["a b c", None, float("nan"), ""]})
    for documents in (["a b c", None, None, ""], frame, polars.DataFrame({"text": ["a b c", None, None, ""]})):
        found = lookalike.dedup(documents)
        assert found.rejected["position"] == [1, 2]
        assert found.rejected["reason"] == ['missing field: neither "text" nor "html" is there'] * 2
        assert found.kept_mask.to_pylist() == [True, False, False, True]
    nothing = pyarrow.array([None, None])
    assert lookalike.dedup(nothing, max_rejected="100%").summary["rejected"] == 2
    with pytest.raises(lookalike.InputError, match="2 of 2 records"):
        lookalike.dedup(nothing)


def test_a_surrogate_costs_its_own_text() -> None:
    found = lookalike.dedup(["a b c", "\ud800", "a b c"])
    assert found.rejected["reason"] == ["invalid UTF-8: the text has a surrogate that stands alone"]
    assert found.kept_mask.to_pylist() == [True, False, False]


def test_nothing_is_something() -> None:
    for empty in ([], pyarrow.table({"text": pyarrow.array([], pyarrow.string())}), polars.DataFrame({"text": []})):
        found = lookalike.dedup(empty)
        assert found.summary["documents"] == 0 and len(found.kept_mask) == 0 and found.removed.to_pylist() == []


def test_fields_choose_and_part() -> None:
    texts = ["one two three four"] * 4
    table = pyarrow.table({"text": texts, "score": [3.0, 1.5, None, 2.0], "host": ["a", "a", "b", "b"]})
    assert lookalike.dedup(table, keep="field:score").kept_mask.to_pylist() == [False, True, False, False]
    assert lookalike.dedup(table, keep="field:score:desc").kept_mask.to_pylist() == [True, False, False, False]
    assert lookalike.dedup(table, within="host").kept_mask.to_pylist() == [True, False, True, False]
    frame = table.to_pandas()
    assert lookalike.dedup(frame, keep="field:score", within="host").kept_mask.to_pylist() == [False, True, False, True]
    with pytest.raises(lookalike.InputError, match='no column "rank"'):
        lookalike.dedup(table, keep="field:rank")


def test_strings_are_borrowed_and_given_back() -> None:
    text = "words that nobody else holds " * 3
    texts = [text, "ümlaut " * 5, None]
    before = sys.getrefcount(text)
    found = lookalike.dedup(texts)
    gc.collect()
    assert sys.getrefcount(text) == before and len(found.kept_mask) == 3


def test_another_corpus_removes_too(plain: dict[str, list[Any]]) -> None:
    texts = plain["text"]
    found = lookalike.dedup(texts[:500], ids=plain["id"][:500], against=polars.Series(texts[:1]))
    first = found.removed[0]
    assert first["id"] == plain["id"][0] and first["witness"] == "against#0"
    assert found.kept_mask[0] is False


def test_a_list_of_paths_is_files_and_a_list_of_strings_is_texts(pages: pathlib.Path) -> None:
    assert lookalike.dedup([str(pages)]).summary["documents"] == 1
    assert lookalike.dedup([pages]).summary["documents"] == 2000
    assert lookalike.dedup(str(pages)).summary["documents"] == 2000


def test_each_side_can_have_its_own_names() -> None:
    text = "a rose is a rose is a rose, said the gardener to his guests"
    here = pyarrow.table({"id": ["a", "b"], "text": [text, "something else that nobody has said before"]})
    there = pyarrow.table({"key": ["c"], "body": [text]})
    fields = {"id": "key", "text": "body"}
    found = lookalike.dedup(here, against=there, against_fields=fields)
    assert [(row["id"], row["witness"]) for row in found.removed] == [("a", "c")]
    found = lookalike.compare(here, there, right_fields=fields)
    assert [(row["a"], row["b"]) for row in found.pairs] == [("a", "c")]
    with pytest.raises(lookalike.UsageError, match="names no field that is looked at"):
        lookalike.dedup(here, against=there, against_fields={"body": "text"})
    with pytest.raises(lookalike.InputTypeError, match="a dict of names"):
        lookalike.dedup(here, against=there, against_fields="body")


def test_too_many_rejected_records_are_an_error() -> None:
    texts: list[str | None] = [f"text number {number} is like no other, word{number}" for number in range(100)]
    texts[:11] = [None] * 11
    with pytest.raises(lookalike.InputError, match="11 of 100 records"):
        lookalike.dedup(texts)
    for enough in (11, 0.11, "11%"):
        assert len(lookalike.dedup(texts, max_rejected=enough).rejected) == 11
