"""Files: larger than memory, resumed, watched and stopped."""

from __future__ import annotations

import pathlib
import signal
import subprocess
import sys
import time

import pytest

import lookalike
from conftest import run


def test_a_job_on_files_leaves_the_files_of_the_command_line(pages: pathlib.Path, tmp_path: pathlib.Path) -> None:
    found = lookalike.dedup(pages, output=tmp_path / "ours", write="kept", annotate=True)
    assert found.folder == str(tmp_path / "ours") or found.folder == tmp_path / "ours"
    done = run("dedup", pages, "-o", tmp_path / "theirs", "--write", "kept", "--annotate")
    assert done.returncode == 0, done.stderr

    def files(folder: pathlib.Path) -> dict[str, bytes]:
        all = {str(path.relative_to(folder)): path for path in folder.rglob("*") if path.is_file()}
        return {name: path.read_bytes() for name, path in all.items() if name != "run.json"}

    assert files(tmp_path / "ours") == files(tmp_path / "theirs")
    assert f"kept/{pages.name}" in files(tmp_path / "ours")


def test_a_finished_job_is_read_again(pages: pathlib.Path, tmp_path: pathlib.Path) -> None:
    first = lookalike.dedup(pages, output=tmp_path / "out")
    again = lookalike.dedup(pages, output=tmp_path / "out")
    assert again.removed == first.removed and again.kept_mask == first.kept_mask and again.summary == first.summary
    assert again.kept_mask[1000] is False


def test_progress_is_told(pages: pathlib.Path) -> None:
    told: list[tuple[str, int, int | None]] = []
    lookalike.dedup(["a few words that differ " + str(n) for n in range(200_000)], progress=lambda *all: told.append(all))
    assert told and "sketch" in {stage for stage, _, _ in told}
    for stage, done, total in told:
        assert isinstance(stage, str) and done >= 0 and (total is None or isinstance(total, int))


def test_an_index_goes_day_by_day(pages: pathlib.Path, tmp_path: pathlib.Path) -> None:
    lines = pages.read_text(encoding="utf-8").splitlines(keepends=True)
    removed = 0
    for day in range(2):
        part = tmp_path / f"day{day}.jsonl"
        part.write_text("".join(lines[day * 1000 : (day + 1) * 1000]), encoding="utf-8")
        against = tmp_path / "seen" if day else None
        found = lookalike.dedup(part, output=tmp_path / f"out{day}", against=against, into=tmp_path / "seen")
        removed += len(found.removed)
    assert removed == len(lookalike.dedup(pages).removed)


SLOW = """
import sys, lookalike
texts = [" ".join(f"w{n}x{m}" for m in range(60)) for n in range(60_000)] * 6
try:
    lookalike.CALL
except KeyboardInterrupt:
    print("interrupted", flush=True)
    sys.exit(77)
print("finished", flush=True)
"""


def interrupt(code: str, after: str) -> tuple[int, str, float]:
    """Runs a child, sends it a real SIGINT, and says how it ended, what it said and how long that took."""
    child = subprocess.Popen([sys.executable, "-B", "-c", code], stdout=subprocess.PIPE, text=True)
    assert child.stdout is not None
    for line in child.stdout:
        if line.startswith(after):
            break
    begun = time.monotonic()
    child.send_signal(signal.SIGINT)
    rest = child.stdout.read()
    return child.wait(60), rest, time.monotonic() - begun


def test_a_signal_ends_work_on_a_list(tmp_path: pathlib.Path) -> None:
    told = "progress=lambda stage, *_: print('at', stage, flush=True)"
    call = f"dedup(texts, method='exact', threads=1, scratch={str(tmp_path)!r}, {told})"
    code, said, seconds = interrupt(SLOW.replace("CALL", call), after="at ")
    assert (code, said.splitlines()[-1]) == (77, "interrupted") and seconds < 20
    assert list(tmp_path.iterdir()) == []


def test_a_stopped_job_on_files_goes_on(tmp_path: pathlib.Path) -> None:
    corpus = tmp_path / "pages.jsonl"
    assert run("corpus", "generate", "--documents", "20000", "-o", corpus).returncode == 0
    program = (
        "import lookalike, sys\n"
        "try:\n"
        f"    lookalike.dedup({str(corpus)!r}, output={str(tmp_path / 'out')!r}, threads=1,\n"
        "        progress=lambda stage, done, total: print(stage, flush=True))\n"
        "except KeyboardInterrupt:\n"
        "    sys.exit(77)\n"
    )
    code, _, _ = interrupt(program, after="sketch")
    assert code == 77
    assert (tmp_path / "out" / "work").exists() and not (tmp_path / "out" / "summary.json").exists()
    found = lookalike.dedup(corpus, output=tmp_path / "out")
    assert found.removed == lookalike.dedup(corpus).removed


def test_a_callback_that_fails_stops_the_work(pages: pathlib.Path) -> None:
    class Enough(Exception):
        pass

    def progress(stage: str, done: int, total: int | None) -> None:
        raise Enough(stage)

    with pytest.raises(Enough):
        lookalike.dedup(["some words " + str(n) for n in range(200_000)], progress=progress)
