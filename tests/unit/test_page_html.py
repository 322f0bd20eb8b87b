"""One HTML file from the data of a page: nothing breaks out of it, nothing is fetched, equal runs give equal bytes."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import subprocess
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from simsched.errors import ConfigError
from simsched.graph.builder import GraphBuilder
from simsched.graph.model import Graph
from simsched.page.document import page_document
from simsched.page.html import joined_styles, json_in_html, page_data, page_html
from simsched.page.lessons import lessons
from simsched.run import compare, run
from tests.cli import command, environment

FIVE = "topological,critical_path,greedy_ready,memory_aware,pipeline"
LARGEST = 1_500_000

HOSTILE = (
    "<script>alert(1)</script>",
    "</script><script>alert(2)</script>",
    "<!--<script>",
    "-->",
    "]]>",
    "<img src=x onerror=alert(3)>",
    "\"quoted\" 'twice'",
    "back\\slash",
    "two\nlines\r\nand\ttabs",
    "line\u2028and\u2029paragraph",
    "null\u0000and\u001b[31mescape",
    "\u202egnirts\u202c",
    "\u0639\u0631\u0628\u064a",
    "\U0001f600\U0001f468\u200d\U0001f469",
    "\ufeffmark",
    "<!--data-->",
    "<!--script-->",
    "__proto__",
    "constructor",
    "&lt;b&gt;&amp;",
    "${1}`",
    "x" * 5000,
    " ",
)


class Elements(HTMLParser):
    """Elements of a page: how many of each, and the text of the scripts by their type."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=False)
        self.counts: dict[str, int] = {}
        self.scripts: dict[str, str] = {}
        self.metas: list[dict[str, str | None]] = []
        self.addresses: list[str] = []
        self._inside: str | None = None
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.counts[tag] = self.counts.get(tag, 0) + 1
        found = dict(attrs)
        assert not [name for name in found if name.startswith("on")], "no handlers in attributes"
        if tag == "meta":
            self.metas.append(found)
        self.addresses += [found[name] or "" for name in ("src", "href") if name in found]
        self._inside = (found.get("type") or "") if tag == "script" else None
        if tag == "script":
            self.scripts[self._inside or ""] = ""

    def handle_data(self, data: str) -> None:
        if self._inside is not None:
            self.scripts[self._inside] += data

    def handle_endtag(self, tag: str) -> None:
        self._inside = None


def hostile_graph() -> Graph:
    builder = GraphBuilder(HOSTILE[0], time_unit="tick")
    for number, name in enumerate(HOSTILE):
        builder.add_tensor(f"tensor {name}", bytes=number, kind="activation")
        inputs = [f"tensor {HOSTILE[number - 1]}"] if number else []
        builder.add_op(name, duration=number, op_type=f"type {name}", inputs=inputs, outputs=[f"tensor {name}"])
    return builder.build()


@pytest.fixture(scope="module")
def plain_page() -> str:
    return page_html(page_data(page_document([run("residual", "serial", "lanes:2")])))


def test_hostile_names_stay_text(plain_page: str) -> None:
    graph = hostile_graph()
    data = page_data(page_document([run(graph, "serial", "lanes:2")], title=HOSTILE[1]))
    found = Elements(page_html(data))
    assert found.counts == Elements(plain_page).counts
    read = json.loads(found.scripts["application/json"])
    assert read == json.loads(json.dumps(data))
    assert read["scene"]["graph"]["names"] == list(graph.names)
    assert sorted(read["scene"]["graph"]["names"]) == sorted(HOSTILE)
    assert found.scripts["module"] == Elements(plain_page).scripts["module"]


@pytest.mark.parametrize("text", HOSTILE)
def test_json_in_html_has_no_tag_and_no_end_of_line_of_old(text: str) -> None:
    written = json_in_html({text: [text]})
    assert json.loads(written) == {text: [text]}
    assert not re.search("[<\u2028\u2029]", written)
    assert "\n" not in written


def test_half_a_character_is_written_as_an_escape() -> None:
    written = json_in_html(["\ud800"])
    assert written == '["\\ud800"]'
    written.encode()


def test_what_is_no_number_is_refused() -> None:
    with pytest.raises(ValueError, match="Out of range"):
        json_in_html([float("nan")])


def policy(text: str) -> dict[str, str]:
    (found,) = [meta for meta in Elements(text).metas if meta.get("http-equiv") == "Content-Security-Policy"]
    rules = (rule.strip().partition(" ") for rule in (found["content"] or "").split(";"))
    return {name: value for name, _, value in rules}


def test_only_the_script_of_the_page_may_run(plain_page: str) -> None:
    digest = hashlib.sha256(Elements(plain_page).scripts["module"].encode()).digest()
    rules = policy(plain_page)
    assert rules["script-src"] == f"'sha256-{base64.b64encode(digest).decode()}'"
    assert rules["default-src"] == "'none'"
    assert rules["img-src"] == "data: blob:"
    assert set(rules) == {"default-src", "script-src", "style-src", "img-src", "base-uri", "form-action"}
    assert plain_page.index("Content-Security-Policy") < plain_page.index("<script")


def test_a_live_page_may_also_start_its_own_worker() -> None:
    document = page_document([run("residual", "serial", "lanes:2")], live=True)
    rules = policy(
        page_html(page_data(document, live={"pyodide": "p", "worker": "w", "bundle": "b", "catalogue": "c"}))
    )
    assert rules["worker-src"] == "'self' blob:"
    assert rules["connect-src"] == "'self'"
    assert rules["script-src"].endswith(" 'self' 'wasm-unsafe-eval'")
    assert "'unsafe-eval'" not in rules["script-src"]
    assert "unsafe-inline" not in rules["script-src"]


def test_nothing_is_fetched(plain_page: str) -> None:
    found = Elements(plain_page)
    assert all(address.startswith(("data:", "#")) for address in found.addresses), found.addresses
    assert found.counts["script"] == 2
    assert found.counts.get("iframe", 0) == 0
    styles = plain_page[plain_page.index("<style>") : plain_page.index("</style>")]
    assert "@import" not in styles
    assert "url(" not in styles.replace("url(data:", "").replace('url("data:', "")


def test_every_place_of_the_template_is_filled(plain_page: str) -> None:
    assert not re.search(r"<!--\w+-->", plain_page)


def test_styles_begin_with_the_base() -> None:
    sheets = {"dag.css": "b{}\n", "base.css": "a{}\n", "time.css": "c{}\n"}
    assert joined_styles(sheets) == "a{}\nb{}\nc{}"
    with pytest.raises(ConfigError, match=r"css/dag\.css"):
        joined_styles({"dag.css": "</STYLE>"})


def test_the_page_of_inception_on_five_schedulers_is_small() -> None:
    results = compare("inception_v1", FIVE, "a100_sxm_80gb", explain=True).results
    bare, whole = (page_html(page_data(page_document(results), lessons=each)) for each in ((), lessons()))
    assert 100_000 < len(bare.encode()) < len(whole.encode()) < LARGEST


def test_equal_commands_write_equal_bytes(tmp_path: Path) -> None:
    """Under another order of sets and dictionaries of text, too."""
    words = ("page", "inception_v1", "-H", "toy_box", "-s", "critical_path,heft,memory_aware", "--launch", "serial")
    written = []
    for seed in ("0", "1"):
        target = tmp_path / f"{seed}.html"
        done = subprocess.run(
            command(*words, "-o", str(target)), env=environment(PYTHONHASHSEED=seed), check=False, capture_output=True
        )
        assert done.returncode == 0, done.stderr
        written.append(target.read_bytes())
    assert written[0] == written[1]


def test_numbers_of_a_document_have_few_digits() -> None:
    results = compare("inception_v1", FIVE, "a100_sxm_80gb", explain=True).results
    assert [value for value in _numbers(page_document(results)) if round(value, 6) != value] == []


def _numbers(data: Any) -> list[float]:
    if isinstance(data, dict):
        return [number for value in data.values() for number in _numbers(value)]
    if isinstance(data, list):
        return [number for value in data for number in _numbers(value)]
    return [data] if isinstance(data, float) else []
