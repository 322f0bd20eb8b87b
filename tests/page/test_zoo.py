"""Pages of graphs and runs at the edges of what there is: all that can be pressed is pressed, and everything holds."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator
from typing import Any

import pytest

from simsched.graph.builder import GraphBuilder
from simsched.graph.model import Graph
from simsched.hardware import Host
from simsched.page.document import page_document
from simsched.profiles import load_hardware
from simsched.profiles.variants import with_model
from simsched.result import Failure, Result
from simsched.run import compare, run
from tests.builders import linked_pair, zoo_graphs
from tests.page.browser import Opener, Shown
from tests.page.cases import FIVE, html_of
from tests.page.invariants import faults_of

Document = dict[str, Any]

# Steps to the end and back, looks at every operator in every run, and presses all that can be pressed, twice.
PRESS = """() => {
  const { app } = simsched;
  for (let step = 0; step < 40; step += 1) { app.stepForward(); app.flush(); }
  for (let step = 0; step < 15; step += 1) { app.instantBack(); app.flush(); }
  const { length } = app.graph.names;
  for (let op = 0; op < length; op += Math.ceil(length / 40)) {
    app.set({ selected: op, hovered: op, focus: op % Math.max(1, app.replays.length) });
    app.flush();
  }
  app.set({ selected: null, hovered: null });
  const pressed = "[data-testid]:is(button, summary, input[type=checkbox]):not([data-testid^=node-])";
  const ids = new Set([...document.querySelectorAll(pressed)].map((each) => each.dataset.testid));
  for (const id of ids) {
    for (let time = 0; time < 2; time += 1) {
      document.querySelector(`[data-testid="${CSS.escape(id)}"]`)?.click();
      app.flush();
    }
    for (const dialog of document.querySelectorAll("dialog[open]")) dialog.close();
  }
  app.set({ playing: false });
  app.flush();
}"""


def plain(name: str, durations: list[int], edges: list[tuple[int, int]]) -> Graph:
    builder = GraphBuilder(name, time_unit="tick")
    for op, duration in enumerate(durations):
        builder.add_op(f"v{op}", duration=duration)
    for source, target in edges:
        builder.add_edge(f"v{source}", f"v{target}")
    return builder.build()


def buffers() -> Graph:
    """Operators that write in place, under other names, and into buffers; with a tensor of no bytes."""
    builder = GraphBuilder("buffers", time_unit="tick")
    for tensor in "abcd":
        builder.add_tensor(tensor, bytes=1000)
    builder.add_tensor("buffer", bytes=500)
    builder.add_tensor("nothing", bytes=0)
    builder.add_op("make", duration=3, outputs=["a"])
    builder.add_op("in place", duration=3, inputs=["a"], outputs=["b"], inplace={"b": "a"})
    builder.add_op("view", duration=0, inputs=["b"], outputs=["c"], alias={"c": "b"})
    builder.add_op("use", duration=3, inputs=["c"], outputs=["d"], workspace=300)
    builder.add_op("write", duration=2, writes=["buffer"])
    builder.add_op("read", duration=2, reads=["buffer"], writes=["nothing"])
    return builder.build()


def copied() -> Graph:
    """A tensor of a TiB that two operators on another device read."""
    builder = GraphBuilder("copied", time_unit="ns")
    builder.add_tensor("large", bytes=2**40)
    builder.add_op("make", duration=5, outputs=["large"], device="d0")
    for name in ("one", "other"):
        builder.add_op(name, duration=7, inputs=["large"], device="d1")
    return builder.build()


def invalid() -> list[Result]:
    found = run("residual", "critical_path", "lanes:2", explain=True)
    long = "at 3: <b>operator</b> began too early " * 30
    return [dataclasses.replace(found, violations=("one thing", long)), dataclasses.replace(found, violations=None)]


def documents() -> Iterator[tuple[str, Document]]:
    for name, graph in zoo_graphs(deep=60, wide=120).items():
        yield f"zoo {name}", page_document(compare(graph, "topological,memory_aware", "lanes:3", explain=True).results)
    long = 10**18
    long_graph = plain("long", [long, 1, 0, long, long], [(0, 1), (1, 2), (2, 3)])
    yield "long", page_document(compare(long_graph, "serial,critical_path", "lanes:2", explain=True).results)
    yield "streams", page_document(compare("layered_random(n=150, seed=1)", FIVE[1:3], "lanes:100").results)
    yield "buffers", page_document(compare(buffers(), FIVE, "lanes:2", explain=True).results)
    yield "copied", page_document(compare(copied(), "critical_path,heft", linked_pair(), explain=True).results)
    threads = dataclasses.replace(load_hardware("toy_4sm"), host=Host(launch_ns=5000, mode="serial", threads=3))
    yield "threads", page_document(compare("inception_like(cells=1)", FIVE[1:3], threads, explain=True).results)
    blocks = with_model(load_hardware("toy_4sm"), "blocks")
    yield "blocks", page_document(compare("inception_like(cells=1)", FIVE[1:3], blocks, explain=True).results)
    noisy = compare("inception_like(cells=1)", "critical_path,heft", "toy_box", noise=0.5, explain=True)
    yield "noise", page_document(noisy.results)
    failures = [Failure("a" * 200, "it failed\n" * 20), Failure("<i>b</i>", "word " * 100)]
    yield "invalid", page_document(invalid(), failures=failures)
    machines = [run("residual", "serial", hardware) for hardware in ("lanes:1", "lanes:2", "procs:3")]
    yield "machines", page_document(machines)
    yield "many", page_document(compare("diamond", [f"random:{seed}" for seed in range(25)], "lanes:2").results)
    yield "long name", page_document([run(plain("g" * 400, [1, 2], []), "serial", "lanes:2")])


CASES = dict(documents())


def load(shown: Shown, document: Document) -> None:
    """Show another document in the page, as a live page does, while the last one plays."""
    shown.page.evaluate("simsched.app.set({ playing: true, speed: 8 })")
    shown.page.evaluate("text => simsched.app.load(JSON.parse(text))", json.dumps(document))


@pytest.fixture
def zoo_page(open_page: Opener) -> Shown:
    return open_page(html_of([run("residual", "serial", "lanes:2")]))


def test_whatever_is_shown_holds_together(zoo_page: Shown) -> None:
    for name, document in CASES.items():
        load(zoo_page, document)
        first = zoo_page.report()
        assert faults_of(zoo_page) == [], name
        zoo_page.page.evaluate(PRESS)
        assert faults_of(zoo_page) == [], name
        zoo_page.page.evaluate("simsched.app.toEnd()")
        assert all(set(states) <= {"done"} for states in zoo_page.report()["states"].values()), name
        zoo_page.page.evaluate("focus => { simsched.app.set({ focus }); simsched.app.toStart(); }", first["focus"])
        again = zoo_page.report()
        for key in ("cursor", "time", "states", "ready", "running", "words"):
            assert again[key] == first[key], (name, key)


def test_whatever_is_shown_fits_on_a_phone(zoo_page: Shown) -> None:
    page = zoo_page.page
    page.set_viewport_size({"width": 360, "height": 700})
    for number, (name, document) in enumerate(CASES.items()):
        load(zoo_page, document)
        page.evaluate("simsched.app.seek(simsched.app.timeline.end / 2)")
        page.evaluate("document.querySelectorAll('details').forEach((each) => { each.open = true; })")
        page.get_by_test_id("language").select_option(("en", "zh")[number % 2])
        zoo_page.settle()
        assert faults_of(zoo_page) == [], name


def test_the_scrubber_stays_where_there_is_no_time_to_go_to(zoo_page: Shown) -> None:
    load(zoo_page, CASES["zoo empty"])
    scrubber = zoo_page.page.get_by_test_id("scrubber")
    scrubber.fill("7000")
    zoo_page.settle()
    assert scrubber.input_value() == "0"
