"""What the documentation says is run, and the types it promises are checked."""

from __future__ import annotations

import doctest
import inspect
import pathlib
import subprocess
import sys

import lookalike
from lookalike import _core


def test_examples_run() -> None:
    found = doctest.testmod(lookalike, extraglobs={"lookalike": lookalike})
    assert found.failed == 0 and found.attempted > 20


def test_everything_is_documented_and_typed() -> None:
    assert lookalike.__doc__ and (pathlib.Path(lookalike.__file__).parent / "py.typed").exists()
    for name in lookalike.__all__:
        item = getattr(lookalike, name)
        if callable(item):
            assert item.__doc__, name
    for function in (lookalike.dedup, lookalike.pairs, lookalike.compare, lookalike.sketch, lookalike.similarity):
        assert all(one.annotation is not one.empty for one in inspect.signature(function).parameters.values())


def test_stubs_are_what_the_core_has() -> None:
    stub = (pathlib.Path(lookalike.__file__).parent / "_core.pyi").read_text(encoding="utf-8")
    for name in (name for name in dir(_core) if not name.startswith("_")):
        assert any(f"{kind}{name}{end}" in stub for kind, end in (("class ", ""), ("def ", "("), ("\n", ": "))), name
    for kind in (lookalike.Table, lookalike.Column, _core.Index):
        for name in (name for name in vars(kind) if not name.startswith("_")):
            assert f"def {name}(" in stub, name


def test_types_are_sound(tmp_path: pathlib.Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(
        "import lookalike\n"
        "found = lookalike.dedup(['a', 'b'], method=['minhash'], threshold='0.8', progress=lambda stage, done, total: None)\n"
        "names: list[str] = [row['id'] for row in found.removed]\n"
        "mask: list[bool] = list(found.kept_mask)\n"
        "with lookalike.Index('seen', read=True) as index:\n"
        "    count: int = index.query(['a'])[0]['total']\n"
    )
    package = str(pathlib.Path(lookalike.__file__).parent)
    settings = str(pathlib.Path(__file__).parents[1] / "pyproject.toml")
    command = [sys.executable, "-m", "mypy", "--config-file", settings, "--cache-dir", str(tmp_path / "cache")]
    for target in (["-p", "lookalike"], [str(program)]):
        done = subprocess.run([*command, *target], capture_output=True, text=True, cwd=tmp_path, timeout=300)
        assert done.returncode == 0, done.stdout + done.stderr + package
