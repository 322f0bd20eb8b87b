"""Every block of code, every command and every link of the pages does what the page says."""

from __future__ import annotations

import doctest
import os
import shlex
import subprocess
import sys
import types
from pathlib import Path

import pytest

from tests.docs.pages import (
    ROOT,
    Block,
    Command,
    agrees,
    anchors_of,
    blocks_of,
    commands_of,
    links_of,
    page_id,
    pages,
)

ENVIRONMENT = {**os.environ, "COLUMNS": "110", "NO_COLOR": "1", "PYTHONPATH": str(ROOT)}


def with_code() -> list[Path]:
    return [path for path in pages() if any(acts(block) for block in blocks_of(path.read_text("utf-8")))]


def acts(block: Block) -> bool:
    return block.runs and (block.language in {"python", "pycon", "console"} or block.file is not None)


@pytest.mark.parametrize("page", with_code(), ids=page_id)
def test_blocks_run(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    module = types.ModuleType("page")
    monkeypatch.setitem(sys.modules, "page", module)
    for block in blocks_of(page.read_text("utf-8")):
        place = f"{page_id(page)}:{block.line}"
        if block.file:
            target = tmp_path / block.file
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(block.text, "utf-8")
        if not block.runs:
            continue
        if block.language == "python":
            exec(compile("\n" * (block.line - 1) + block.text, str(page), "exec", dont_inherit=True), vars(module))
        elif block.language == "pycon":
            run_doctest(block, place, vars(module))
        elif block.language == "console":
            for command in commands_of(block):
                run_command(command, page, block.exit_code, tmp_path)


def run_doctest(block: Block, place: str, namespace: dict[str, object]) -> None:
    test = doctest.DocTestParser().get_doctest(block.text, namespace, place, place, block.line - 1)
    said: list[str] = []
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS)
    runner.run(test, out=said.append, clear_globs=False)
    assert not said, "".join(said)
    namespace.update(test.globs)


def run_command(command: Command, page: Path, exit_code: int, folder: Path) -> None:
    place = f"{page_id(page)}:{command.line}"
    words = shlex.split(command.text, comments=True)
    target = None
    if ">" in words:
        words, (target,) = words[: words.index(">")], words[words.index(">") + 1 :]
    known = {"simsched": [sys.executable, "-m", "simsched"], "python": [sys.executable], "cat": ["cat"]}
    assert words[0] in known, f"{place}: pages run {', '.join(known)} only, not {words[0]!r}"
    done = subprocess.run(
        known[words[0]] + words[1:], cwd=folder, env=ENVIRONMENT, capture_output=True, text=True, check=False
    )
    assert done.returncode == exit_code, f"{place}: {command.text}\n{done.stdout}{done.stderr}"
    if target is not None:
        (folder / target).write_text(done.stdout, "utf-8")
    shown = done.stdout if exit_code == 0 else done.stdout + done.stderr
    if command.output is not None:
        actual = tuple(shown.rstrip("\n").split("\n"))
        assert agrees(command.output, actual), f"{place}: {command.text}\nprints now\n{shown}"


@pytest.mark.parametrize("page", pages(), ids=page_id)
def test_links_resolve(page: Path) -> None:
    broken = []
    for line, target in links_of(page.read_text("utf-8")):
        if target.startswith(("https://", "http://", "mailto:")):
            continue
        name, _, anchor = target.partition("#")
        path = (page.parent / name).resolve() if name else page
        if not path.exists():
            broken.append(f"{page_id(page)}:{line}: there is no {target}")
        elif anchor and anchor not in anchors_of(path.read_text("utf-8")):
            broken.append(f"{page_id(page)}:{line}: {name or 'this page'} has no heading #{anchor}")
    assert broken == []


@pytest.mark.parametrize("page", pages(), ids=page_id)
def test_pages_have_one_title_and_closed_blocks(page: Path) -> None:
    lines = page.read_text("utf-8").splitlines()
    fences = [line for line in lines if line.lstrip().startswith("```")]
    assert len(fences) % 2 == 0, "a fenced block is not closed"
    blocks = blocks_of("\n".join(lines))
    inside = {number for block in blocks for number in range(block.line, block.line + block.text.count("\n"))}
    titles = [line for number, line in enumerate(lines, 1) if line.startswith("# ") and number not in inside]
    assert len(titles) == 1, titles


def test_every_page_is_in_a_table_of_contents() -> None:
    index = ROOT / "docs" / "index.md"
    listed = {
        path.resolve()
        for block in blocks_of(index.read_text("utf-8"))
        if block.language == "{toctree}"
        for entry in block.text.split("\n")
        if entry and not entry.startswith(":")
        for path in index.parent.glob(f"{entry}.md")
    }
    written = {path.resolve() for path in pages() if path.is_relative_to(ROOT / "docs")} - {index.resolve()}
    assert listed == written


def test_a_block_with_wrong_output_is_found(tmp_path: Path) -> None:
    page = ROOT / "README.md"
    (tmp_path / "note.txt").write_text("3\n5\n", "utf-8")
    (right, wrong) = commands_of(Block("console", (), "$ cat note.txt\n3\n5\n$ cat note.txt\n3\n7\n", 1, None))
    run_command(right, page, 0, tmp_path)
    with pytest.raises(AssertionError, match="prints now"):
        run_command(wrong, page, 0, tmp_path)


def test_blocks_are_read_with_their_words_and_files() -> None:
    saved = "# T\n\n<!-- file: a.yaml -->\n```yaml no-run\nx: 1\n```\n"
    text = saved + "- item\n\n  ```console exit=2\n  $ cat a \\\n      b\n  ```\n"
    first, second = blocks_of(text)
    assert (first.language, first.runs, first.text, first.line, first.file) == ("yaml", False, "x: 1\n", 5, "a.yaml")
    assert (second.exit_code, [command.text for command in commands_of(second)]) == (2, ["cat a b"])
