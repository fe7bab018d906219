"""The work of scripts/notebooks: runs each notebook by a kernel of this interpreter."""

import difflib
import os
import pathlib
import sys
import tempfile

import nbclient
import nbformat

HERE = pathlib.Path(__file__).resolve().parent.parent
PICTURE = "image/png"


def said(cell):
    """What a cell prints, and what its last line is; pictures are not compared."""
    texts = []
    for output in cell.get("outputs", []):
        data = output.get("data", {})
        text = output.get("text", "") if PICTURE in data or not data else data.get("text/plain", "")
        texts.append(text if isinstance(text, str) else "".join(text))
    return "".join(texts)


def run(notebook, folder):
    """The notebook as it is after its cells have run in a folder."""
    client = nbclient.NotebookClient(notebook, timeout=300, kernel_name="python3", resources={"metadata": {"path": folder}})
    client.execute()
    for cell in notebook.cells:
        # Times of the run say nothing to a reader, nor do warnings of packages, which have paths of this machine.
        cell.metadata.pop("execution", None)
        if cell.cell_type == "code":
            cell.outputs = [output for output in cell.outputs if output.get("name") != "stderr"]
    return notebook


def differences(path, expected, cells):
    """The lines in which cells print something else than the notebook says."""
    for number, (was, cell) in enumerate(zip(expected, cells, strict=True)):
        lines = difflib.unified_diff(was.splitlines(), said(cell).splitlines(), f"{path.name}, cell {number}", "printed", lineterm="")
        yield from lines


def main():
    update = sys.argv[1:] == ["--update"]
    if sys.argv[1:] and not update:
        sys.exit("usage: scripts/notebooks [--update]")
    failed = 0
    with tempfile.TemporaryDirectory() as scratch:
        commands = pathlib.Path(scratch) / "bin"
        commands.mkdir()
        # The kernel is one of this interpreter, and finds the command on its path.
        (commands / "lookalike").symlink_to(pathlib.Path(os.environ["LOOKALIKE_BINARY"]).resolve())
        os.environ["PATH"] = os.pathsep.join([str(commands), str(pathlib.Path(sys.executable).parent), os.environ["PATH"]])
        for path in sorted((HERE / "docs/notebooks").glob("*.ipynb")):
            folder = pathlib.Path(scratch) / path.stem
            folder.mkdir()
            notebook = nbformat.read(path, as_version=4)
            expected = [said(cell) for cell in notebook.cells]
            notebook = run(notebook, str(folder))
            if update:
                nbformat.write(notebook, path)
                continue
            lines = list(differences(path, expected, notebook.cells))
            failed += bool(lines)
            print("\n".join(lines) if lines else f"{path.name}: {sum(cell.cell_type == 'code' for cell in notebook.cells)} cells as they say")
    sys.exit(1 if failed else 0)


main()
