"""Strategies compared: parallel streams for throughput, one that minds memory, a pipeline, and their combinations."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from simsched.analysis.metrics import metrics
from simsched.hardware import HardwareProfile
from simsched.page.lessons.base import Control, Lesson, Question, Runs, Text, every_setting, key, only, reaching, same
from simsched.page.lessons.graphs import BATCH, STAGES, a_device_a_stage, one_device, training_step
from simsched.result import Result
from simsched.run import run
from simsched.units import format_size

MICROBATCHES = ("1", "2", "4", "8")
ALL = "all"
STRATEGIES: Mapping[str, tuple[str, HardwareProfile]] = {
    "serial": ("serial", one_device(1)),
    "streams": ("critical_path", one_device(STAGES)),
    "memory": ("memory_aware", one_device(STAGES)),
    "memory_more": ("memory_aware(slack=0.5)", one_device(STAGES)),
    "gpipe": ("pipeline:gpipe", a_device_a_stage()),
    "1f1b": ("pipeline:1f1b", a_device_a_stage()),
}
"""Scheduler and machine of each strategy."""

LIMIT = 32 * 2**20
"""Bytes that the learner may use on each device."""
LARGEST_BUBBLE = Fraction(1, 4)

CONTROLS = (
    Control(
        "strategy",
        Text("Strategy", "策略"),
        {
            ALL: Text("all side by side", "全部并排"),
            "serial": Text("one device, one stream", "一个设备，一条流"),
            "streams": Text(
                "one device, three parallel streams (critical_path)", "一个设备，三条并行流（critical_path）"
            ),
            "memory": Text("… that save memory (memory_aware)", "……并且节省内存（memory_aware）"),
            "memory_more": Text("… with half as much memory again (slack 0.5)", "……内存放宽一半（slack 0.5）"),
            "gpipe": Text("three devices, pipeline in the order of GPipe", "三个设备，GPipe 顺序的流水线"),
            "1f1b": Text("three devices, pipeline in the order 1F1B", "三个设备，1F1B 顺序的流水线"),
        },
        ALL,
    ),
    Control("microbatches", Text("Microbatches", "微批次"), {each: same(each) for each in MICROBATCHES}, "1"),
)


def strategies() -> Lesson:
    """Return the guided mode."""
    graphs = {count: training_step(int(count)) for count in MICROBATCHES}
    found = {
        key(name, count): run(graph, spec, machine, explain=True)
        for count, graph in graphs.items()
        for name, (spec, machine) in STRATEGIES.items()
    }

    def runs_of(strategy: str, count: str) -> Runs:
        return [found[key(name, count)] for name in STRATEGIES if strategy in (ALL, name)]

    runs = every_setting(CONTROLS, runs_of)
    return Lesson(
        "strategies",
        Text("Strategies compared", "策略比较"),
        Text(
            f"One training step of a network in {STAGES} stages: forward passes F, then backward passes B. What F "
            f"makes stays in memory until its B has run. The batch of {BATCH} samples can be cut into equal "
            "microbatches: as much work in all, in smaller pieces. Peak memory is that of the fullest device; "
            "communication costs nothing here.",
            f"一个分成 {STAGES} 段的网络训练一步：先是前向 F，再是反向 B。F 的结果留在内存里，直到对应的 B 执行完。"
            f"一批 {BATCH} 个样本可以切成相等的微批次：总工作量不变，只是每份更小。峰值内存取最满的那个设备；"
            "这里通信不花时间。",
        ),
        CONTROLS,
        runs,
        [_split(runs), _memory(runs), _bubble(runs), _design(runs)],
    )


def peak(shown: Result) -> int:
    """Return the peak memory of the fullest device, in bytes."""
    return metrics(shown).peak_bytes


def idle(shown: Result) -> Fraction:
    """Return the share of the time in which a stream does nothing, over all of them."""
    trace = shown.trace
    busy = sum(end - start for start, end in zip(trace.start, trace.end, strict=True))
    return 1 - Fraction(busy, len(shown.problem.stream_device) * trace.makespan)


def _one(runs: Mapping[str, Runs], strategy: str, microbatches: str) -> Result:
    (shown,) = runs[key(strategy, microbatches)]
    return shown


def _is(shown: Result, *strategy: str) -> bool:
    return shown.label in [STRATEGIES[each][0] for each in strategy]


# --- parallel streams ----------------------------------------------------------------------------------------------


def _split(runs: Mapping[str, Runs]) -> Question:
    serial = _one(runs, "serial", "1").makespan

    def three_times(shown: Result) -> bool:
        return _is(shown, "streams") and shown.makespan * STAGES <= serial

    reached = reaching(runs, three_times)
    first = next(setting.split("|")[1] for setting in reached)
    fast, frugal = _one(runs, "streams", first), _one(runs, "serial", first)
    return Question(
        "split",
        Text(
            "With a single batch three streams are no faster than one: every pass waits for the one before. Make the "
            "three parallel streams three times as fast as one stream.",
            "整批一起做时，三条流并不比一条快：每一步都要等前一步。让三条并行流的速度达到一条流的三倍。",
        ),
        "reach",
        Text(
            "Passes of different microbatches do not depend on each other.",
            "不同微批次的计算互不依赖。",
        ),
        Text(
            f"With {first} microbatches there is always something ready for each stream: {fast.makespan} instead of "
            f"{serial}. The price is memory, {format_size(peak(fast))} instead of {format_size(peak(frugal))}: "
            "all microbatches are alive at once.",
            f"切成 {first} 个微批次后，每条流始终有就绪的算子可做：用时 {fast.makespan}，而不是 {serial}。"
            f"代价是内存：{format_size(peak(fast))}，而不是 {format_size(peak(frugal))}，因为所有微批次同时存活。",
        ),
        reached=reached,
    )


# --- memory --------------------------------------------------------------------------------------------------------


def _memory(runs: Mapping[str, Runs]) -> Question:
    count = "4"
    serial = _one(runs, "serial", count)
    asked = {name: _one(runs, name, count) for name in ("streams", "memory", "memory_more")}
    free = [shown.makespan < serial.makespan and peak(shown) <= peak(serial) for shown in asked.values()]
    limit = format_size(peak(serial))
    told = {name: (shown.makespan, format_size(peak(shown))) for name, shown in asked.items()}
    return Question(
        "memory",
        Text(
            f"Four microbatches on one device: which strategy is faster than one stream without a higher peak of "
            f"memory than its {limit}?",
            f"一个设备，四个微批次：哪种策略比一条流快，而峰值内存又不超过它的 {limit}？",
        ),
        "choice",
        Text(
            "Show all side by side with four microbatches, and compare the curves of memory, or the table.",
            "切成四个微批次，全部并排显示，比较内存曲线或表格。",
        ),
        Text(
            f"memory_aware starts something early only if the rest still fits below the peak of a frugal order: "
            f"{told['memory'][0]} instead of {serial.makespan}, with {told['memory'][1]}. With half as much memory "
            f"again ({told['memory_more'][1]}) it takes {told['memory_more'][0]}; who does not look at memory takes "
            f"{told['streams'][0]} and {told['streams'][1]}. Time is bought with memory.",
            f"memory_aware 只有在其余部分仍放得进节俭顺序的峰值时才提前执行：用时 {told['memory'][0]}，而不是 "
            f"{serial.makespan}，内存 {told['memory'][1]}。内存放宽一半（{told['memory_more'][1]}）时用时 "
            f"{told['memory_more'][0]}；完全不管内存则是 {told['streams'][0]} 和 {told['streams'][1]}。"
            "时间是用内存换来的。",
        ),
        [
            Text("Parallel streams (critical_path)", "并行流（critical_path）"),
            Text("Streams that save memory (memory_aware)", "节省内存的流（memory_aware）"),
            Text("The same with half as much memory again", "同上，但内存放宽一半"),
            Text("None of them", "都不是"),
        ],
        only([at for at, fits in enumerate([*free, not any(free)]) if fits]),
    )


# --- the pipeline --------------------------------------------------------------------------------------------------


def _bubble(runs: Mapping[str, Runs]) -> Question:
    def filled(shown: Result) -> bool:
        return _is(shown, "gpipe", "1f1b") and idle(shown) <= LARGEST_BUBBLE

    bubbles = [f"{float(idle(_one(runs, 'gpipe', count))):.0%}".replace("%", " %") for count in MICROBATCHES]
    counts = ", ".join(MICROBATCHES)
    return Question(
        "bubble",
        Text(
            "A pipeline has to fill and to drain, and devices idle meanwhile: the bubble. Run the pipeline so that the "
            f"three devices are idle for at most {float(LARGEST_BUBBLE):.0%} of the time.".replace("%", " %"),
            "流水线要先填满、最后再排空，这期间设备会闲着，这就是气泡。运行流水线，让三个设备空闲的时间"
            f"不超过 {float(LARGEST_BUBBLE):.0%}。".replace("%", " %"),
        ),
        "reach",
        Text(
            "The more pieces go through the pipeline, the less filling and draining matter.",
            "流过流水线的份数越多，填满和排空所占的比例就越小。",
        ),
        Text(
            f"With {counts} microbatches the bubble is {', '.join(bubbles)}. With p equal stages and m microbatches it "
            "is (p − 1) / (m + p − 1), for GPipe and for 1F1B.",
            f"微批次为 {counts} 时，气泡依次是 {'、'.join(bubbles)}。p 个相等的段、m 个微批次时，气泡是 "
            "(p − 1) / (m + p − 1)，GPipe 和 1F1B 都一样。",
        ),
        reached=reaching(runs, filled),
    )


def _design(runs: Mapping[str, Runs]) -> Question:
    serial = _one(runs, "serial", "1").makespan
    alone = {setting: shown for setting, shown in runs.items() if len(shown) == 1}

    def fits(shown: Result) -> bool:
        return peak(shown) <= LIMIT and shown.makespan * 2 <= serial

    gpipe, early = (_one(runs, name, MICROBATCHES[-1]) for name in ("gpipe", "1f1b"))
    return Question(
        "design",
        Text(
            f"Each device has {format_size(LIMIT)}. Choose one strategy and a number of microbatches with which the "
            f"step fits, and is at least twice as fast as one stream with one batch ({serial}).",
            f"每个设备只有 {format_size(LIMIT)} 内存。选一种策略和微批次的数量，使这一步放得下，"
            f"而且至少比整批单流（{serial}）快一倍。",
        ),
        "reach",
        Text(
            "On three devices each holds only its own stage. And of the two orders of the pipeline one begins with the "
            "backward passes earlier.",
            "用三个设备时，每个设备只存自己的那一段。流水线的两种顺序中，有一种更早开始反向。",
        ),
        Text(
            f"1F1B takes as long as GPipe, {early.makespan} with {MICROBATCHES[-1]} microbatches, and needs "
            f"{format_size(peak(early))} instead of {format_size(peak(gpipe))}: a stage runs a backward pass as soon "
            "as it can, and keeps no more microbatches than there are stages from it to the end. Stages, microbatches "
            "and their order do together what none of them does alone.",
            f"1F1B 和 GPipe 一样快（{MICROBATCHES[-1]} 个微批次时都是 {early.makespan}），但只要 "
            f"{format_size(peak(early))}，而不是 {format_size(peak(gpipe))}：每一段都尽早做反向，"
            "它留存的微批次不多于从它到末段的段数。分段、微批次和顺序合在一起，做到了单独哪一个都做不到的事。",
        ),
        reached=reaching(alone, fits),
    )
