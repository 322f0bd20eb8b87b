"""Everything can be reached and used without a mouse, and has a name for those who do not see it."""

from __future__ import annotations

import re

import pytest

from tests.page.browser import Opener, Shown
from tests.page.cases import case, html_of, whole_page

MODES = ("replay", "loop", "strategies", "critical_path")
MOST_STOPS = 200
# What has the focus: a mark that tells elements apart, and whether the focus is seen.
FOCUSED = """() => {
  const ring = getComputedStyle(document.documentElement).getPropertyValue("--focus-ring").trim();
  const probe = document.createElement("i");
  probe.style.color = ring;
  document.body.append(probe);
  const colour = getComputedStyle(probe).color;
  probe.remove();
  // A shape has no outline: a part of it is drawn in the colour of the focus, or what stands for a hidden input is.
  const shows = (style) => (style.stroke === colour && parseFloat(style.strokeWidth) >= 2)
    || (style.outlineStyle !== "none" && style.outlineColor === colour);
  const parts = (element) => [...element.querySelectorAll("*"), element.nextElementSibling].filter(Boolean);
  const ringed = (element) => parts(element).some((each) => shows(getComputedStyle(each)));
  const element = document.activeElement;
  if (!element || element === document.body) return null;
  element.dataset.stop ??= String((window.stops = (window.stops ?? 0) + 1));
  const style = getComputedStyle(element);
  const outlined = style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 1;
  const box = element.getBoundingClientRect();
  return {
    stop: element.dataset.stop,
    what: element.outerHTML.slice(0, 160),
    seen: outlined || style.boxShadow !== "none" || ringed(element),
    inside: box.bottom > 0 && box.top < innerHeight && box.right > 0 && box.left < innerWidth,
  };
}"""
# Whatever a mouse could use and is not reached by Tab itself or through a group that Tab reaches.
MISSED = """() => [...document.querySelectorAll(
  "button, select, input, textarea, a[href], summary, [role=button], [role=tab], [role=slider]")]
  .filter((element) => element.checkVisibility() && !element.disabled && !element.closest("dialog:not([open])"))
  .filter((element) => {
    if (element.dataset.stop) return false;
    if (element.type === "radio") {
      const group = [...document.querySelectorAll("input[type=radio]")].filter((each) => each.name === element.name);
      return !group.some((each) => each.dataset.stop);
    }
    const group = element.closest("[role=tablist], [role=application], [role=toolbar], [role=group], svg");
    return !(element.tabIndex < 0 && group && (group.dataset.stop || group.querySelector("[data-stop]")));
  }).map((element) => element.outerHTML.slice(0, 160))"""
ROLES = "button|combobox|slider|tab|checkbox|radio|textbox|link|switch|spinbutton|listbox|application|img"
NAMELESS = re.compile(rf"^\s*- ({ROLES})(?! \")(?:[ :\[]|$).*", re.MULTILINE)


def tab_through(shown: Shown) -> list[dict[str, object]]:
    """Press Tab until the focus comes round; what was stopped at."""
    stops: dict[str, dict[str, object]] = {}
    shown.page.evaluate("document.activeElement.blur(), window.scrollTo(0, 0)")
    for _ in range(MOST_STOPS):
        shown.page.keyboard.press("Tab")
        focused = shown.page.evaluate(FOCUSED)
        if focused is None:  # behind the last one the focus leaves the page, and comes back to the first
            continue
        if focused["stop"] in stops:
            break
        stops[focused["stop"]] = focused
    assert len(stops) < MOST_STOPS
    return list(stops.values())


@pytest.mark.parametrize("mode", MODES)
def test_tab_reaches_every_control_and_shows_where_it_is(mode: str, open_page: Opener) -> None:
    shown = open_page(whole_page())
    shown.click(f"tab-{mode}")
    shown.page.evaluate("simsched.app.stepForward(), simsched.app.set({ selected: 2 }), simsched.app.flush()")
    stops = tab_through(shown)
    assert len(stops) > 10
    assert [stop["what"] for stop in stops if not stop["seen"]] == [], "the focus is not seen"
    assert [stop["what"] for stop in stops if not stop["inside"]] == [], "the focus is out of sight"
    assert shown.page.evaluate(MISSED) == [], "a mouse can use it, the keyboard cannot"


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("language", ["en", "zh"])
def test_every_control_has_a_name(mode: str, language: str, open_page: Opener) -> None:
    shown = open_page(whole_page())
    shown.page.get_by_test_id("language").select_option(language)
    shown.click(f"tab-{mode}")
    shown.page.evaluate("simsched.app.stepForward(), simsched.app.set({ selected: 2 }), simsched.app.flush()")
    heard = shown.page.locator("body").aria_snapshot()
    assert len(re.findall(rf"^\s*- (?:{ROLES}) \"", heard, re.MULTILINE)) > 10
    assert [found[0] for found in NAMELESS.finditer(heard)] == []


def test_a_missing_name_is_found(open_page: Opener) -> None:
    shown = open_page(html_of(case("residual on lanes:2")))
    shown.page.evaluate("document.body.append(document.createElement('button'), document.createElement('select'))")
    heard = shown.page.locator("body").aria_snapshot()
    assert [found[1] for found in NAMELESS.finditer(heard)] == ["button", "combobox"]


def test_the_tabs_are_moved_by_arrows(open_page: Opener) -> None:
    shown = open_page(whole_page())
    shown.page.get_by_test_id("tab-replay").focus()
    for mode in (*MODES[1:], MODES[0]):
        shown.page.keyboard.press("ArrowRight")
        assert shown.report()["mode"] == mode
        assert shown.page.evaluate("document.activeElement.dataset.testid") == f"tab-{mode}"
    shown.page.keyboard.press("ArrowLeft")
    assert shown.report()["mode"] == MODES[-1]


def test_a_run_is_watched_by_keys_alone(open_page: Opener) -> None:
    """From a fresh page: play, pause, step, the run in focus, an operator and its story, and out again."""
    shown = open_page(html_of(case("fork_join on lanes:2")))
    press, report = shown.page.keyboard.press, shown.report
    press("Space")
    assert report()["playing"]
    shown.page.wait_for_timeout(60)
    press("Space")
    assert not report()["playing"]
    press("Home")
    press("ArrowRight")
    press("ArrowRight")
    assert report()["cursor"] == shown.page.evaluate("simsched.app.timeline.after(0)") - 1 or report()["cursor"] > 1
    before = report()["run"]
    press("]")
    assert report()["run"] != before
    press("[")
    assert report()["run"] == before
    shown.page.get_by_test_id("node-0").focus()
    press("Enter")
    assert report()["selected"] == 0
    press("Escape")
    assert report()["selected"] is None


def test_help_opens_lists_the_keys_and_closes(open_page: Opener) -> None:
    shown = open_page(html_of(case("residual on lanes:2")))
    dialog = shown.page.get_by_test_id("help-dialog")
    assert not dialog.is_visible()
    shown.page.keyboard.press("?")
    assert dialog.is_visible()
    text = dialog.inner_text()
    for key in ("→", "Home", "End", "[", "]", "Esc", "?"):
        assert key in text
    shown.page.keyboard.press("Escape")
    assert not dialog.is_visible()
    shown.page.get_by_test_id("help").focus()
    shown.page.keyboard.press("Enter")
    assert dialog.is_visible()
    assert shown.page.evaluate("document.activeElement.closest('dialog') !== null"), "the focus goes into the dialog"
    shown.page.keyboard.press("Escape")
    assert shown.page.evaluate("document.activeElement.dataset.testid") == "help", "and comes back"


def test_the_graph_is_walked_with_arrows(open_page: Opener) -> None:
    """One stop for Tab; arrows go along edges and to neighbours, and reach every operator."""
    shown = open_page(html_of(case("fork_join on lanes:2")))
    shown.page.get_by_test_id("node-0").focus()
    reached = set()
    for _ in range(4):
        for key in ("ArrowDown", *["ArrowRight"] * 4, *["ArrowLeft"] * 4):
            shown.page.keyboard.press(key)
            reached.add(shown.page.evaluate("document.activeElement.dataset.testid"))
    assert reached >= {f"node-{op}" for op in range(1, 11)}


def test_lanes_are_walked_with_arrows(open_page: Opener) -> None:
    shown = open_page(html_of(case("graham on lanes:3")))
    shown.page.get_by_test_id("lane-0-0").focus()
    for key, expected in (("ArrowDown", 1), ("ArrowDown", 2), ("ArrowUp", 1), ("ArrowUp", 0)):
        shown.page.keyboard.press(key)
        assert shown.page.evaluate("document.activeElement.dataset.testid") == f"lane-0-{expected}"


def test_words_are_announced_and_nothing_else_is(open_page: Opener) -> None:
    shown = open_page(whole_page())
    live = shown.page.evaluate(
        "[...document.querySelectorAll('[aria-live], [role=status], [role=alert], [role=log]')]"
        ".filter(e => e.checkVisibility()).map(e => e.dataset.testid)"
    )
    assert live == ["words"]
    states = shown.page.evaluate(
        "[...document.querySelectorAll('[data-testid^=node-]')].map(e => e.getAttribute('aria-label') ?? e.textContent)"
    )
    assert len(states) == 11
    assert all("waiting" in state.lower() for state in states), "state is text, too"


def focused(shown: Shown) -> str:
    """Name of what has the focus."""
    shown.settle()
    name: str = shown.page.evaluate(
        "(e => e.dataset.testid ?? e.getAttribute('aria-labelledby') ?? e.tagName)(document.activeElement)"
    )
    return name


def test_the_focus_stays_near_what_has_gone(open_page: Opener) -> None:
    shown = open_page(whole_page())
    shown.page.evaluate("simsched.app.set({ selected: 4 })")
    shown.settle()
    for gone in (".story-line button", ".story-close"):
        shown.page.locator(gone).first.focus()
        shown.page.keyboard.press("Enter")
        assert focused(shown) == "story-title"
    shown.page.keyboard.press("ArrowRight")
    assert len(shown.report()["ready"]) == 1
    shown.page.get_by_test_id("ready-list").get_by_role("button").focus()
    for _ in range(2):
        shown.page.keyboard.press("ArrowRight")
    assert shown.report()["ready"] == []
    assert focused(shown) == "ready-list"


def test_readers_are_left_in_peace_while_it_plays(open_page: Opener) -> None:
    shown = open_page(whole_page())
    words = shown.page.get_by_test_id("words")
    shown.page.evaluate(
        """() => {
          window.heard = [];
          const words = document.querySelector("[data-testid=words]");
          new MutationObserver(() => words.ariaLive === "polite" && window.heard.push(words.textContent))
            .observe(words, { childList: true, subtree: true, characterData: true });
        }"""
    )
    shown.click("play")
    shown.wait_until("simsched.state().cursor > 4")
    assert words.get_attribute("aria-live") == "off"
    assert shown.page.evaluate("window.heard") == []
    shown.click("play")
    shown.settle()
    assert words.get_attribute("aria-live") == "polite"
    assert shown.page.evaluate("window.heard.at(-1)") == words.text_content()
