"""Languages, light and dark, a phone, and no motion where none is wanted."""

from __future__ import annotations

import re
from typing import Any

import pytest

from tests.page.browser import Opener, Shown
from tests.page.cases import case, events_of, html_of, whole_page

CJK = re.compile("[\u4e00-\u9fff]")
PHONE = {"viewport": {"width": 360, "height": 740}, "has_touch": True, "is_mobile": True, "device_scale_factor": 2}
DESK = {"viewport": {"width": 1280, "height": 800}}
MODES = ("replay", "loop", "strategies", "critical_path")

# Contrast of every text that is seen against what is painted behind it, after WCAG 2.
LOW_CONTRAST = """(least) => {
  const rgb = (colour) => { const c = document.createElement("canvas"); c.width = c.height = 1;
    const g = c.getContext("2d", { willReadFrequently: true }); g.fillStyle = colour; g.fillRect(0, 0, 1, 1);
    return [...g.getImageData(0, 0, 1, 1).data]; };
  const linear = (value) => (value /= 255) <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  const light = ([r, g, b]) => 0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b);
  const behind = (element) => {
    for (let each = element; each; each = each.parentElement) {
      const colour = rgb(getComputedStyle(each).backgroundColor);
      if (colour[3] === 255) return colour;
    }
    return [255, 255, 255, 255];
  };
  const found = [];
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const element = texts.currentNode.parentElement;
    const text = texts.currentNode.textContent.trim();
    if (!text || element.closest("svg, script, style, option, noscript, [disabled]")) continue;
    if (!element.checkVisibility()) continue;
    const style = getComputedStyle(element);
    if (element.getBoundingClientRect().width < 2 || Number(style.opacity) < 1) continue;
    const [one, other] = [light(rgb(style.color)), light(behind(element))].sort((a, b) => b - a);
    const ratio = (one + 0.05) / (other + 0.05);
    if (ratio < least) found.push(`${text.slice(0, 30)}: ${ratio.toFixed(2)}`);
  }
  return found;
}"""


def show_mode(shown: Shown, mode: str) -> None:
    shown.click(f"tab-{mode}")
    shown.settle()
    assert shown.report()["mode"] == mode


@pytest.mark.parametrize(
    "look", [{**DESK, "color_scheme": scheme} for scheme in ("light", "dark")], ids=["light", "dark"]
)
def test_the_page_follows_the_readers_light_and_can_be_switched(look: dict[str, Any], open_page: Opener) -> None:
    shown = open_page(html_of(case("residual on lanes:2")))
    assert shown.report()["theme"] == look["color_scheme"]
    paper = "getComputedStyle(document.documentElement).backgroundColor"
    before = shown.page.evaluate(paper)
    shown.click("theme")
    shown.settle()
    assert shown.report()["theme"] != look["color_scheme"]
    assert shown.page.evaluate(paper) != before
    shown.click("theme")
    shown.settle()
    assert shown.page.evaluate(paper) == before


@pytest.mark.parametrize(
    "look", [{**DESK, "color_scheme": scheme} for scheme in ("light", "dark")], ids=["light", "dark"]
)
def test_every_text_can_be_read(look: dict[str, Any], open_page: Opener) -> None:
    del look
    shown = open_page(whole_page())
    for mode in MODES:
        show_mode(shown, mode)
        shown.page.evaluate("simsched.app.seek(2), simsched.app.set({ selected: 2 }), simsched.app.flush()")
        assert shown.page.evaluate(LOW_CONTRAST, 4.5) == [], mode


@pytest.mark.parametrize(
    ("look", "expected"),
    [({**DESK, "locale": "zh-CN"}, "zh"), ({**DESK, "locale": "zh-TW"}, "zh"), ({**DESK, "locale": "de-DE"}, "en")],
    ids=["zh-CN", "zh-TW", "de-DE"],
)
def test_the_language_is_the_readers(look: dict[str, Any], expected: str, open_page: Opener) -> None:
    del look
    shown = open_page(html_of(case("residual on lanes:2")))
    assert shown.report()["lang"] == expected
    assert shown.page.locator("html").get_attribute("lang") == {"zh": "zh-CN", "en": "en"}[expected]


def test_the_language_is_switched_everywhere(open_page: Opener) -> None:
    """No control keeps an English name, and no key of the dictionaries is shown."""
    shown = open_page(whole_page())
    names = """[...document.querySelectorAll("button, select, input, summary")].filter(e => e.checkVisibility())
      .map(e => e.getAttribute("aria-label") ?? (e.labels?.length ? e.labels[0].textContent : e.textContent))"""
    for mode in MODES:
        show_mode(shown, mode)
        shown.page.evaluate("simsched.app.set({ selected: 2 }), simsched.app.toEnd(), simsched.app.flush()")
        english = shown.page.evaluate(names)
        text = shown.page.locator("body").inner_text()
        assert [name for name in english if CJK.search(name or "") and "中文" not in name] == []
        shown.page.get_by_test_id("language").select_option("zh")
        shown.settle()
        assert shown.page.locator("html").get_attribute("lang") == "zh-CN"
        chinese = shown.page.evaluate(names)
        assert len(chinese) == len(english)
        kept = {one for one, other in zip(english, chinese, strict=True) if one == other}
        # Names of schedulers, machines and operators, and figures, are the same in every language.
        assert {name for name in kept if re.search(r"[A-Za-z]{3,} [a-z]{2,}", name or "") and "·" not in name} == set()
        for found in (text, shown.page.locator("body").inner_text()):
            assert re.findall(r"\b(?:tab|help|state|lessons|live|time|dag)_[a-z_]+\b", found) == []
        shown.page.get_by_test_id("language").select_option("en")
        shown.settle()
        assert shown.page.evaluate(names) == english, "and back again"


@pytest.mark.parametrize("look", [PHONE], ids=["phone"])
@pytest.mark.parametrize("language", ["en", "zh"])
def test_a_phone_shows_everything_without_scrolling_sideways(
    look: dict[str, Any], language: str, open_page: Opener
) -> None:
    width = look["viewport"]["width"]
    shown = open_page(whole_page())
    shown.page.get_by_test_id("language").select_option(language)
    for mode in MODES:
        show_mode(shown, mode)
        shown.page.evaluate("simsched.app.set({ selected: 2 }), simsched.app.toEnd(), simsched.app.flush()")
        shown.settle()
        assert shown.page.evaluate("document.documentElement.scrollWidth") <= width, mode
        small = """[...document.querySelectorAll("button, select, summary, input[type=range]")]
          .filter(e => e.checkVisibility() && !e.classList.contains("lane-head"))
          .map(e => [e.dataset.testid ?? e.textContent, e.getBoundingClientRect()])
          .filter(([, box]) => box.width > 0 && (box.width < 24 || box.height < 24)).map(([name]) => name)"""
        # Heads of lanes are as high as their rows; the name of the run above them does the same.
        assert shown.page.evaluate(small) == [], "too small for a finger"


@pytest.mark.parametrize("look", [PHONE], ids=["phone"])
def test_a_finger_steps_and_chooses(look: dict[str, Any], open_page: Opener) -> None:
    del look
    shown = open_page(html_of(case("residual on lanes:2")))
    shown.page.get_by_test_id("step-forward").tap()
    assert shown.report()["cursor"] == 1
    node = shown.page.get_by_test_id("node-1")
    node.scroll_into_view_if_needed()
    node.tap()
    assert shown.report()["selected"] == 1


@pytest.mark.parametrize("look", [{**DESK, "reduced_motion": "reduce"}], ids=["still"])
def test_nothing_moves_where_no_motion_is_wanted(look: dict[str, Any], open_page: Opener) -> None:
    del look
    comparison = case("residual on lanes:2")
    shown = open_page(html_of(comparison))
    moving = """[...document.querySelectorAll("*")].filter(e => { const s = getComputedStyle(e);
      const long = (list) => list.split(",").some(each => parseFloat(each) > 0.01);
      return (s.animationName !== "none" && long(s.animationDuration)) || long(s.transitionDuration); })
      .map(e => e.outerHTML.slice(0, 80))"""
    assert shown.page.evaluate(moving) == []
    times = {row[0] for run in comparison.results for row in events_of(run)}
    shown.page.get_by_test_id("speed").select_option("8")
    shown.click("play")
    seen = set()
    for _ in range(30):
        seen.add(shown.report()["time"])
        shown.page.wait_for_timeout(25)
    assert len(seen) > 2, "it plays"
    assert seen <= times, "from event to event"


def test_wide_and_narrow_windows_keep_everything_inside(open_page: Opener) -> None:
    shown = open_page(html_of(case("fork_join on lanes:2")))
    for width in (320, 480, 640, 768, 900, 1024, 1440, 1920):
        shown.page.set_viewport_size({"width": width, "height": 700})
        shown.settle()
        assert shown.page.evaluate("document.documentElement.scrollWidth") <= width, width


@pytest.mark.parametrize("look", [PHONE], ids=["phone"])
@pytest.mark.parametrize("over", ["#graph .dag-view", "[data-testid=run-0] .time-plot"])
def test_a_finger_that_wipes_over_a_picture_scrolls_the_page(
    look: dict[str, Any], over: str, open_page: Opener
) -> None:
    del look
    shown = open_page(html_of(case("residual on lanes:2")))
    shown.page.evaluate(f"document.querySelector({over!r}).scrollIntoView({{ block: 'center' }})")
    shown.settle()
    box = shown.page.locator(over).first.bounding_box()
    assert box is not None
    before = shown.page.evaluate("scrollY")
    finger = shown.page.context.new_cdp_session(shown.page)
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    for event, up in (("touchStart", 0), *(("touchMove", 15 * step) for step in range(1, 11))):
        finger.send("Input.dispatchTouchEvent", {"type": event, "touchPoints": [{"x": x, "y": y - up}]})
        shown.settle()
    finger.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
    shown.settle()
    assert shown.page.evaluate("scrollY") - before > 60


CHOSEN = "[role=tab][aria-selected=true], .words-step[aria-current], .run-name[aria-pressed=true]"
OTHERS = "[role=tab][aria-selected=false], .words-step:not([aria-current]), .run-name[aria-pressed=false]"


@pytest.mark.parametrize("look", [{**DESK, "forced_colors": "active"}], ids=["forced colours"])
def test_what_is_chosen_shows_where_the_system_chooses_the_colours(look: dict[str, Any], open_page: Opener) -> None:
    del look
    shown = open_page(whole_page())
    shown.page.evaluate("simsched.app.seek(2), simsched.app.flush()")
    grounds = "[...document.querySelectorAll({!r})].map(e => getComputedStyle(e).backgroundColor)"
    chosen, others = (set(shown.page.evaluate(grounds.format(each))) for each in (CHOSEN, OTHERS))
    assert len(chosen) == 1, "in one colour of the system"
    assert others
    assert not chosen & others
    fills = shown.page.evaluate(
        "[...document.querySelectorAll('.chip, .dag-chip')].map(e => getComputedStyle(e).backgroundColor)"
    )
    assert len(set(fills)) > 1, "the keys of the pictures keep their colours"


@pytest.mark.parametrize("look", [{**DESK, "color_scheme": "dark"}], ids=["dark"])
def test_paper_is_light_and_holds_no_buttons(look: dict[str, Any], open_page: Opener) -> None:
    del look
    shown = open_page(whole_page())
    shown.page.emulate_media(media="print")
    shown.page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    assert shown.report()["theme"] == "light"
    assert not shown.page.get_by_test_id("play").is_visible()
    assert not shown.page.get_by_role("tab").first.is_visible()
    assert shown.page.get_by_test_id("words").is_visible()
    shown.page.evaluate("window.dispatchEvent(new Event('afterprint'))")
    assert shown.report()["theme"] == "dark"
