"""Execute the notebooks again, in place: ``python scripts/run_notebooks.py [NAME...]``.

What is written depends on nothing but the cells and the versions of ``requirements/notebooks.txt``: no times, no paths,
no ids made at random. Text that only stands in for a page is cut to its first line.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).resolve().parents[1] / "notebooks"
KERNEL = {"display_name": "Python 3", "language": "python", "name": "python3"}
LANGUAGE = {"name": "python"}
LONGEST_STAND_IN = 60

Plain = dict[str, Any]


def notebooks() -> list[Path]:
    """All notebooks of the project, in the order in which they are read."""
    return sorted(FOLDER.glob("*.ipynb"))


def executed(text: str) -> Plain:
    """Run all cells of a notebook in a fresh kernel, and return it with their outputs."""
    import nbformat
    from nbclient import NotebookClient

    notebook = nbformat.reads(text, as_version=4)
    client = NotebookClient(
        notebook,
        kernel_name="python3",
        extra_arguments=["--log-level=ERROR"],
        timeout=300,
        record_timing=False,
        resources={"metadata": {"path": str(FOLDER)}},
    )
    client.execute()
    done: Plain = json.loads(nbformat.writes(notebook))
    return done


def cleaned(notebook: Plain) -> Plain:
    """Keep what a reader sees: cells named by their number, and outputs without what differs between machines."""
    cells = [_cleaned_cell(cell, number) for number, cell in enumerate(notebook["cells"], start=1)]
    return {
        "cells": cells,
        "metadata": {"kernelspec": KERNEL, "language_info": LANGUAGE},
        "nbformat": 4,
        "nbformat_minor": 5,
    }


def _cleaned_cell(cell: Plain, number: int) -> Plain:
    text = "".join(cell["source"])
    kept: Plain = {"cell_type": cell["cell_type"], "id": f"cell-{number}", "metadata": {}, "source": _lines(text)}
    if cell["cell_type"] == "code":
        kept["execution_count"] = cell["execution_count"]
        kept["outputs"] = _joined([_cleaned_output(output) for output in cell["outputs"]])
    return kept


def _joined(outputs: list[Plain]) -> list[Plain]:
    """Join what was printed in pieces: where it was cut depends on how fast the machine was."""
    found: list[Plain] = []
    for output in outputs:
        before = found[-1] if found else {}
        if output["output_type"] == "stream" and output["name"] == before.get("name"):
            text = "".join(before["text"]) + "".join(output["text"])
            found[-1] = {**before, "text": _lines(text)}
        else:
            found.append(output)
    return found


def _cleaned_output(output: Plain) -> Plain:
    if "data" not in output:
        return output
    data: Plain = dict(output["data"])
    others = data.keys() - {"text/plain"}
    if others:
        first = "".join(data["text/plain"]).splitlines()[0]
        data["text/plain"] = first if len(first) <= LONGEST_STAND_IN else first[:LONGEST_STAND_IN] + "…"
    return {**output, "data": data, "metadata": {}}


def _lines(text: str) -> list[str]:
    return text.splitlines(keepends=True)


def written(notebook: Plain) -> str:
    """Return the text of a notebook's file."""
    return json.dumps(notebook, ensure_ascii=False, indent=1, sort_keys=True) + "\n"


def run(path: Path) -> bool:
    """Execute one notebook; whether its file has changed."""
    before = path.read_text("utf-8")
    after = written(cleaned(executed(before)))
    path.write_text(after, encoding="utf-8")
    return after != before


def main(names: list[str]) -> None:
    """Execute the named notebooks, or all of them."""
    for path in notebooks():
        if not names or path.stem in names:
            changed = run(path)
            size = path.stat().st_size / 1e6
            print(f"{path.name}: {'new outputs' if changed else 'the same again'}, {size:.2f} MB")


if __name__ == "__main__":
    main(sys.argv[1:])
