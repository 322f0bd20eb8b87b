"""Every notebook says what its cells say when they are executed again."""

from __future__ import annotations

import ast
import contextlib
import io
import json
import re
from pathlib import Path
from typing import Any

import pytest
from matplotlib import pyplot as plt

from scripts.run_notebooks import FOLDER, cleaned, notebooks, written
from tests.docs.pages import ROOT

LARGEST = 1_500_000
LINK = re.compile(r"\]\((?!https?://)([^)#\s]+)[^)\s]*\)")
Output = tuple[str, str]


def read(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(path.read_text("utf-8"))
    return found


def code_cells(path: Path) -> list[dict[str, Any]]:
    return [cell for cell in read(path)["cells"] if cell["cell_type"] == "code"]


def stored(cell: dict[str, Any]) -> list[Output]:
    """What a notebook keeps of a cell: texts, kinds of HTML, and that there is a picture."""
    found: list[Output] = []
    for output in cell["outputs"]:
        if output["output_type"] == "stream":
            found.append(("text", "".join(output["text"])))
        elif "text/html" in output["data"]:
            found.append(("html", opening("".join(output["data"]["text/html"]))))
        elif "image/png" in output["data"]:
            found.append(("picture", ""))
        else:
            found.append(("text", "".join(output["data"]["text/plain"])))
    return found


def opening(html: str) -> str:
    """A frame is a frame, whatever page is in it; a table is compared to the letter."""
    return "<iframe" if html.startswith("<iframe") else html


def shown(value: Any) -> Output:
    """What a notebook would keep of the value of a cell."""
    if hasattr(value, "_repr_html_"):
        return "html", opening(value._repr_html_())
    return "text", repr(value)


class Player:
    """Executes cells one after the other, as a kernel does."""

    def __init__(self) -> None:
        self.names: dict[str, Any] = {"__name__": "__main__"}
        self.outputs: list[Output] = []

    def show(self) -> None:
        """Stand in for ``plt.show``."""
        self.outputs.append(("picture", ""))
        plt.close("all")

    def play(self, source: str) -> list[Output]:
        """Execute one cell; its outputs, texts first printed and then shown."""
        tree = ast.parse(source)
        last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
        self.outputs, printed = [], io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(tree, "cell", "exec"), self.names)
            value = eval(compile(ast.Expression(last.value), "cell", "eval"), self.names) if last is not None else None
        text = [("text", printed.getvalue())] if printed.getvalue() else []
        return [*text, *self.outputs, *([] if value is None else [shown(value)])]


@pytest.mark.parametrize("path", notebooks(), ids=lambda path: path.stem)
def test_a_notebook_says_the_same_again(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    player = Player()
    plt.switch_backend("agg")
    monkeypatch.setattr(plt, "show", player.show)
    for number, cell in enumerate(code_cells(path), start=1):
        outputs = player.play("".join(cell["source"]))
        assert outputs == stored(cell), f"cell {number} of {path.name} says something else; run make notebooks"
    assert number >= 8


def test_there_are_four_notebooks() -> None:
    assert [path.stem for path in notebooks()] == [
        "1_first_steps",
        "2_your_own_scheduler",
        "3_memory",
        "4_concurrency_on_a_gpu",
    ]


@pytest.mark.parametrize("path", notebooks(), ids=lambda path: path.stem)
def test_a_notebook_is_executed_in_order_and_clean(path: Path) -> None:
    notebook = read(path)
    assert [cell["execution_count"] for cell in code_cells(path)] == list(range(1, len(code_cells(path)) + 1))
    assert written(cleaned(notebook)) == path.read_text("utf-8"), "run make notebooks"
    assert path.stat().st_size < LARGEST
    outputs = json.dumps([cell["outputs"] for cell in code_cells(path)])
    assert str(ROOT) not in outputs
    assert re.search(r"\bat 0x[0-9a-f]{6,}", outputs) is None


@pytest.mark.parametrize("path", notebooks(), ids=lambda path: path.stem)
def test_pages_and_pictures_are_among_the_outputs(path: Path) -> None:
    kinds = [output for cell in code_cells(path) for output in stored(cell)]
    assert ("html", "<iframe") in kinds
    assert path.stem == "2_your_own_scheduler" or ("picture", "") in kinds


def test_links_between_notebooks_and_to_the_pages_resolve() -> None:
    links = [
        (path, target)
        for path in notebooks()
        for cell in read(path)["cells"]
        if cell["cell_type"] == "markdown"
        for target in LINK.findall("".join(cell["source"]))
    ]
    assert len(links) >= 3
    assert [(path.name, target) for path, target in links if not (FOLDER / target).is_file()] == []


def test_what_was_printed_in_pieces_is_joined() -> None:
    def said(text: str, name: str = "stdout") -> dict[str, Any]:
        return {"output_type": "stream", "name": name, "text": [text]}

    shown = {"output_type": "display_data", "data": {"text/plain": "x"}, "metadata": {}}
    outputs = [said("a"), said("b\nc"), said("d", "stderr"), shown, said("e"), said("f\n")]
    cell = {"cell_type": "code", "source": "x", "execution_count": 1, "outputs": outputs}
    (clean,) = cleaned({"cells": [cell]})["cells"]
    texts = [output.get("text") for output in clean["outputs"]]
    assert texts == [["ab\n", "c"], ["d"], None, ["ef\n"]]


def test_what_only_stands_in_for_a_page_is_cut() -> None:
    cell = {
        "cell_type": "code",
        "id": "random",
        "metadata": {"execution": {"started": "today"}},
        "source": "x",
        "execution_count": 1,
        "outputs": [
            {
                "output_type": "execute_result",
                "data": {"text/plain": "R" * 500, "text/html": "<b>"},
                "metadata": {"a": 1},
                "execution_count": 1,
            },
            {"output_type": "execute_result", "data": {"text/plain": "R" * 500}, "metadata": {}, "execution_count": 1},
        ],
    }
    (clean,) = cleaned({"cells": [cell], "metadata": {"kernelspec": {"name": "mine"}}})["cells"]
    assert clean["id"] == "cell-1"
    assert clean["metadata"] == {}
    assert [len(output["data"]["text/plain"]) for output in clean["outputs"]] == [61, 500]
    assert clean["outputs"][0]["metadata"] == {}
