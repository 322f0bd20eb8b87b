"""The questions of the guided modes, asked and answered in the page as a learner does."""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest

from simsched.page.lessons import lessons
from tests.page.browser import Opener, Shown
from tests.page.cases import whole_page
from tests.page_cases import setting_document

Plain = dict[str, Any]


@cache
def lesson(name: str) -> Plain:
    (found,) = (each for each in lessons() if each["id"] == name)
    return found


LESSONS = ("loop", "strategies", "critical_path")
QUESTIONS = [(name, number) for name in LESSONS for number in range(len(lesson(name)["questions"]))]


class Learner:
    """Somebody in front of one lesson."""

    def __init__(self, shown: Shown, asked: Plain) -> None:
        self.shown, self.asked = shown, asked
        shown.click(f"tab-{asked['id']}")
        shown.settle()

    def name(self, question: Plain) -> str:
        return f"{self.asked['id']}-{question['id']}"

    def set_to(self, setting: str) -> None:
        """Change the controls, one after the other."""
        for control, value in zip(self.asked["controls"], setting.split("|"), strict=True):
            place = self.shown.page.get_by_test_id(f"control-{control['id']}")
            if place.evaluate("element => element.tagName") == "SELECT":
                place.select_option(value)
            else:
                self.shown.page.get_by_test_id(f"control-{control['id']}-{value}").check(force=True)
        self.shown.settle()

    def check(self, question: Plain) -> str:
        """Ask whether it is right; what the page says."""
        self.shown.click(f"check-{self.name(question)}")
        return self.shown.text(f"feedback-{self.name(question)}")

    def choose(self, question: Plain, option: int) -> str:
        self.shown.page.get_by_test_id(f"answer-{self.name(question)}-{option}").check()
        return self.check(question)

    def write(self, question: Plain, text: str) -> str:
        self.shown.page.get_by_test_id(f"answer-{self.name(question)}").fill(text)
        return self.check(question)

    def solved(self, question: Plain) -> bool:
        state = self.shown.page.get_by_test_id(f"question-{self.name(question)}").get_attribute("data-state")
        return state == "answered"


@pytest.mark.parametrize(("name", "number"), QUESTIONS)
def test_wrong_answers_are_refused_and_right_ones_taken(name: str, number: int, open_page: Opener) -> None:
    asked = lesson(name)
    question = asked["questions"][number]
    learner = Learner(open_page(whole_page()), asked)
    assert question["text"]["en"] in learner.shown.text(f"question-{learner.name(question)}")
    {"choice": answer_choice, "number": answer_number, "reach": answer_by_reaching}[question["kind"]](learner, question)
    assert learner.solved(question)
    others = [each for each in asked["questions"] if each["id"] != question["id"] and each["kind"] != "reach"]
    assert not any(learner.solved(each) for each in others)


def answer_choice(learner: Learner, question: Plain) -> None:
    right = question["answer"]
    learner.check(question)
    assert not learner.solved(question), "nothing was chosen"
    for option in range(len(question["options"])):
        if option != right:
            assert question["hint"]["en"] in learner.choose(question, option)
            assert not learner.solved(question)
    assert question["lesson"]["en"] in learner.choose(question, right)


def answer_number(learner: Learner, question: Plain) -> None:
    right = question["answer"]
    for text in ("", "many"):
        learner.write(question, text)
        assert not learner.solved(question), text
    for wrong in (right + 1, right - 1, -right):
        assert question["hint"]["en"] in learner.write(question, str(wrong))
        assert not learner.solved(question)
    assert question["lesson"]["en"] in learner.write(question, str(right))


def answer_by_reaching(learner: Learner, question: Plain) -> None:
    asked, reached = learner.asked, question["reached"]
    first = "|".join(control["initial"] for control in asked["controls"])
    assert reached, "some setting answers it"
    assert first not in reached, "the first setting does not"
    wrong = [first, *(setting for setting in asked["variants"] if setting not in reached)]
    for setting in dict.fromkeys([*wrong[:2], *wrong[-1:]]):
        learner.set_to(first)
        learner.shown.settle()
        if not on_the_way(asked, first, setting, reached):
            learner.set_to(setting)
            assert question["hint"]["en"] in learner.check(question)
            assert not learner.solved(question)
    learner.set_to(reached[0])
    assert question["lesson"]["en"] in learner.check(question)


def on_the_way(asked: Plain, begin: str, end: str, reached: list[str]) -> bool:
    """Whether changing one control after the other passes a setting that answers the question."""
    now = begin.split("|")
    for place, value in enumerate(end.split("|")):
        now[place] = value
        if "|".join(now) in reached:
            return True
    return False


@pytest.mark.parametrize("name", LESSONS)
def test_every_setting_shows_its_runs(name: str, open_page: Opener) -> None:
    """What the page shows after a change of the controls is what Python simulated for it."""
    asked = lesson(name)
    learner = Learner(open_page(whole_page()), asked)
    settings = list(asked["variants"])
    for setting in settings[:: max(1, len(settings) // 12)]:
        learner.set_to(setting)
        expected = setting_document(asked, setting)
        shown = learner.shown.page.evaluate(
            "({ graph: simsched.app.graph.name,"
            " runs: simsched.app.document.runs.map(run => [run.label, run.makespan]) })"
        )
        assert shown["graph"] == expected["graph"]["name"]
        assert shown["runs"] == [[run["label"], run["makespan"]] for run in expected["runs"]]
        drawn = learner.shown.page.locator("#runs section.run").count()
        assert drawn == len(expected["runs"])


@pytest.mark.parametrize("name", LESSONS)
def test_a_lesson_is_done_when_all_its_questions_are_answered(name: str, open_page: Opener) -> None:
    """In Chinese, so that nothing depends on the words."""
    asked = lesson(name)
    shown = open_page(whole_page())
    shown.page.get_by_test_id("language").select_option("zh")
    learner = Learner(shown, asked)
    for question in asked["questions"]:
        if question["kind"] == "choice":
            said = learner.choose(question, question["answer"])
        elif question["kind"] == "number":
            said = learner.write(question, str(question["answer"]).replace(".", ","))
        else:
            learner.set_to(question["reached"][-1])
            said = learner.check(question)
        assert question["lesson"]["zh"] in said
        assert learner.solved(question)
    shown.page.get_by_test_id("language").select_option("en")
    shown.settle()
    assert all(learner.solved(question) for question in asked["questions"]), "another language forgets nothing"


def test_the_replay_is_untouched_by_a_lesson(open_page: Opener) -> None:
    shown = open_page(whole_page())
    before = shown.page.evaluate("[simsched.app.graph.name, simsched.app.document.runs.map(run => run.makespan)]")
    learner = Learner(shown, lesson("loop"))
    learner.set_to(list(lesson("loop")["variants"])[-1])
    shown.click("tab-replay")
    shown.settle()
    after = shown.page.evaluate("[simsched.app.graph.name, simsched.app.document.runs.map(run => run.makespan)]")
    assert after == before
