"""One cluster and one application for all tests, and the command line that they are held against."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from cluster import Cluster, session
from machine import Machine, corpus

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


@pytest.fixture(scope="session")
def machine(binary: str, tmp_path_factory: pytest.TempPathFactory) -> Machine:
    return Machine(binary, tmp_path_factory.mktemp("machine"))


@pytest.fixture(scope="session")
def pages(binary: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("pages") / "pages.jsonl"
    corpus(binary, path, 700, 4)
    return path
