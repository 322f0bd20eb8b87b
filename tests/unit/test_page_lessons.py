"""Lessons: every answer is held against the runs as the page shows them, against published figures, and by hand."""

from __future__ import annotations

import json
import re
import time
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from simsched.page.lessons import lessons
from simsched.page.live import answer
from tests.page.node import run_node
from tests.page_cases import setting_document
from tests.page_shapes import faults_of, shapes

Plain = dict[str, Any]
LESSONS: dict[str, Plain] = {lesson["id"]: lesson for lesson in lessons()}
QUESTIONS = [(lesson, question) for lesson in LESSONS.values() for question in lesson["questions"]]
IDS = [f"{lesson['id']}-{question['id']}" for lesson, question in QUESTIONS]
REACH = [pair for pair in QUESTIONS if pair[1]["kind"] == "reach"]
MIB = 2**20
CHINESE = re.compile("[\u4e00-\u9fff]")


def shown(lesson: str, *values: object) -> Plain:
    return setting_document(LESSONS[lesson], "|".join(str(value) for value in values))


def only_run(lesson: str, *values: object) -> Plain:
    (run,) = shown(lesson, *values)["runs"]
    return dict(run)


def column(document: Plain, name: str) -> dict[str, int]:
    """A column of the only run of a document, by the names of operators."""
    (run,) = document["runs"]
    return dict(zip(document["graph"]["names"], run[name], strict=True))


def question(lesson: str, which: str) -> Plain:
    return dict(next(each for each in LESSONS[lesson]["questions"] if each["id"] == which))


def settings(lesson: Plain) -> list[str]:
    return ["|".join(values) for values in product(*([v["value"] for v in c["values"]] for c in lesson["controls"]))]


def initial(lesson: Plain) -> str:
    return "|".join(control["initial"] for control in lesson["controls"])


# --- all lessons ---------------------------------------------------------------------------------------------------


def test_there_are_three_lessons_of_three_or_four_questions() -> None:
    assert list(LESSONS) == ["loop", "strategies", "critical_path"]
    assert all(3 <= len(lesson["questions"]) <= 4 for lesson in LESSONS.values())


@pytest.mark.parametrize("lesson", LESSONS.values(), ids=list(LESSONS))
def test_each_setting_shows_valid_runs_and_has_the_shape_that_the_page_reads(lesson: Plain) -> None:
    assert shapes().faults("Lesson", lesson) == []
    assert list(lesson["variants"]) == settings(lesson)
    for setting in lesson["variants"]:
        document = setting_document(lesson, setting)
        assert faults_of(document) == []
        assert all(run["valid"] and run["parts"] is not None for run in document["runs"])
        assert all(run["reasons"] for run in document["runs"] if run["label"] not in ("serial", "topological"))


@pytest.mark.parametrize(("lesson", "asked"), REACH, ids=[f"{one['id']}-{two['id']}" for one, two in REACH])
def test_a_setting_that_is_to_be_found_is_there_and_has_to_be_looked_for(lesson: Plain, asked: Plain) -> None:
    reached = asked["reached"]
    assert 0 < len(reached) < len(settings(lesson))
    assert set(reached) < set(settings(lesson))
    assert initial(lesson) not in reached


@pytest.mark.parametrize(("lesson", "asked"), QUESTIONS, ids=IDS)
def test_a_question_has_one_answer_and_texts_in_both_languages(lesson: Plain, asked: Plain) -> None:
    texts = [asked["text"], asked["hint"], asked["lesson"], lesson["title"], lesson["introduction"]]
    assert all(CHINESE.search(text["zh"]) and not CHINESE.search(text["en"]) for text in texts)
    if asked["kind"] == "choice":
        assert len(asked["options"]) == 4
        assert asked["answer"] in range(4)
        for language in ("en", "zh"):
            assert len({option[language] for option in asked["options"]}) == 4
    if asked["kind"] == "number":
        # What is to be written must not depend on how one rounds.
        assert float(f"{asked['answer']:.1f}") == asked["answer"]


def numbers(text: str) -> list[str]:
    return sorted(re.findall(r"\d+(?:\.\d+)?", text))


@pytest.mark.parametrize(("lesson", "asked"), QUESTIONS, ids=IDS)
def test_both_languages_name_the_same_figures(lesson: Plain, asked: Plain) -> None:
    # Small numbers are words in English: "one stream", "eight".
    for part in ("hint", "lesson"):
        english = numbers(asked[part]["en"])
        assert [figure for figure in numbers(asked[part]["zh"]) if figure not in english] == []


def test_all_lessons_are_small_and_always_the_same() -> None:
    again = lessons()
    assert again == list(LESSONS.values())
    assert len(json.dumps(again, ensure_ascii=False, separators=(",", ":")).encode()) < 500_000


def test_all_lessons_are_made_within_two_seconds() -> None:
    # A third of that on an idle machine; the best of some tries, since others may use it too.
    assert any(seconds_for_lessons() < 2 for _ in range(3))


def seconds_for_lessons() -> float:
    before = time.process_time()
    lessons()
    return time.process_time() - before


def test_a_live_page_runs_a_setting_again_to_the_same_ends() -> None:
    for lesson in lessons(live=True):
        # Every seventh: all of them would take seven seconds.
        for setting, variant in list(lesson["variants"].items())[::7]:
            if len(variant["runs"]) > 1:
                assert variant["problem"] is None
                continue
            document = setting_document(lesson, setting)
            response = json.loads(answer(json.dumps({"kind": "run", "problem": document["problem"], "edits": {}})))
            (run,) = response["document"]["runs"]
            assert (run["start"], run["end"]) == (document["runs"][0]["start"], document["runs"][0]["end"])


# --- the scheduling loop -------------------------------------------------------------------------------------------


def test_the_ready_set_is_what_the_events_leave_in_it() -> None:
    asked = question("loop", "ready")
    document = shown("loop", 1, "critical_path", 1)
    ready, dispatch, end = (column(document, name) for name in ("ready", "dispatch", "end"))
    now = end["pre3"]
    left: set[str] = set()
    # Within an instant: ends, then what becomes ready, then dispatches; the question is asked before these.
    for when, kind, name in sorted([(t, 0, n) for n, t in ready.items()] + [(t, 1, n) for n, t in dispatch.items()]):
        if (when, kind) < (now, 1):
            left = left | {name} if kind == 0 else left - {name}
    assert set(asked["options"][asked["answer"]]["en"].split(", ")) == left == {"conv1", "conv3", "pre5", "pool"}


def test_the_two_large_convolutions_overlap_exactly_where_the_answer_says() -> None:
    overlap = []
    for setting in LESSONS["loop"]["variants"]:
        document = shown("loop", *setting.split("|"))
        start, end = column(document, "start"), column(document, "end")
        busy = [set(range(start[name], end[name])) for name in ("conv3", "conv5")]
        if busy[0] & busy[1]:
            overlap.append(setting)
    assert question("loop", "together")["reached"] == overlap
    # As the lesson says: two streams and SMs for both are all that it takes.
    assert overlap == [setting for setting in LESSONS["loop"]["variants"] if setting[0] != "1" and setting[-1] == "1"]


def test_three_streams_reach_the_longest_path_of_the_block() -> None:
    assert question("loop", "enough")["answer"] == 3
    # By hand: input 1, pre3 2, conv3 4, join 1; all nine together 17.
    ends = [only_run("loop", streams, "critical_path", 1)["makespan"] for streams in (1, 2, 3, 4)]
    assert ends == [17, 10, 8, 8]
    assert 1 + 2 + 4 + 1 == 8


def test_the_large_convolution_waits_for_sms_beside_free_streams() -> None:
    document = shown("loop", 4, "critical_path", 4)
    ready, start, end = (column(document, name) for name in ("ready", "start", "end"))
    assert (ready["conv3"], start["conv3"]) == (3, 5)
    running = [name for name in start if start[name] <= 3 < end[name]]
    assert 0 < len(running) < 4, "a stream is free, and not all four SMs are"
    asked = question("loop", "why")
    assert "SMs" in asked["options"][asked["answer"]]["en"]
    assert ", ".join(running) in asked["lesson"]["en"]


# --- strategies ----------------------------------------------------------------------------------------------------

WHOLE = 72
"""Three stages, eight samples, 1 forward and 2 backward: 3 x 8 x 3."""


def test_parallel_streams_are_three_times_as_fast_from_four_microbatches_on() -> None:
    ends = {count: only_run("strategies", "streams", count)["makespan"] for count in (1, 2, 4, 8)}
    assert ends == {1: WHOLE, 2: WHOLE // 2, 4: WHOLE // 3, 8: WHOLE // 3}
    assert question("strategies", "split")["reached"] == ["all|4", "all|8", "streams|4", "streams|8"]


def test_one_strategy_alone_is_faster_at_no_more_memory() -> None:
    serial = only_run("strategies", "serial", 4)
    good = [
        name
        for name in ("streams", "memory", "memory_more")
        if (run := only_run("strategies", name, 4))["makespan"] < serial["makespan"]
        and run["figures"]["peak_bytes"] <= serial["figures"]["peak_bytes"]
    ]
    assert good == ["memory"]
    assert question("strategies", "memory")["answer"] == 1


@pytest.mark.parametrize("count", [1, 2, 4, 8])
def test_the_pipeline_has_the_bubble_and_the_memory_that_its_papers_say(count: int) -> None:
    bubble = 2 / (count + 2)
    piece = 32 // count  # MiB of activations of a microbatch in a stage: 8 samples of 4 MiB
    for name, kept in (("gpipe", count), ("1f1b", min(count, 3))):
        figures = only_run("strategies", name, count)["figures"]
        assert 1 - figures["utilisation"] == pytest.approx(bubble, abs=1e-6)
        assert figures["peak_bytes"] == (6 + kept * piece) * MIB
    filled = {f"{name}|{count}" for name in ("all", "gpipe", "1f1b")} & set(question("strategies", "bubble")["reached"])
    assert len(filled) == (3 if bubble <= 0.25 else 0)


def test_the_design_is_met_by_what_fits_and_is_twice_as_fast() -> None:
    fits = [
        setting
        for setting in LESSONS["strategies"]["variants"]
        if len(runs := shown("strategies", *setting.split("|"))["runs"]) == 1
        and runs[0]["makespan"] <= WHOLE / 2
        and max(max(steps["value"]) for steps in runs[0]["memory_steps"]) <= 32 * MIB
    ]
    assert question("strategies", "design")["reached"] == fits == ["1f1b|4", "1f1b|8"]


# --- the critical path ---------------------------------------------------------------------------------------------


def test_freed_tasks_on_lanes_take_what_graham_published() -> None:
    # 12 on three machines and 15 on four (SIAM J. Appl. Math. 17(2), 1969); doubled, with 4 before and 4 after.
    ends = {lanes: only_run("critical_path", "free", lanes, "none")["makespan"] for lanes in (1, 2, 3, 4, 8)}
    assert (ends[3], ends[4]) == (2 * 12 + 8, 2 * 15 + 8)
    assert (ends[1], ends[8]) == (76, 4 + 6 + 18 + 4)
    assert {only_run("critical_path", "row", lanes, "none")["makespan"] for lanes in (1, 2, 3, 4, 8)} == {76}


def test_only_freed_tasks_on_several_lanes_are_twice_as_fast() -> None:
    fast = [
        setting
        for setting in LESSONS["critical_path"]["variants"]
        if only_run("critical_path", *setting.split("|"))["makespan"] <= 38
    ]
    assert question("critical_path", "twice")["reached"] == fast
    assert all(setting.startswith("free|") and not setting.startswith("free|1") for setting in fast)


def test_what_is_saved_off_the_path_and_beyond_the_next_path_is_not_gained() -> None:
    asked = question("critical_path", "bought")
    # By hand: Load 4, then the longer of T1 6 + T9 and T4 4 + the longest of T5 to T8, then Join 4.
    longest = [4 + max(6 + t9, 4 + max(t5, 8)) + 4 for t5, t9 in ((8, 18), (4, 18), (8, 9), (8, 2))]
    gains = [longest[0] - length for length in longest[1:]]
    assert asked["options"][asked["answer"]]["en"] == ", ".join(map(str, gains)) == "0, 9, 12"


def test_amdahl_allows_what_the_work_over_its_serial_part_is() -> None:
    work = sum((4, 6, 4, 4, 4, 8, 8, 8, 8, 18, 4))
    assert question("critical_path", "amdahl")["answer"] == work / (4 + 4) == 9.5
    (bound,) = [
        b["ns"] for b in shown("critical_path", "free", 2, "none")["machines"][0]["bounds"] if b["name"] == "amdahl"
    ]
    assert bound == 8 + (work - 8) // 2 == only_run("critical_path", "free", 2, "none")["makespan"]


def test_less_work_takes_longer_exactly_where_the_answer_says() -> None:
    worse = []
    for setting in LESSONS["critical_path"]["variants"]:
        order, lanes, _ = setting.split("|")
        if (
            only_run("critical_path", *setting.split("|"))["makespan"]
            > only_run("critical_path", order, lanes, "none")["makespan"]
        ):
            worse.append(setting)
    assert question("critical_path", "longer")["reached"] == worse == ["free|3|T2"]
    before, after = (column(shown("critical_path", "free", 3, which), "start") for which in ("none", "T2"))
    assert after["T4"] < before["T4"]
    assert after["T9"] > before["T9"]
    assert max(after[name] for name in ("T5", "T6", "T7")) < after["T9"], "those that wait for T4 go before T9"


# --- the page's scripts --------------------------------------------------------------------------------------------

JUDGED = """
import { LessonProgress, settingDocument } from "./js/lesson_progress.js";

const NUMBERS = ["", "x", " 9.5", "9,5", "3", "03", "1e400"];
const triesOf = { reach: (lesson) => Object.keys(lesson.variants), number: () => NUMBERS };
triesOf.choice = (_, question) => question.options.map((_, index) => String(index));

function judged(lesson, question) {
  const progress = new LessonProgress(lesson);
  return triesOf[question.kind](lesson, question).map((each) => {
    const values = each.split("|");
    if (question.kind === "reach") values.forEach((value, at) => progress.change(lesson.controls[at].id, value));
    else progress.given.set(question.id, each);
    return [question.id, each, progress.check(question), progress.solved.has(question.id)];
  });
}

const documentsOf = (lesson) => Object.keys(lesson.variants).map((key) => [key, settingDocument(lesson, key)]);
say({
  answers: input.map((lesson) => lesson.questions.flatMap((question) => judged(lesson, question))),
  documents: input.map((lesson) => Object.fromEntries(documentsOf(lesson))),
});
"""


def test_the_page_puts_the_same_documents_together_and_judges_answers_as_python_does(tmp_path: Path) -> None:
    said = run_node(tmp_path, JUDGED, list(LESSONS.values()))
    for lesson, rows, documents in zip(LESSONS.values(), said["answers"], said["documents"], strict=True):
        assert documents == {setting: setting_document(lesson, setting) for setting in lesson["variants"]}
        solved: set[str] = set()
        for which, given, verdict, is_solved in rows:
            asked = question(lesson["id"], which)
            assert verdict == verdict_of(asked, given), (which, given)
            solved |= {which} if verdict == "right" else set()
            assert is_solved == (which in solved), "what has been answered stays answered"
        assert solved == {each["id"] for each in lesson["questions"]}


def verdict_of(asked: Plain, given: str) -> str:
    if asked["kind"] == "reach":
        return "right" if given in asked["reached"] else "wrong"
    try:
        number = float(given.replace(",", "."))
    except ValueError:
        return "empty"
    return "right" if number == asked["answer"] else "wrong"
