"""A reader who presses, pulls and types whatever comes to hand; the same one for the same seed."""

from __future__ import annotations

import random
from collections.abc import Callable
from functools import cache

import pytest

from simsched.page.document import page_document
from simsched.page.html import page_data, page_html
from simsched.page.lessons import lessons
from simsched.run import compare
from tests.page.browser import Opener, Shown
from tests.page.cases import FIVE
from tests.page.invariants import faults_of

ACTIONS = 150
"""Of each walk; SEEDS and this can be raised to look for more."""
SEEDS = (1,)
LOOKS = 50
"""Actions between two looks at what must hold."""

KEYS = (
    "ArrowLeft", "ArrowRight", "Shift+ArrowLeft", "Shift+ArrowRight", "ArrowUp", "ArrowDown", "Home", "End", "PageUp",
    "PageDown", "BracketLeft", "BracketRight", "Escape", "Space", "Tab", "Shift+Tab", "Enter", "Delete", "a", "?", "+",
    "-", "0",
)  # fmt: skip
TEXTS = ("", "7", "-1", "1e9", "nan", "inf", "<b>", "9" * 30, "5 us", "12.5", "名", "'")
PRESSED = (
    "button", "summary", "[role=tab]", "[data-testid^=node-]", "#lesson button, #lesson input, #lesson label",
    "#runs button, #summary button, #lists button, #story button", "input[type=radio], input[type=checkbox]",
    "[tabindex='0']",
)  # fmt: skip

# Each takes numbers below 1, which choose; in an open dialog only what is in it.
CHOOSE = """(kind, number) => {
  const top = document.querySelector("dialog[open]") ?? document;
  const all = [...top.querySelectorAll(kind)].filter((each) => each.checkVisibility() && !each.disabled);
  return all[Math.floor(number * all.length)];
}"""
PRESS = f"""([kind, number]) => {{
  const found = ({CHOOSE})(kind, number);
  found?.focus?.();
  found?.dispatchEvent(new MouseEvent("click", {{ bubbles: true, cancelable: true }}));
}}"""
SELECT = f"""([number, other]) => {{
  const found = ({CHOOSE})("select", number);
  if (!found?.options.length) return;
  found.selectedIndex = Math.floor(other * found.options.length);
  for (const type of ["input", "change"]) found.dispatchEvent(new Event(type, {{ bubbles: true }}));
}}"""
WRITE = f"""([number, text, share]) => {{
  const found = ({CHOOSE})("input:not([type=radio], [type=checkbox])", number);
  if (!found) return;
  const whole = Number(found.max || 100) - Number(found.min || 0);
  found.focus();
  found.value = found.type === "range" ? String(Math.round(Number(found.min || 0) + share * whole)) : text;
  for (const type of ["input", "change"]) found.dispatchEvent(new Event(type, {{ bubbles: true }}));
}}"""
PLACE = f"""([number]) => {{
  const found = ({CHOOSE})("#graph svg, #graph canvas, #runs .time-plot, #graph, #player", number);
  found?.scrollIntoView({{ block: "center" }});
  const box = (found ?? document.body).getBoundingClientRect();
  return [box.x, box.y, box.width, box.height];
}}"""


class Monkey:
    """Acts at random on a page."""

    def __init__(self, shown: Shown, seed: int) -> None:
        self.page = shown.page
        self.rng = random.Random(seed)
        self.done: list[str] = []

    def act(self) -> None:
        actions: tuple[tuple[int, Callable[[], object]], ...] = (
            (30, self.key), (24, self.press), (8, self.select), (12, self.write), (7, self.point), (6, self.drag),
            (7, self.wheel), (3, self.size), (3, self.wait),
        )  # fmt: skip
        (action,) = self.rng.choices([each for _, each in actions], [weight for weight, _ in actions])
        self.done.append(action.__name__)
        action()

    def key(self) -> None:
        self.page.keyboard.press(self.rng.choice(KEYS))

    def press(self) -> None:
        self.page.evaluate(PRESS, [self.rng.choice(PRESSED), self.rng.random()])

    def select(self) -> None:
        self.page.evaluate(SELECT, [self.rng.random(), self.rng.random()])

    def write(self) -> None:
        self.page.evaluate(WRITE, [self.rng.random(), self.rng.choice(TEXTS), self.rng.random()])

    def point(self) -> tuple[float, float]:
        x, y, width, height = self.page.evaluate(PLACE, [self.rng.random()])
        place = (x + self.rng.random() * width, y + self.rng.random() * height)
        self.page.mouse.move(*place)
        return place

    def drag(self) -> None:
        x, y = self.point()
        self.page.mouse.down()
        for _ in range(self.rng.randint(0, 3)):
            self.page.mouse.move(x + self.rng.uniform(-200, 200), y + self.rng.uniform(-200, 200))
        self.page.mouse.up()

    def wheel(self) -> None:
        self.point()
        held = self.rng.random() < 0.6
        if held:
            self.page.keyboard.down("Control")
        self.page.mouse.wheel(self.rng.choice((0, 80)), self.rng.choice((-10_000, -300, -100, 100, 300, 10_000)))
        if held:
            self.page.keyboard.up("Control")

    def size(self) -> None:
        width, height = self.rng.choice((360, 500, 700, 1000, 1440)), self.rng.choice((500, 700, 900))
        self.page.set_viewport_size({"width": width, "height": height})

    def wait(self) -> None:
        self.page.wait_for_timeout(self.rng.choice((5, 20, 50)))


@cache
def pages() -> dict[str, str]:
    lessons_too = page_document(compare("residual", FIVE, "lanes:2", explain=True).results)
    copies = page_document(compare("inception_like(cells=1)", "critical_path,heft", "toy_box", explain=True).results)
    groups = page_document(compare("layered_random(n=5000, seed=1)", "critical_path", "lanes:16").results)
    return {
        "lessons": page_html(page_data(lessons_too, lessons=lessons())),
        "copies": page_html(page_data(copies)),
        "groups": page_html(page_data(groups)),
    }


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("name", ["lessons", "copies", "groups"])
def test_whatever_a_reader_does_everything_holds(name: str, seed: int, open_page: Opener) -> None:
    shown = open_page(pages()[name])
    monkey = Monkey(shown, seed)
    for number in range(1, ACTIONS + 1):
        monkey.act()
        if number % LOOKS == 0:
            shown.settle()
            assert faults_of(shown) == [], (number, monkey.done[-LOOKS:])
