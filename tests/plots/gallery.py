"""Every plot once, small and made by hand: for baselines, determinism and what must hold for all of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from simsched.engine.simulator import simulate
from simsched.hardware import lanes
from simsched.plot import (
    plot_arena,
    plot_breakdown,
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
from simsched.schedulers.registry import make_scheduler
from tests.builders import problem_of
from tests.plots.looks import diamond, hand_comparison, hand_result, held_result, kernels
from tests.plots.sm_looks import block_result
from tests.unit.test_explain_shared import kernels as sharing_kernels
from tests.unit.test_explain_shared import traffic

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


def shared() -> list[Result]:
    """Two kernels that share bandwidth, launched by the host, one after the other and side by side."""
    costs = {"a": traffic(310, 225, 10), "b": traffic(310, 225, 10)}
    problem = sharing_kernels(costs, mode="serial", launch_ns=40)
    return [Result(problem, name, simulate(problem, make_scheduler(name))) for name in ("serial", "critical_path")]


GALLERY: dict[str, Callable[[], Axes]] = {
    "gantt": lambda: plot_gantt(hand_result()),
    "sms": lambda: plot_sms(block_result()),
    "breakdown": lambda: plot_breakdown(shared()),
    "comparison": lambda: plot_comparison(hand_comparison()),
    "comparison_several": several,
    "memory": lambda: plot_memory(hand_comparison()),
    "arena": lambda: plot_arena(held_result(), rule="first"),
    "tradeoff": lambda: plot_tradeoff(hand_comparison()),
    "scaling": scaling,
    "roofline": lambda: plot_roofline(kernels()),
    "dag": lambda: plot_dag(diamond()),
    "lines": bubble,
}
