"""Things to serve, and the real program serving them, for tests from outside."""

import json
import os
import pathlib
import re
import subprocess
import tempfile

PROGRAM = os.environ["LOOKALIKE"]
TOKEN = "correct-horse-battery-staple"
HOSTILE = "<script>alert(1)</script>"


def run(*words):
    """Runs the program to its end."""
    subprocess.run([PROGRAM, *map(str, words)], check=True, timeout=120, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def words(number, edits=0):
    """A text of its own; with edits, one that resembles the same number without."""
    return " ".join(f"edit{place}" if place % 40 < edits else f"word{number}x{place}" for place in range(200))


def documents():
    """Documents of which some resemble each other, the first two with hostile texts and ids."""
    for copy in range(2):
        url = "https://example.org/?<i>"
        yield {"id": f"<b>hostile{copy}", "url": url, "text": f"{HOSTILE} {words(0)} number {copy}"}
    for number in range(1, 130):
        yield {"id": f"page-{number}", "text": words(number)}
        yield {"id": f"page-{number}-copy", "text": words(number, number % 2)}


class Folder:
    """A folder with a corpus, a job and an index of it, and tokens."""

    def __init__(self):
        self.temporary = tempfile.TemporaryDirectory()
        self.path = pathlib.Path(self.temporary.name)
        corpus = self.path / "corpus.jsonl"
        corpus.write_text("".join(json.dumps(document) + "\n" for document in documents()))
        self.job, self.index, self.tokens = self.path / "job", self.path / "index", self.path / "tokens"
        run("dedup", corpus, "-o", self.job)
        run("index", "create", self.index)
        run("index", "add", self.index, corpus)
        self.tokens.write_text(TOKEN + "\n")
        self.tokens.chmod(0o600)

    def close(self):
        self.temporary.cleanup()


class Server:
    """The program serving a folder, until the end of a `with`."""

    def __init__(self, folder, *options):
        self.command = [PROGRAM, "serve", str(folder), "--address", "127.0.0.1:0", "--log", "none", *map(str, options)]

    def __enter__(self):
        self.process = subprocess.Popen(self.command, stdout=subprocess.PIPE, text=True)
        line = self.process.stdout.readline()
        found = re.fullmatch(r"listening on (http://127\.0\.0\.1:\d+)\n", line)
        assert found, line
        self.address = found[1]
        return self

    def __exit__(self, *_):
        self.process.terminate()
        code = self.process.wait(timeout=60)
        self.process.stdout.close()
        assert code == 0, f"the service ended with {code}"
