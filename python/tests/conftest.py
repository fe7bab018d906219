"""Documents that all tests share, and the command line that results are held against."""

from __future__ import annotations

import json
import os
import pathlib
import subprocess
from typing import Any

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
TARGET = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
BINARY = os.environ.get("LOOKALIKE_BINARY", str(TARGET / "debug" / "lookalike"))


def run(*arguments: str | os.PathLike[str]) -> subprocess.CompletedProcess[str]:
    """Runs the command line."""
    return subprocess.run([BINARY, *map(str, arguments)], capture_output=True, text=True, timeout=300)


def rows(path: pathlib.Path) -> list[dict[str, Any]]:
    """The rows of a file of JSON lines."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def sentence(done: subprocess.CompletedProcess[str]) -> str:
    """What the command line complained of: its last line, without what stands before the sentence."""
    line = done.stderr.strip().splitlines()[-1]
    return line.removeprefix("lookalike: ").removeprefix("error: ")


@pytest.fixture(scope="session")
def pages(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """Generated pages as JSON lines: some have text, some HTML, one has neither."""
    path = tmp_path_factory.mktemp("corpus") / "texts.jsonl"
    done = run("corpus", "generate", "--documents", "2000", "--seed", "7", "-o", path)
    assert done.returncode == 0, done.stderr
    lines = path.read_text(encoding="utf-8").splitlines()
    lines[1000] = json.dumps({"id": "empty", "text": None})
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


@pytest.fixture(scope="session")
def columns(pages: pathlib.Path) -> dict[str, list[Any]]:
    """The same pages as columns."""
    all = rows(pages)
    return {name: [row.get(name) for row in all] for name in ("id", "url", "text", "html")}


@pytest.fixture(scope="session")
def plain(columns: dict[str, list[Any]]) -> dict[str, list[Any]]:
    """Those that have text, and one that has nothing, as two columns."""
    chosen = [n for n in range(2000) if columns["text"][n] is not None or columns["html"][n] is None]
    return {name: [columns[name][n] for n in chosen] for name in ("id", "text")}
