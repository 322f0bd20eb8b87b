"""What graphs, runs and comparisons show in notebooks."""

from __future__ import annotations

import subprocess
import sys
from html.parser import HTMLParser
from typing import TYPE_CHECKING

import pytest

import simsched
from simsched.display import notebook_html
from simsched.graph.builder import GraphBuilder
from simsched.page.notebook import LARGEST_GRAPH, LARGEST_RUNS, graph_table, packed, runs_table
from simsched.result import Comparison, Failure
from tests.page.cases import case

if TYPE_CHECKING:
    from playwright.sync_api import Frame, Page

ATTACK = '</iframe><script>parent.attacked = 1</script>"\'><img src=x onerror="parent.attacked = 1">'


class Tags(HTMLParser):
    """Elements of a text, with the text in table cells."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.cells: list[str] = []
        self.in_cell = False
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        self.in_cell = tag in ("td", "th")
        if self.in_cell:
            self.cells.append("")

    def handle_endtag(self, tag: str) -> None:
        self.in_cell = False

    def handle_data(self, data: str) -> None:
        if self.in_cell:
            self.cells[-1] += data


@pytest.mark.parametrize("kind", ["graph", "run", "comparison"])
def test_it_is_a_frame_with_a_page_that_is_kept_apart(kind: str) -> None:
    comparison = case("residual on lanes:2")
    shown = {"graph": comparison.problem.graph, "run": comparison.results[0], "comparison": comparison}[kind]
    ((tag, attributes),) = Tags(shown._repr_html_()).tags
    assert tag == "iframe"
    assert attributes["sandbox"] == "allow-scripts", "no access to the notebook around it"
    assert attributes["title"] == "simsched"
    assert len(shown._repr_html_()) < 300_000, "a notebook keeps several"
    assert shown._repr_html_() == shown._repr_html_()


def frame_of(page: Page, html: str) -> Frame:
    """Put HTML into a page as a notebook does, and wait for the frame to be ready."""
    page.set_content(f"<p>before</p>{html}<p>after</p>")
    (frame,) = [each for each in page.frames if each != page.main_frame]
    for _ in range(200):
        if frame.evaluate("window.simsched !== undefined"):
            return frame
        page.wait_for_timeout(25)
    raise AssertionError("the page in the frame never began")


def test_a_comparison_is_replayed_inside_its_frame(page: Page) -> None:
    comparison = case("residual on lanes:2")
    frame = frame_of(page, comparison._repr_html_())
    labels = frame.evaluate("simsched.app.document.runs.map(run => [run.label, run.makespan])")
    assert labels == [[run.label, run.makespan] for run in comparison.results]
    frame.get_by_test_id("step-forward").click()
    assert frame.evaluate("simsched.state().cursor") == 1
    frame.get_by_test_id("to-end").click()
    assert set(frame.evaluate("simsched.state().states")["pipeline"]) == {"done"}
    assert page.locator("p").all_inner_texts() == ["before", "after"]


def test_a_graph_is_drawn_without_a_run(page: Page) -> None:
    graph = case("fork_join on lanes:2").problem.graph
    frame = frame_of(page, graph._repr_html_())
    assert frame.locator("[data-testid^=node-]").count() == len(graph)
    assert frame.locator("h1").inner_text() == "fork_join"
    assert "waiting" not in frame.locator("body").inner_text()
    assert not frame.get_by_test_id("play").is_visible(), "there is nothing to play"
    frame.get_by_test_id("node-3").click()
    assert frame.evaluate("simsched.state().selected") == 3


def test_hostile_names_do_nothing_to_the_notebook(page: Page) -> None:
    builder = GraphBuilder(ATTACK, time_unit="tick")
    builder.add_op(ATTACK, op_type=ATTACK, duration=1)
    graph = builder.build()
    frame = frame_of(page, simsched.run(graph, "serial", "lanes:1")._repr_html_())
    assert frame.evaluate("simsched.app.graph.names") == [ATTACK]
    frame.get_by_test_id("to-end").click()
    page.set_content(graph_table(graph))
    assert page.evaluate("window.attacked") is None
    assert page.locator("td").first.inner_text() == ATTACK
    assert page.locator("img, script").count() == 0


def test_packing_keeps_every_letter(page: Page) -> None:
    text = "<!doctype html><title>t</title><p>ä 名 🧮 \u2028 %s </p><script>window.ready = 1</script>"
    page.set_content(packed(text))
    for _ in range(100):
        if page.evaluate("window.ready === 1"):
            break
        page.wait_for_timeout(20)
    assert page.evaluate("document.querySelector('p').textContent") == "ä 名 🧮 \u2028 %s "


def test_many_operators_make_a_table_that_says_how_to_make_the_page() -> None:
    runs = simsched.compare("inception_v1", ["serial", "critical_path"] * 3, "a100_sxm_80gb")
    assert len(runs.problem.graph) * len(runs.results) > LARGEST_RUNS
    html = runs._repr_html_()
    cells = Tags(html).cells
    assert "<iframe" not in html
    assert cells[:6] == ["scheduler", "makespan", "speed-up", "gap", "peak memory", "valid"]
    assert cells[12:18] == ["critical_path", "1.056 ms", "2.51x", "0.0%", "33.4 MiB", "yes"]
    assert "simsched page GRAPH --hardware a100_sxm_80gb --schedulers serial,critical_path" in html


def test_large_graphs_are_a_table_of_their_types() -> None:
    graph = simsched.load_graph("resnet50")
    assert notebook_html(graph).startswith("<iframe") is (len(graph) <= LARGEST_GRAPH)
    cells = Tags(graph_table(graph)).cells
    counts = dict(zip(cells[2::2], cells[3::2], strict=True))
    assert counts["Conv"] == str(graph.op_types.count("Conv"))
    assert sum(int(count) for count in counts.values()) == len(graph)


def test_failures_are_rows_and_nothing_but_failures_is_a_table() -> None:
    comparison = case("residual on lanes:2")
    failed = Failure("mine", "it <b>broke</b>")
    cells = Tags(runs_table(comparison.results[:1], [failed])).cells
    assert cells[-2:] == ["mine", "it <b>broke</b>"]
    html = Comparison(comparison.problem, (), (failed,))._repr_html_()
    assert Tags(html).cells[-2:] == ["mine", "it <b>broke</b>"]


def test_an_empty_graph_is_a_table() -> None:
    graph = GraphBuilder("nothing").build()
    assert Tags(graph._repr_html_()).tags[0][0] == "p"


def test_plain_text_is_what_it_was() -> None:
    comparison = case("residual on lanes:2")
    assert repr(comparison.problem.graph) == "Graph('residual': 7 operators, 7 edges, 0 tensors)"
    assert repr(comparison.results[0]).startswith("Result(problem=Problem(graph=Graph('residual'")
    assert repr(comparison).startswith("Comparison(problem=Problem(")


def test_nobody_loads_the_page_before_a_notebook_asks() -> None:
    script = (
        "import sys, simsched\n"
        "run = simsched.run('residual', 'serial', 'lanes:1')\n"
        "assert not any(name.startswith('simsched.page') for name in sys.modules)\n"
        "assert run._repr_html_().startswith('<iframe')\n"
        "assert 'matplotlib' not in sys.modules and 'numpy' not in sys.modules\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
