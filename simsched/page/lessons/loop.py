"""The scheduling loop: dependencies, ready set, resource allocation, execution, until nothing is left."""

from __future__ import annotations

from collections.abc import Mapping

from simsched.analysis.explain import Explanation
from simsched.graph.ranks import critical_path
from simsched.page.lessons.base import (
    Control,
    Lesson,
    Question,
    Runs,
    Text,
    every_setting,
    key,
    names,
    only,
    reaching,
    same,
    times,
)
from simsched.page.lessons.graphs import LARGE, SMS, inception_block, small_gpu
from simsched.result import Result
from simsched.run import run

STREAMS = ("1", "2", "3", "4")
FIRST = "critical_path"
OTHER = "conv5"
ENDS = "pre3"
"""The operator after whose end the learner is asked for the ready set."""

CONTROLS = (
    Control("streams", Text("Streams", "流的数量"), {each: same(each) for each in STREAMS}, "1"),
    Control(
        "scheduler",
        Text("Who goes first", "谁先执行"),
        {
            FIRST: Text("the longest path ahead (critical_path)", "剩余路径最长者（critical_path）"),
            "greedy_ready": Text("the first to become ready (greedy_ready)", "最早就绪者（greedy_ready）"),
            "topological": Text("the order of the graph (topological)", "按图中的顺序（topological）"),
        },
        FIRST,
    ),
    Control(
        "sms",
        Text(f"SMs that {LARGE} takes", f"{LARGE} 占用的 SM"),
        {each: same(each) for each in ("1", str(SMS))},
        "1",
    ),
)


def loop() -> Lesson:
    """Return the guided mode."""
    graphs = {sms: inception_block(int(sms)) for sms in CONTROLS[2].values}

    def runs_of(streams: str, scheduler: str, sms: str) -> Runs:
        return [run(graphs[sms], scheduler, small_gpu(int(streams)), explain=True)]

    runs = every_setting(CONTROLS, runs_of)
    count = len(graphs["1"])
    return Lesson(
        "loop",
        Text("The scheduling loop", "调度循环"),
        Text(
            f"A block of {count} operators runs on a small GPU with {SMS} SMs. At every instant the same loop is gone "
            "through: operators end; those whose predecessors have all ended become ready; the scheduler gives ready "
            "operators to free streams, as far as there are SMs; they run. It ends when nothing is left. Step through "
            "it with the arrow keys, and change the setting as you like.",
            f"一个由 {count} 个算子组成的模块在一块有 {SMS} 个 SM 的小 GPU 上运行。每个时刻都走一遍同样的循环："
            "算子结束；前驱全部结束的算子变为就绪；只要 SM 够用，调度器就把就绪的算子派发给空闲的流；算子执行。"
            "直到全部完成为止。用方向键一步一步地看，设置可以随意改。",
        ),
        CONTROLS,
        runs,
        [_ready_set(runs), _together(runs), _enough(runs), _why_wait(runs)],
    )


# --- the ready set -------------------------------------------------------------------------------------------------


def _ready_set(runs: Mapping[str, Runs]) -> Question:
    (shown,) = runs[key("1", FIRST, "1")]
    graph, trace = shown.problem.graph, shown.trace
    _, now = times(shown, ENDS)
    ready = [op for op in range(len(graph)) if trace.ready[op] <= now <= trace.dispatch[op]]
    new = [op for op in ready if trace.ready[op] == now]
    old = [op for op in ready if op not in new]
    later = [op for op in range(len(graph)) if trace.start[op] >= now]
    choices = [new, ready, old, later]
    return Question(
        "ready",
        Text(
            f"One stream, the longest path first: {ENDS} has just ended, and nothing has been dispatched since. Which "
            "operators are in the ready set?",
            f"一条流，最长路径优先：{ENDS} 刚刚结束，此后还没有派发任何算子。就绪集里有哪些算子？",
        ),
        "choice",
        Text(
            f"Step forward until {ENDS} has finished at {now}, and read the list of ready operators. What became ready "
            "earlier stays in the set until it is dispatched.",
            f"向前步进，直到 {ENDS} 在时刻 {now} 结束，再看就绪列表。更早就绪的算子在被派发之前一直留在就绪集里。",
        ),
        Text(
            f"{names(shown, new)} is new in the set: its last predecessor has ended. {names(shown, old)} have been in "
            f"it since {trace.ready[old[0]]}. All others still wait for a predecessor, so the scheduler need not look "
            "at them.",
            f"{names(shown, new)} 是新进入的：它的最后一个前驱刚结束。{names(shown, old)} 从时刻 {trace.ready[old[0]]} "
            "起就在里面。其余算子还缺前驱，调度器不必看它们。",
        ),
        [same(names(shown, ops)) for ops in choices],
        only([number for number, ops in enumerate(choices) if ops == ready]),
    )


# --- what may overlap ----------------------------------------------------------------------------------------------


def together(shown: Result) -> bool:
    """Whether both large convolutions run at the same time at some instant."""
    (start, end), (first, last) = times(shown, LARGE), times(shown, OTHER)
    return max(start, first) < min(end, last)


def _together(runs: Mapping[str, Runs]) -> Question:
    return Question(
        "together",
        Text(
            f"Change the setting so that {LARGE} and {OTHER} run at the same time.",
            f"改变设置，让 {LARGE} 和 {OTHER} 同时执行。",
        ),
        "reach",
        Text(
            f"Each of them needs a stream of its own, and the SMs of both must be there: {SMS} in all.",
            f"它们各需要一条流，而且两者的 SM 都要够：一共只有 {SMS} 个。",
        ),
        Text(
            "Neither depends on the other, so the graph allows it. Whether it happens is a question of resources: "
            "two streams, and SMs for both.",
            "两者互不依赖，所以图允许它们同时执行。是否真的同时，取决于资源：要有两条流，还要有够两者用的 SM。",
        ),
        reached=reaching(runs, together),
    )


# --- how much is enough --------------------------------------------------------------------------------------------


def _enough(runs: Mapping[str, Runs]) -> Question:
    took = {streams: runs[key(streams, FIRST, "1")][0] for streams in STREAMS}
    best = took[STREAMS[-1]]
    enough = next(streams for streams, shown in took.items() if shown.makespan == best.makespan)
    graph = best.problem.graph
    path = "–".join(graph.names[op] for op in critical_path(graph, best.problem.shortest_durations()))
    return Question(
        "enough",
        Text(
            f"{LARGE} takes one SM, the longest path goes first. How many streams are enough, so that one more makes "
            "the run no faster?",
            f"{LARGE} 占用一个 SM，最长路径优先。几条流就够了，也就是再加一条也不会更快？",
        ),
        "number",
        Text(
            "Try one stream after the other, and watch the time at which the run ends.",
            "一条一条地加，看运行什么时候结束。",
        ),
        Text(
            f"With {enough} streams the run takes {best.makespan}, as long as the longest path, {path}. Now the "
            "dependencies are in the way, not the machine: no number of streams and no scheduler is faster.",
            f"{enough} 条流时用时 {best.makespan}，正好等于最长路径 {path} 的长度。这时挡路的是依赖，不是机器："
            "再多的流、再好的调度器也不会更快。",
        ),
        answer=int(enough),
    )


# --- why an operator waits -----------------------------------------------------------------------------------------

_WHY = (
    Text("One of its predecessors has not ended.", "它还有前驱没有结束。"),
    Text("No stream is free.", "没有空闲的流。"),
    Text("Other operators hold SMs that it needs.", "它需要的 SM 被别的算子占着。"),
    Text("The scheduler holds it back, though all is free.", "什么都空闲，但调度器不派发它。"),
)
_WHY_OF_REASON = {"dependency": 0, "no_stream": 1, "resource": 2, "held": 3}


def _why_wait(runs: Mapping[str, Runs]) -> Question:
    (shown,) = runs[key("4", FIRST, "4")]
    trace, op = shown.trace, shown.problem.graph.index[LARGE]
    ready, start = trace.ready[op], trace.start[op]
    (wait,) = [part for part in Explanation(shown).parts(op) if part.start >= ready and part.kind == "wait"]
    (short,) = wait.shortages
    # A scheduler passes over what does not fit: then what was short is the reason, not the scheduler.
    reason = "resource" if wait.reason == "passed_over" else wait.reason
    holders = names(shown, [each for each in range(len(trace.start)) if trace.start[each] <= ready < trace.end[each]])
    return Question(
        "why",
        Text(
            f"Four streams, the longest path first, and {LARGE} takes all {SMS} SMs. It is ready at {ready}, and there "
            f"are free streams. Why does it start only at {start}?",
            f"四条流，最长路径优先，{LARGE} 占用全部 {SMS} 个 SM。它在时刻 {ready} 就绪，也有空闲的流。"
            f"为什么它到 {start} 才开始？",
        ),
        "choice",
        Text(
            f"Make this setting, go to time {ready} and select {LARGE} in the graph: the page says what it waits for.",
            f"照此设置，走到时刻 {ready}，在图中选中 {LARGE}：页面会说明它在等什么。",
        ),
        Text(
            f"At {ready} it needs {short.needs} SMs and {short.free} are free: {holders} hold the others. A stream is "
            "an order, not a part of the device; a free stream alone runs nothing.",
            f"时刻 {ready} 它需要 {short.needs} 个 SM，而空闲的只有 {short.free} 个：其余被 {holders} 占着。"
            "流只是一个顺序，不是设备的一部分；光有空闲的流，什么也运行不了。",
        ),
        _WHY,
        _WHY_OF_REASON[reason],
    )
