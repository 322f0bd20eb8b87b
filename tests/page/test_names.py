"""Names are text: nothing in a name is run, fetched or taken for markup, wherever the page shows it."""

from __future__ import annotations

import dataclasses

import pytest

from simsched.graph.builder import GraphBuilder
from simsched.graph.model import Graph
from simsched.hardware import Device, HardwareProfile
from simsched.result import Comparison, Result
from simsched.run import compare, run
from tests.page.browser import Opener, Shown
from tests.page.cases import html_of

ATTACK = "window.attacked = (window.attacked || 0) + 1"
HOSTILE = (
    f"<script>{ATTACK}</script>",
    f"</script><script>{ATTACK}</script>",
    f'<img src=x onerror="{ATTACK}">',
    f'"onmouseover="{ATTACK}"',
    f"' autofocus onfocus='{ATTACK}",
    f"javascript:{ATTACK}",
    f"<svg/onload={ATTACK}>",
    "<!-- --> <!--",
    "]]> <![CDATA[",
    "&lt;b&gt; &amp; &#60;",
    "${window.attacked = 1} `${1}`",
    "{{constructor.constructor('window.attacked=1')()}}",
    "__proto__",
    "constructor",
    "toString",
    "\u202eright to left\u202c",
    "\u2028\u2029",
    "a\u0000b\ufffe",
    "名字 ñ é 🧮",
    "\\u003c \\n \\",
    "x" * 300,
)


def hostile_graph() -> Graph:
    """A chain with a name of the list each, hostile types, tensors and description, and a fork at its end."""
    builder = GraphBuilder("<b>graph</b><script>window.attacked=1</script>", time_unit="tick")
    before: list[str] = []
    for number, name in enumerate(HOSTILE):
        tensor = f"tensor {name}"
        builder.add_tensor(tensor, bytes=1000 + number)
        builder.add_op(name, op_type=f"type {name}", duration=1 + number % 3, inputs=before, outputs=[tensor])
        before = [tensor]
    builder.add_op("beside", duration=2, after=[HOSTILE[0]])
    return dataclasses.replace(builder.build(), description=HOSTILE[2])


def hostile_machine() -> HardwareProfile:
    device = Device(f"<i>{HOSTILE[2]}</i>", model="lanes", streams=2)
    return HardwareProfile(f"{HOSTILE[1]} machine", (device,))


@pytest.fixture(scope="module")
def hostile_runs() -> Comparison:
    return compare(hostile_graph(), ["critical_path", "greedy_ready"], hostile_machine(), explain=True)


def walk(shown: Shown) -> None:
    """Look at everything: every step, every operator chosen and pointed at, both languages."""
    page = shown.page
    for language in ("en", "zh"):
        page.get_by_test_id("language").select_option(language)
        shown.click("to-start")
        page.evaluate(
            """() => {
              for (let step = 0; step < 120; step += 1) { simsched.app.stepForward(); simsched.app.flush(); }
              for (let op = 0; op < simsched.app.graph.names.length; op += 1) {
                simsched.app.set({ selected: op, hovered: op });
                simsched.app.flush();
              }
            }"""
        )
        shown.settle()


def assert_harmless(shown: Shown) -> None:
    page = shown.page
    assert page.evaluate("window.attacked") is None
    assert page.evaluate("document.querySelectorAll('script').length") == 2, "the data and the page's own script"
    assert page.evaluate("document.querySelectorAll('img, iframe, object, embed, base, form').length") == 0
    handlers = "[...document.querySelectorAll('*')].filter(e => [...e.attributes].some(a => a.name.startsWith('on')))"
    assert page.evaluate(f"{handlers}.length") == 0
    links = page.evaluate("[...document.querySelectorAll('[href], [src]')].map(e => e.getAttribute('href') || e.src)")
    assert [link for link in links if "javascript" in link] == []
    assert page.evaluate("({}).polluted") is None


def test_nothing_in_a_name_runs(hostile_runs: Comparison, open_page: Opener) -> None:
    shown = open_page(html_of(hostile_runs))
    walk(shown)
    assert_harmless(shown)


def test_names_are_shown_to_the_letter(hostile_runs: Comparison, open_page: Opener) -> None:
    shown = open_page(html_of(hostile_runs))
    graph = hostile_runs.problem.graph
    assert shown.page.evaluate("simsched.app.graph.names") == list(graph.names)
    assert shown.page.title().startswith("<b>graph</b><script>")
    assert shown.page.locator("h1").inner_text().startswith("<b>graph</b><script>")
    title = shown.page.evaluate("document.getElementById('title').textContent")
    assert title == f"{graph.name} on {hostile_runs.problem.hardware.name}"
    for op, name in enumerate(graph.names):
        shown.page.evaluate(f"simsched.app.set({{ selected: {op} }}), simsched.app.flush()")
        story = shown.page.evaluate("document.getElementById('story').textContent")
        assert name in story, name


def test_names_are_in_the_words_of_each_step(hostile_runs: Comparison, open_page: Opener) -> None:
    shown = open_page(html_of([hostile_runs.results[0]]))
    names = hostile_runs.problem.graph.names
    for _, kind, op, _ in shown.steps(0):
        words = shown.page.evaluate(
            "simsched.app.stepForward(), simsched.app.flush(),"
            " document.querySelector('[data-testid=words]').textContent"
        )
        assert names[op] in words, (kind, names[op])


def test_names_written_by_schedulers_are_text_as_well(open_page: Opener) -> None:
    run_of = labelled(f"{HOSTILE[0]}{HOSTILE[2]}")
    shown = open_page(html_of([run_of]))
    walk(shown)
    assert_harmless(shown)
    assert run_of.label in shown.page.locator("body").inner_text()


def labelled(label: str) -> Result:
    """A run under a hostile name, whose scheduler gives hostile reasons."""

    class Policy:
        def start(self, problem: object) -> object:
            def policy(view):  # type: ignore[no-untyped-def]
                return [(op, 0, f"because {label}") for op in view.ready]

            return policy

    return dataclasses.replace(run("residual", Policy(), "lanes:1", explain=True), written=label)  # type: ignore[arg-type]
