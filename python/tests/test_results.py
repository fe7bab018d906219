"""The rows of the command line, for all options; and what can be done with them."""

from __future__ import annotations

import json
import pathlib
import threading
import tomllib
from typing import Any

import pandas
import polars
import pyarrow
import pytest

import lookalike
from conftest import rows, run

OPTIONS: list[dict[str, Any]] = [
    {},
    {"threshold": 0.6, "keep": "longest"},
    {"method": "exact", "similarity": "containment", "cluster": "components"},
    {"method": ["simhash", "a12"], "combine": "any", "seed": 3},
    {"method": "imatch", "unverified": True},
    {"method": "minhash:values=64", "filter": "simhash", "shingle": 3, "profile": "thesis"},
    {"within": "@host", "recall": 0.9, "max_group": 50},
]


def typed(options: dict[str, Any]) -> list[str]:
    """Keywords as the command line has them."""
    words = []
    for name, value in options.items():
        flag = "--" + name.replace("_", "-")
        for one in value if isinstance(value, list) else [value]:
            words += [flag] if one is True else [flag, str(one)]
    return words


def placeless(summary: dict[str, Any]) -> dict[str, Any]:
    """A summary that says nothing of where rejected records stand."""
    reasons = [{"kind": reason["kind"], "count": reason["count"], "reason": reason["reason"]} for reason in summary["reasons"]]
    return {**summary, "reasons": reasons}


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_dedup_is_the_command_line(
    options: dict[str, Any], pages: pathlib.Path, columns: dict[str, list[Any]], tmp_path: pathlib.Path
) -> None:
    done = run("dedup", pages, "-o", tmp_path / "out", *typed(options))
    assert done.returncode == 0, done.stderr
    expected = rows(tmp_path / "out" / "removed.jsonl")
    assert len(expected) > 20
    counts = json.loads((tmp_path / "out" / "summary.json").read_text())
    assert set(counts.pop("files")) == {"clusters.jsonl", "recipe.toml", "rejected.jsonl", "removed.jsonl", "report.html"}
    assert len(counts.pop("checksum")) == 32
    for documents in (pyarrow.table(columns), pages):
        found = lookalike.dedup(documents, threads=3, **options)
        assert found.removed.to_pylist() == expected
        assert found.clusters.to_pylist() == rows(tmp_path / "out" / "clusters.jsonl")
        assert placeless(found.summary) == placeless(counts)
        assert found.recipe == (tmp_path / "out" / "recipe.toml").read_text()
        gone = {row["n"] for row in expected} | {1000}
        assert found.kept_mask.to_pylist() == [n not in gone for n in range(2000)]


@pytest.mark.parametrize("options", [{}, {"all": True, "threshold": 0.9}, {"similarity": "containment", "method": "exact"}], ids=str)
def test_pairs_are_the_command_line(
    options: dict[str, Any], pages: pathlib.Path, columns: dict[str, list[Any]], tmp_path: pathlib.Path
) -> None:
    done = run("pairs", pages, "-o", tmp_path / "pairs.jsonl", *typed(options))
    assert done.returncode == 0, done.stderr
    expected = rows(tmp_path / "pairs.jsonl")
    assert len(expected) > 20
    for documents in (polars.DataFrame(columns), str(pages)):
        found = lookalike.pairs(documents, **options)
        assert [{k: v for k, v in row.items() if v is not None} for row in found.pairs] == expected
        assert found.summary["pairs"] == len(expected)
    again = lookalike.pairs(pages, output=tmp_path / "more.jsonl.gz", **options)
    assert again.pairs == found.pairs and (tmp_path / "more.jsonl.gz.job" / "summary.json").exists()
    assert lookalike.pairs(pages, output=tmp_path / "more.jsonl.gz", **options).pairs == found.pairs


def test_compare_is_the_command_line(pages: pathlib.Path, columns: dict[str, list[Any]], tmp_path: pathlib.Path) -> None:
    lines = pages.read_text(encoding="utf-8").splitlines(keepends=True)
    left, right = tmp_path / "left.jsonl", tmp_path / "right.jsonl"
    left.write_text("".join(lines[:1200]), encoding="utf-8")
    right.write_text("".join(lines[1200:]), encoding="utf-8")
    done = run("compare", left, "--with", right, "-o", tmp_path / "out", "--method", "minhash", "--method", "simhash")
    assert done.returncode == 0, done.stderr
    table = pyarrow.table(columns)
    for one, two in ((left, right), (table.slice(0, 1200), table.slice(1200))):
        found = lookalike.compare(one, two, method=["minhash", "simhash"])
        assert found.pairs.to_pylist() == rows(tmp_path / "out" / "pairs.jsonl")
        assert found.best.to_pylist() == rows(tmp_path / "out" / "best.jsonl")
        assert found.summary["pairs"] == len(found.pairs) > 10
    assert found.rejected["side"] == ["left"]


def test_a_preset_decides_what_is_not_given(pages: pathlib.Path) -> None:
    def settings(**given: object) -> tuple[object, ...]:
        recipe = tomllib.loads(lookalike.dedup(pages, **given).recipe)
        return recipe["threshold"], recipe["shingle"], recipe["method"][0]["name"]

    assert settings(preset="fineweb") == ("0.75", 5, "minhash")
    assert settings(preset="copycat") == ("0.6667", 8, "simhash")
    # Also a value that is the default without a preset.
    assert settings(preset="copycat", threshold=0.8, shingle=5, method="minhash") == ("0.8", 5, "minhash")
    with pytest.raises(lookalike.UsageError, match="no preset is called"):
        lookalike.dedup(pages, preset="finweb")
    with pytest.raises(lookalike.UsageError, match="leave one of them out"):
        lookalike.dedup(pages, preset="fineweb", recipe="recipe.toml")
    assert "copycat" in lookalike.presets()


def test_a_recipe_is_replayed(pages: pathlib.Path, tmp_path: pathlib.Path) -> None:
    first = lookalike.dedup(pages, threshold=0.6, keep="longest", output=tmp_path / "out")
    again = lookalike.dedup(pages, recipe=tmp_path / "out" / "recipe.toml")
    assert again.removed == first.removed and again.recipe == first.recipe
    with pytest.raises(lookalike.UsageError, match="the recipe has threshold already"):
        lookalike.dedup(pages, recipe=tmp_path / "out" / "recipe.toml", threshold=0.7)


def test_tables_go_where_they_are_wanted(plain: dict[str, list[Any]]) -> None:
    found = lookalike.dedup(plain["text"], ids=plain["id"])
    removed, plain = found.removed, found.removed.to_pylist()
    assert len(removed) == len(plain) and list(removed) == plain
    assert removed[-1] == plain[-1] and removed["id"] == [row["id"] for row in plain]
    assert removed.columns == ["id", "witness", "similarity", "cluster", "n", "witness_n"]
    assert removed.to_arrow().to_pylist() == plain == pyarrow.table(removed).to_pylist()
    assert removed.to_polars().to_dicts() == plain and polars.DataFrame(found.clusters).shape == (len(found.clusters), 4)
    assert removed.to_pandas().to_dict("records") == plain
    assert removed.to_pydict()["n"] == removed["n"]
    assert lookalike.dedup(["a b"]).removed.to_arrow().num_rows == 0
    with pytest.raises(IndexError):
        removed[len(removed)]
    with pytest.raises(KeyError):
        removed["nobody"]
    with pytest.raises(TypeError):
        removed[1.5]  # type: ignore[call-overload]


def test_tables_are_cut_and_shown() -> None:
    found = lookalike.dedup(["a b c", "a b c", "<b> x" * 50, "<b> x" * 50, "a b c"], ids=["one", "<two>", "three", "four", "five"])
    assert [row["id"] for row in found.removed[:2]] == ["<two>", "four"] and found.removed[5:] == []
    assert found.kept_mask[::2] == [True, True, False] and found.kept_mask[-1] is False
    shown = found.removed._repr_html_()
    assert "<td>&lt;two&gt;</td>" in shown and shown.endswith("<p>3 rows</p>")
    assert repr(lookalike.dedup(["a b c", "a b c"]).removed).startswith("<lookalike.Table of 1 row: ")


def test_a_mask_chooses_rows(plain: dict[str, list[Any]]) -> None:
    mask = lookalike.dedup(plain["text"]).kept_mask
    kept = [text for text, stays in zip(plain["text"], mask, strict=True) if stays]
    assert mask == mask.to_pylist() and len(kept) == sum(mask.to_pylist())
    assert pyarrow.table(plain).filter(pyarrow.array(mask))["text"].to_pylist() == kept
    assert pandas.DataFrame(plain)[mask.to_numpy()]["text"].tolist() == kept
    assert polars.DataFrame(plain).filter(polars.Series(mask.to_pylist()))["text"].to_list() == kept
    assert mask[-1] is mask[len(mask) - 1]


def test_results_do_not_depend_on_threads_or_memory(plain: dict[str, list[Any]], tmp_path: pathlib.Path) -> None:
    one = lookalike.dedup(plain["text"], threads=1, memory="512M", spool="disk", scratch=tmp_path)
    many = lookalike.dedup(plain["text"], threads=7, spool="none", scratch=tmp_path)
    assert one.removed == many.removed and one.clusters == many.clusters
    assert list(tmp_path.iterdir()) == []


def test_threads_of_python_work_beside_each_other(plain: dict[str, list[Any]]) -> None:
    expected = lookalike.dedup(plain["text"]).removed
    found: list[Any] = [None] * 4

    def work(number: int) -> None:
        found[number] = lookalike.dedup(plain["text"], threads=1).removed

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    [thread.start() for thread in threads]
    beats = 0
    while any(thread.is_alive() for thread in threads):
        threads[0].join(0.01)
        beats += 1
    assert all(one == expected for one in found) and beats > 1


def test_sketches_share_keys_where_pairs_are_proposed(columns: dict[str, list[Any]]) -> None:
    made = lookalike.sketch(pyarrow.table(columns))
    assert len(made) == 2000 and made["id"][:2] == columns["id"][:2]
    assert made[1000]["keys"] is None and made[1000]["rejected"].startswith("missing field")
    keys = [set(keys or ()) for keys in made["keys"]]
    found = lookalike.dedup(pyarrow.table(columns)).removed
    # A witness may have been found through another one that was removed.
    shared = [bool(keys[row["n"]] & keys[row["witness_n"]]) for row in found]
    assert sum(shared) > 0.9 * len(shared)
    equal = [row for row in found if made["digest"][row["n"]] == made["digest"][row["witness_n"]]]
    assert equal and all(row["similarity"] == 1.0 for row in equal)
    types = made.to_arrow().schema
    assert types.field("keys").type == pyarrow.list_(pyarrow.uint64()) and types.field("payload").type == pyarrow.binary()


def test_sketches_of_methods_that_must_know_a_corpus(columns: dict[str, list[Any]], pages: pathlib.Path, tmp_path: pathlib.Path) -> None:
    learned = lookalike.sketch(pyarrow.table(columns), method="imatch", threads=1)
    assert lookalike.sketch(pyarrow.table(columns), method="imatch", threads=4) == learned
    assert any(learned["keys"][0]) and lookalike.sketch(pages, method="imatch")["keys"] == learned["keys"]
    lexicon = tmp_path / "words.lexicon"
    assert run("lexicon", pages, "-o", lexicon, "--profile", "kolcz").returncode == 0
    assert len(lookalike.sketch(columns["text"][:10], method="imatch", lexicon=lexicon)) == 10


def test_similarity_is_what_pairs_are_measured_by(plain: dict[str, list[Any]]) -> None:
    ids = {id: text for id, text in zip(plain["id"], plain["text"], strict=True)}
    for options in ({}, {"similarity": "cosine-tf", "shingle": 2}, {"similarity": "edit"}):
        found = lookalike.pairs(plain["text"][:300], ids=plain["id"][:300], **options).pairs
        assert len(found) > 3
        for row in list(found)[:20]:
            assert lookalike.similarity(ids[row["a"]], ids[row["b"]], **options) == row["similarity"]
    assert lookalike.similarity("", "") == 0.0
    assert lookalike.similarity("one two", "three four") == 0.0


def test_methods_are_those_of_the_command_line() -> None:
    assert lookalike.methods() == json.loads(run("methods", "--json").stdout)
    assert lookalike.methods("simhash:k=5") == json.loads(run("methods", "--json", "simhash:k=5").stdout)
