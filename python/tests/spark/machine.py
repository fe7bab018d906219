"""The same work on one machine, and documents for both."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

WORDS = "oak river stone lantern harbour meadow signal copper thimble winter orchard saddle gravel mirror".split()


class Machine:
    """The same work on one machine."""

    def __init__(self, binary: str, folder: Path) -> None:
        self.binary, self.folder, self.runs = binary, folder, 0

    def run(self, *arguments: str) -> Path:
        self.runs += 1
        suffix = ".jsonl" if arguments[0] == "pairs" else ""
        target = self.folder / f"run{self.runs}{suffix}"
        subprocess.run([self.binary, *arguments, "-o", str(target)], check=True, capture_output=True)
        return target

    def lines(self, path: Path) -> list[dict[str, Any]]:
        return [json.loads(line) for line in path.read_text().splitlines()]


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
