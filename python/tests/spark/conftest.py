"""One cluster and one application for all tests, and the command line that they are held against."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from cluster import Cluster, session

WORDS = "oak river stone lantern harbour meadow signal copper thimble winter orchard saddle gravel mirror".split()


@pytest.fixture(scope="session")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    made = Cluster(tmp_path_factory.mktemp("cluster"))
    yield made
    made.stop()


@pytest.fixture(scope="session")
def spark(cluster: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    made = session(cluster.master, tmp_path_factory.mktemp("application"))
    yield made
    made.stop()


@pytest.fixture(scope="session")
def binary() -> str:
    target = Path(os.environ.get("CARGO_TARGET_DIR", Path(__file__).parents[3] / "target"))
    found = os.environ.get("LOOKALIKE_BINARY", str(target / "debug" / "lookalike"))
    assert Path(found).exists(), f"{found} is not there: cargo build -p lookalike-cli"
    return found


class Machine:
    """The same work on one machine."""

    def __init__(self, binary: str, folder: Path) -> None:
        self.binary, self.folder, self.runs = binary, folder, 0

    def run(self, *arguments: str) -> Path:
        self.runs += 1
        target = self.folder / f"run{self.runs}"
        subprocess.run([self.binary, *arguments, "-o", str(target)], check=True, capture_output=True)
        return target

    def lines(self, path: Path) -> list[dict[str, Any]]:
        return [json.loads(line) for line in path.read_text().splitlines()]


@pytest.fixture(scope="session")
def machine(binary: str, tmp_path_factory: pytest.TempPathFactory) -> Machine:
    return Machine(binary, tmp_path_factory.mktemp("machine"))


def corpus(binary: str, path: Path, documents: int, seed: int) -> None:
    """Generated pages, a template in many copies, and records that are no documents."""
    subprocess.run(
        [binary, "corpus", "generate", "--documents", str(documents), "--seed", str(seed), "-o", str(path)],
        check=True,
        capture_output=True,
    )
    with path.open("a") as file:
        template = " ".join(WORDS * 6)
        for number in range(60):
            row = {"id": f"template-{number * 7 % 60:02}", "text": f"{template} page {number // 2}", "rank": number % 9}
            file.write(json.dumps(row) + "\n")
        for name, text in (("nothing-1", None), ("empty-1", ""), ("empty-2", " ... "), ("nothing-2", None)):
            file.write(json.dumps({"id": name, "text": text, "rank": 3}) + "\n")


@pytest.fixture(scope="session")
def pages(binary: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("pages") / "pages.jsonl"
    corpus(binary, path, 700, 4)
    return path
