"""The limit on rejected rows of Spark's driver: the rule and the sentence of one machine. No cluster is needed for that."""

from __future__ import annotations

import re
from typing import Any

import lookalike
import pytest
from lookalike.spark import _command
from lookalike.spark._stages import Example, _rejections, limit, refuse_rejected

core = lookalike._core.spark
REASON = 'missing field: neither "text" nor "html" is there'


def on_one_machine(rows: int, rejected: int, most: Any) -> str | None:
    """What `lookalike.dedup` says of a corpus with so many rejected records, if it refuses it."""
    texts: list[str | None] = [f"text number {number} is like no other, word{number}" for number in range(rows)]
    texts[:rejected] = [None] * rejected
    try:
        lookalike.dedup(texts, max_rejected=most)
    except lookalike.TooManyRejectedError as error:
        return str(error)
    return None


def by_the_driver(tables: list[tuple[str, int, int]], most: Any, example: Example = (3, REASON, "x")) -> str | None:
    asked = []

    def reason(place: int) -> Example:
        asked.append(place)
        return example

    try:
        refuse_rejected(tables, most, reason)
    except lookalike.TooManyRejectedError as error:
        assert len(asked) == 1, "only one table that has too many is asked for its reasons"
        return str(error)
    assert not asked, "reasons take work, and nobody needs them"
    return None


@pytest.mark.parametrize("most", [None, 0, 3, 10, 0.05, "5%", "11%", "100%"])
def test_the_limit_is_that_of_one_machine(most: Any) -> None:
    for rows, rejected in [(3, 0), (3, 2), (3, 3), (99, 98), (100, 10), (100, 11), (120, 6), (120, 7)]:
        if rows == rejected and most in (3, 10):
            # One machine looks at the first records before the work, and refuses a list of which none can be read.
            continue
        there = on_one_machine(rows, rejected, most)
        here = by_the_driver([("the input", rows, rejected)], most, (rejected, REASON, None))
        assert (there is None) == (here is None), (rows, rejected)
        if there is not None and here is not None:
            # Rows of a table on a cluster have no position, and a list that is refused at first sight is called by its name.
            told = re.sub(r" \(the first in texts, (row|byte) 0\)", "", there)
            assert here == told.replace("records of texts were", "records of the input were")


def test_the_first_row_is_named_where_it_has_an_id() -> None:
    sentence = by_the_driver([("the input", 200, 40)], None, (30, REASON, "page-7"))
    assert sentence == (
        f"40 of 200 records of the input were rejected, and no more than 10% may be: 30 × {REASON} (the first with the id page-7); "
        "mend the input or name the right fields, or allow more with --max-rejected"
    )


def test_each_of_two_tables_counts_by_itself() -> None:
    facts = {"documents": 1000, "rejected": 60, "left": 100, "left_rejected": 11}
    assert _rejections(facts, "dedup") == [("the input", 100, 11)]
    tables = _rejections(facts, "compare")
    assert tables == [("the left side", 100, 11), ("the right side", 900, 49)]
    assert (by_the_driver(tables, None) or "").startswith("11 of 100 records of the left side were rejected")
    assert (by_the_driver(tables, 20) or "").startswith("49 of 900 records of the right side were rejected")
    assert by_the_driver(tables, 49) is None


def test_a_limit_that_makes_no_sense_is_refused() -> None:
    for wrong in ("many", "101%", 1.5):
        with pytest.raises(lookalike.UsageError, match="a number of records or a share of them is wanted"):
            core.too_many_rejected(0, 0, limit(wrong))


def test_the_command_ends_with_a_code_of_its_own(capsys: pytest.CaptureFixture[str], tmp_path: Any) -> None:
    with pytest.raises(lookalike.InputError) as raised:
        refuse_rejected([("the input", 5, 5)], None, lambda place: (5, REASON, None))
    assert _command._told(raised.value) == (4, str(raised.value))
    pages = tmp_path / "pages.jsonl"
    pages.write_text('{"id": "a", "text": "one rose"}\n')
    # Before a session is started.
    for command in (["dedup", "-o", "out"], ["pairs", "-o", "out.jsonl"], ["compare", "-o", "out", "--with", str(pages)]):
        name, option, output, *more = command
        typed = [name, str(pages), option, str(tmp_path / output), *more, "--max-rejected", "many"]
        assert _command.main(typed) == 2
        assert "a number of records or a share of them is wanted" in capsys.readouterr().err
