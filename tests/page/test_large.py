"""Graphs of thousands of operators open and step."""

from __future__ import annotations

from functools import cache

from simsched.result import Result
from simsched.run import run
from tests.page.browser import Opener
from tests.page.cases import events_of, html_of

# Steps with every frame and counts the frames in which the picture of the graph has changed.
STEP_WITH_FRAMES = """async (frames) => {
  const canvases = [...document.querySelectorAll("#graph canvas")];
  // A copy is read: to read the page's own canvas would slow it down, and Chromium would say so.
  const copy = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const picture = () => canvases.map((each) => {
    copy.canvas.width = each.width;
    copy.canvas.height = each.height;
    copy.drawImage(each, 0, 0);
    const data = copy.getImageData(0, 0, each.width, each.height).data;
    let sum = 0;
    const mixed = (at) => data[at] + 7 * data[at + 1] + 11 * data[at + 2] + data[at + 3];
    for (let at = 0; at < data.length; at += 4) sum = (sum * 31 + mixed(at)) % 1000000007;
    return sum;
  }).join();
  const times = [];
  let changes = 0;
  let before = picture();
  for (let frame = 0; frame < frames; frame += 1) {
    const begin = performance.now();
    simsched.app.instantForward();
    await new Promise(requestAnimationFrame);
    await new Promise(requestAnimationFrame);
    times.push(performance.now() - begin);
    const now = picture();
    if (now !== before) changes += 1;
    before = now;
  }
  return { changes, median: times.sort((a, b) => a - b)[frames >> 1], canvases: canvases.length };
}"""


@cache
def large(operators: int) -> Result:
    return run(f"layered_random(n={operators}, seed=1, width=20)", "critical_path", "lanes:16")


def test_two_thousand_operators_are_drawn_while_they_are_stepped(open_page: Opener) -> None:
    shown = open_page(html_of([large(2000)]))
    assert shown.page.locator("[data-testid^=node-]").count() == 0, "so many are drawn on a canvas"
    assert shown.steps(0) == events_of(large(2000))
    done = shown.page.evaluate(STEP_WITH_FRAMES, 30)
    assert done["canvases"] > 0
    assert done["changes"] >= 25, "the picture follows"
    assert done["median"] < 1000, "far from a timed test: a step must not take a second"
    assert shown.report()["time"] > 0


def test_the_end_of_two_thousand_operators_is_one_step_away(open_page: Opener) -> None:
    shown = open_page(html_of([large(2000)]))
    shown.click("to-end")
    assert set(shown.report()["states"]["critical_path"]) == {"done"}
    shown.click("to-start")
    assert set(shown.report()["states"]["critical_path"]) == {"waiting"}


def test_twenty_thousand_operators_open_as_groups(open_page: Opener) -> None:
    shown = open_page(html_of([large(20_000)]))
    groups = shown.page.evaluate("simsched.app.graph.groups.names.length")
    assert 10 < groups < 1500
    assert shown.page.get_by_test_id("dag-groups").is_visible()
    shown.page.evaluate(f"simsched.app.seek({large(20_000).makespan // 2}), simsched.app.flush()")
    states = shown.report()["states"]["critical_path"]
    trace, now = large(20_000).trace, large(20_000).makespan // 2
    assert sum(state == "done" for state in states) == sum(end <= now for end in trace.end)
    shown.click("to-end")
    assert set(shown.report()["states"]["critical_path"]) == {"done"}
