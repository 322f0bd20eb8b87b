"""The critical path: parallelism that is there or not, operators on it and off it, Amdahl's law, and an anomaly."""

from __future__ import annotations

from collections.abc import Mapping

from simsched.analysis.serial_work import serial_work
from simsched.graph.ranks import critical_path
from simsched.page.lessons.base import (
    Control,
    Lesson,
    Question,
    Runs,
    Text,
    every_setting,
    key,
    only,
    reaching,
    same,
    times,
)
from simsched.page.lessons.graphs import TASKS, tasks_freed, tasks_in_a_row
from simsched.result import Result
from simsched.run import run

ROW, FREE = "row", "free"
NOTHING = "none"
SHORTER: Mapping[str, tuple[str, int]] = {"T2": ("T2", 2), "T5": ("T5", 4), "T9": ("T9", 9), "T9_much": ("T9", 2)}
"""An operator and its new duration, of each choice."""
LANES = ("1", "2", "3", "4", "8")
MANY = LANES[-1]


def _saved(choice: str) -> int:
    task, duration = SHORTER[choice]
    return TASKS[task] - duration


CONTROLS = (
    Control(
        "order",
        Text("Dependencies", "依赖"),
        {ROW: Text("all in a row", "排成一列"), FREE: Text("only those needed", "只留必要的")},
        ROW,
    ),
    Control("lanes", Text("Lanes", "通道数"), {each: same(each) for each in LANES}, "1"),
    Control(
        "shorter",
        Text("Made shorter", "缩短"),
        {
            NOTHING: Text("nothing", "不缩短"),
            **{name: same(f"{task}: {TASKS[task]} → {duration}") for name, (task, duration) in SHORTER.items()},
        },
        NOTHING,
    ),
)


def critical_path_lesson() -> Lesson:
    """Return the guided mode."""
    made = {ROW: tasks_in_a_row, FREE: tasks_freed}
    durations = {NOTHING: {}, **{name: dict([change]) for name, change in SHORTER.items()}}
    graphs = {(order, name): make(shorter) for order, make in made.items() for name, shorter in durations.items()}

    def runs_of(order: str, lanes: str, shorter: str) -> Runs:
        return [run(graphs[order, shorter], "greedy_ready:list", f"lanes:{lanes}", explain=True)]

    runs = every_setting(CONTROLS, runs_of)
    return Lesson(
        "critical_path",
        Text("The critical path", "关键路径"),
        Text(
            f"{len(TASKS)} operators, written down one after the other, each waiting for the one before. Few of these "
            "orders are needed. Free the operators from the others, add lanes, make one operator shorter, and see "
            "what each of these buys. Whenever a lane is free, the first ready operator of the list goes: list "
            "scheduling. The critical path is outlined in the graph.",
            f"{len(TASKS)} 个算子一个接一个地写下来，每个都等前一个。其实必要的先后次序很少。"
            "去掉多余的依赖，增加通道，缩短某个算子，看每样能换来什么。只要有空闲的通道，列表中第一个就绪的算子就执行："
            "这就是列表调度。图中勾出了关键路径。",
        ),
        CONTROLS,
        runs,
        [_twice(runs), _bought(runs), _amdahl(runs), _longer(runs)],
    )


def _one(runs: Mapping[str, Runs], order: str, lanes: str, shorter: str) -> Result:
    (shown,) = runs[key(order, lanes, shorter)]
    return shown


def _path(shown: Result) -> tuple[str, int]:
    """Return the longest path of durations, in words, and its length."""
    graph, durations = shown.problem.graph, shown.problem.shortest_durations()
    ops = critical_path(graph, durations)
    return "–".join(graph.names[op] for op in ops), sum(durations[op] for op in ops)


# --- before and after ----------------------------------------------------------------------------------------------


def _twice(runs: Mapping[str, Runs]) -> Question:
    first = _one(runs, ROW, "1", NOTHING)
    best = _one(runs, FREE, MANY, NOTHING)
    enough = next(lanes for lanes in LANES if _one(runs, FREE, lanes, NOTHING).makespan == best.makespan)
    path, length = _path(best)
    return Question(
        "twice",
        Text(
            f"Make the run at least twice as fast as it is at first ({first.makespan}).",
            f"让运行至少比最初（{first.makespan}）快一倍。",
        ),
        "reach",
        Text(
            "Add lanes alone, then free the operators alone. Neither helps; both together do.",
            "先只加通道，再只去掉多余的依赖。单独哪一样都没有用，合起来才有用。",
        ),
        Text(
            f"In a row everything is on the critical path, and no lane helps. Freed, the longest path is {path}, "
            f"{length} long, and {enough} lanes reach it. A graph has to be parallel before a machine can be.",
            f"排成一列时，所有算子都在关键路径上，加通道没有用。去掉多余依赖后，最长路径是 {path}，长 {length}，"
            f"{enough} 条通道就能达到。图先要能并行，机器才能并行。",
        ),
        reached=reaching(runs, lambda shown: shown.makespan * 2 <= first.makespan),
    )


# --- shortening one operator ---------------------------------------------------------------------------------------

_ASKED = ("T5", "T9", "T9_much")


def _gain(runs: Mapping[str, Runs], choice: str) -> int:
    return _one(runs, FREE, MANY, NOTHING).makespan - _one(runs, FREE, MANY, choice).makespan


def _bought(runs: Mapping[str, Runs]) -> Question:
    saved = tuple(_saved(choice) for choice in _ASKED)
    gains = tuple(_gain(runs, choice) for choice in _ASKED)
    off, on, much = saved
    # What one might think: all that is saved; all on the path; half of everything. Never equal to what is gained.
    rows = [saved, (0, on, much), gains, tuple(each // 2 for each in saved)]
    path, length = _path(_one(runs, FREE, MANY, "T9_much"))
    task, other, _ = (SHORTER[choice][0] for choice in _ASKED)
    *near, far = (SHORTER[choice][1] for choice in _ASKED)
    return Question(
        "bought",
        Text(
            f"Freed, on {MANY} lanes. Shortening {task} to {near[0]} saves {off} of its own time, {other} to {near[1]} "
            f"saves {on}, and {other} to {far} saves {much}. How much shorter does the run get by each of the three?",
            f"去掉多余依赖，{MANY} 条通道。{task} 缩到 {near[0]}，自己省 {off}；{other} 缩到 {near[1]}，省 {on}；"
            f"{other} 缩到 {far}，省 {much}。运行分别缩短多少？",
        ),
        "choice",
        Text(
            "Try the three, and compare the end of the run with that of the run with nothing made shorter.",
            "三种都试一试，把结束时刻和不缩短时的相比。",
        ),
        Text(
            f"{task} is off the critical path: it has slack, and nothing is gained. {other} is on it: the {on} are "
            f"gained in full. But of {much} only {gains[2]}: by then {path}, {length} long, is the longest path. What "
            "is worth making faster has to be asked again after each step.",
            f"{task} 不在关键路径上，它有松弛时间，缩短它毫无收获。{other} 在关键路径上，省下的 {on} 全部得到。"
            f"可是省 {much} 时只得到 {gains[2]}：这时最长的路径已是 {path}，长 {length}。每改进一步，"
            "都要重新问哪里值得加快。",
        ),
        [Text(", ".join(map(str, row)), "、".join(map(str, row))) for row in rows],
        only([at for at, row in enumerate(rows) if row == gains]),
    )


# --- Amdahl --------------------------------------------------------------------------------------------------------


def _amdahl(runs: Mapping[str, Runs]) -> Question:
    shown = _one(runs, FREE, "2", NOTHING)
    durations = shown.problem.shortest_durations()
    work, serial = sum(durations), serial_work(shown.problem.graph, durations)
    most = work / serial
    _, length = _path(shown)
    two = serial + (work - serial) / 2
    return Question(
        "amdahl",
        Text(
            "Freed, nothing made shorter. Nothing can run beside Load and Join. By Amdahl's law, at most how many "
            "times as fast as on one lane can the run be, however many lanes there are?",
            "去掉多余依赖，不缩短任何算子。Load 和 Join 执行时，别的什么都不能执行。按阿姆达尔定律，不管有多少通道，"
            "运行最多能比单通道快到几倍（即加速比的上限）？",
        ),
        "number",
        Text(
            "With p lanes the run takes at least S + (W − S) / p. W is the work of all operators, as long as the run "
            f"on one lane; S is that of Load and Join, {TASKS['Load']} + {TASKS['Join']}. Let p grow.",
            f"p 条通道时，用时至少是 S + (W − S) / p。W 是全部算子的工作量，等于单通道的用时；S 是 Load 和 Join 的，"
            f"{TASKS['Load']} + {TASKS['Join']}。让 p 越来越大。",
        ),
        Text(
            f"W / S = {work} / {serial} = {most:g}. On two lanes the law says {two:g}, and the run takes "
            f"{shown.makespan}. With more, another limit is nearer: the critical path of {length} allows "
            f"{work / length:.2g} times at most.",
            f"W / S = {work} / {serial} = {most:g}。两条通道时定律给出 {two:g}，实际用时 {shown.makespan}。"
            f"通道再多，另一个极限更近：长 {length} 的关键路径最多允许 {work / length:.2g} 倍。",
        ),
        answer=most,
    )


# --- Graham's anomaly ----------------------------------------------------------------------------------------------


def longer(runs: Mapping[str, Runs]) -> list[str]:
    """Return the settings in which an operator is shorter and the run longer, on the same lanes."""
    found = []
    for setting, (shown,) in runs.items():
        order, lanes, _ = setting.split("|")
        if shown.makespan > _one(runs, order, lanes, NOTHING).makespan:
            found.append(setting)
    return found


def _longer(runs: Mapping[str, Runs]) -> Question:
    reached = longer(runs)
    order, lanes, choice = reached[0].split("|")
    before, after = _one(runs, order, lanes, NOTHING), _one(runs, order, lanes, choice)
    more = str(int(lanes) + 1)
    with_more = _one(runs, order, more, NOTHING).makespan
    was, now = ([times(shown, task)[0] for task in ("T4", "T9")] for shown in (before, after))
    return Question(
        "longer",
        Text(
            "Can less work take longer? Make an operator shorter, so that the run gets longer than with nothing made "
            "shorter, on the same lanes.",
            "工作变少，用时反而更长，可能吗？缩短一个算子，使运行比同样通道数下不缩短时更长。",
        ),
        "reach",
        Text(
            "Look where lanes are scarce but not too scarce, and at an operator off the critical path.",
            "看看通道紧张但又不太紧张的情况，再看不在关键路径上的算子。",
        ),
        Text(
            f"{SHORTER[choice][0]} ends sooner, so T4 starts at {now[0]} instead of {was[0]}, and those that wait for "
            f"it take the lanes before T9, the longest, which starts at {now[1]} instead of {was[1]}: {after.makespan} "
            f"instead of {before.makespan}. One more lane can do the same: {more} lanes take {with_more}. R. L. Graham "
            "published these nine tasks in 1966 (here with doubled durations, between Load and Join). So compare with "
            "a lower bound before you trust an improvement.",
            f"{SHORTER[choice][0]} 提前结束，于是 T4 从 {was[0]} 提前到 {now[0]} 开始，等它的算子抢先占了通道，"
            f"最长的 T9 到 {now[1]} 才开始，而不是 {was[1]}：用时 {after.makespan}，而不是 {before.makespan}。"
            f"多一条通道也会这样：{more} 条通道用时 {with_more}。"
            "这九个任务是 R. L. Graham 在 1966 年发表的（这里时长加倍，并放在 Load 和 Join 之间）。"
            "所以在相信一项改进之前，先和下界比一比。",
        ),
        reached=reached,
    )
