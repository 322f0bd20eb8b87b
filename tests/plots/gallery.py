"""Every plot once, small and made by hand: for baselines, determinism and what must hold for all of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from simsched.engine.simulator import simulate
from simsched.hardware import lanes
from simsched.plot import (
    plot_comparison,
    plot_dag,
    plot_gantt,
    plot_lines,
    plot_memory,
    plot_roofline,
    plot_scaling,
    plot_sms,
    plot_tradeoff,
)
from simsched.result import Comparison, Result
from simsched.schedulers.critical_path import CriticalPath
from tests.builders import problem_of
from tests.plots.looks import diamond, hand_comparison, hand_result, kernels
from tests.plots.sm_looks import block_result

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def scaling() -> Axes:
    problems = [problem_of(diamond(), lanes(count)) for count in (1, 2, 3)]
    return plot_scaling([Result(each, "critical_path", simulate(each, CriticalPath())) for each in problems])


def several() -> Axes:
    result = hand_result()
    return plot_comparison([hand_comparison(), Comparison(result.problem, (result,))])


def bubble() -> Axes:
    points = [(m, 3 / (m + 3)) for m in (1, 2, 4, 8)]
    return plot_lines(
        {"1f1b": points}, x_label="microbatches", y_label="bubble", title="four stages",
        references={"closed form": points}, log_x=True,
    )  # fmt: skip


GALLERY: dict[str, Callable[[], Axes]] = {
    "gantt": lambda: plot_gantt(hand_result()),
    "sms": lambda: plot_sms(block_result()),
    "comparison": lambda: plot_comparison(hand_comparison()),
    "comparison_several": several,
    "memory": lambda: plot_memory(hand_comparison()),
    "tradeoff": lambda: plot_tradeoff(hand_comparison()),
    "scaling": scaling,
    "roofline": lambda: plot_roofline(kernels()),
    "dag": lambda: plot_dag(diamond()),
    "lines": bubble,
}
