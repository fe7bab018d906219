"""An index: made, added to, asked, merged, checked."""

from __future__ import annotations

import json
import pathlib
from typing import Any

import pyarrow
import pytest

import lookalike
from conftest import run, sentence


def test_an_index_decides_as_dedup_does(columns: dict[str, list[Any]], tmp_path: pathlib.Path) -> None:
    with lookalike.Index.create(tmp_path / "seen") as index:
        added = index.add(pyarrow.table(columns))
        found = lookalike.dedup(pyarrow.table(columns))
        gone = [row for row in added.verdicts if not row["new"]]
        assert [row["id"] for row in gone] == found.removed["id"]
        assert [row["witness"] for row in gone] == found.removed["witness"]
        assert added.summary["new"] == found.summary["kept"] and added.summary["rejected"] == 1
        assert added.rejected["position"] == [1000]
        assert index.stats()["documents"] == 1999 and index.check()["mistakes"] == 0
    done = run("index", "check", tmp_path / "seen", "--json")
    assert json.loads(done.stdout)["mistakes"] == 0


def test_answers_are_those_of_the_command_line(
    pages: pathlib.Path, columns: dict[str, list[Any]], tmp_path: pathlib.Path
) -> None:
    assert run("index", "create", tmp_path / "seen").returncode == 0
    assert run("index", "add", tmp_path / "seen", pages).returncode == 0
    expected = [json.loads(line) for line in run("index", "query", tmp_path / "seen", pages).stdout.splitlines()]
    expected = [row for row in expected if "id" in row]
    index = lookalike.Index(tmp_path / "seen", read=True)
    for documents in (pages, pyarrow.table(columns)):
        found = index.query(documents).to_pylist()
        for row in found:
            assert row.pop("left_out") == 0
            row["matches"] = [{k: v for k, v in match.items() if v is not None} for match in row["matches"]]
        assert found == expected
    assert len(index.query(pyarrow.table(columns).slice(0, 1), limit=0)[0]["matches"]) == 0
    with pytest.raises(lookalike.UsageError, match="open for reading alone"):
        index.add(["one"])
    index.close()
    index.close()
    with pytest.raises(lookalike.UsageError, match="was closed; open it again"):
        index.stats()


def test_documents_go_come_and_merge(tmp_path: pathlib.Path) -> None:
    rose, lily = "a rose is a rose is a rose is a rose", "lilies that fester smell far worse than weeds"
    with lookalike.Index.create(tmp_path / "one") as one, lookalike.Index.create(tmp_path / "two") as two:
        assert one.add([rose, rose], ids=["a", "b"]).summary["removed"] == 1
        assert one.add([rose], ids=["a"]).summary["known"] == 1
        conflict = one.add([lily], ids=["a"])
        assert conflict.summary["conflicts"] == 1
        assert conflict.verdicts[0]["error"] == "the id is there with other words"
        assert one.add([lily], ids=["a"], replace=True).summary["new"] == 1
        two.add([lily, rose], ids=["c", "d"])
        two.close()
        merged = one.merge(tmp_path / "two")
        assert [row["new"] for row in merged.verdicts] == [False, False]
        assert one.merge().summary["new"] == 0 and one.stats()["segments"] == 1
        assert one.remove(["a", "nobody"]) == {"removed": 1, "missing": ["nobody"]}
        assert one.remove("b")["removed"] == 1
        assert one.query([rose])[0]["total"] == 1
        with pytest.raises(lookalike.UsageError, match="an index cannot be added to itself"):
            one.merge(tmp_path / "one")
        assert "minhash" in one.recipe


def test_an_index_has_the_fields_it_was_told(tmp_path: pathlib.Path) -> None:
    with lookalike.Index.create(tmp_path / "seen", text="body", id="docid") as index:
        added = index.add(pyarrow.table({"docid": [1], "body": ["to be or not to be"]}))
        assert added.verdicts["id"] == ["1"]


def test_methods_learn_before_the_first_document(columns: dict[str, list[Any]], tmp_path: pathlib.Path) -> None:
    with pytest.raises(lookalike.UsageError, match="imatch weighs words by a collection"):
        lookalike.Index.create(tmp_path / "seen", method="imatch")
    with lookalike.Index.create(tmp_path / "seen", method="imatch", learn=columns["text"]) as index:
        assert index.add(columns["text"][:100]).summary["new"] > 50


def test_sentences_are_those_of_the_command_line(tmp_path: pathlib.Path) -> None:
    done = run("index", "stats", tmp_path / "nowhere")
    with pytest.raises(lookalike.FolderError) as caught:
        lookalike.Index(tmp_path / "nowhere")
    assert str(caught.value) == sentence(done)
    index = lookalike.Index.create(tmp_path / "seen")
    done = run("index", "add", tmp_path / "seen", __file__)
    with pytest.raises(lookalike.LockedError) as locked:
        lookalike.Index(tmp_path / "seen")
    assert str(locked.value) == sentence(done)
    index.close()
    with pytest.raises(lookalike.FolderError, match="is not empty; name a new folder"):
        lookalike.Index.create(tmp_path / "seen")
