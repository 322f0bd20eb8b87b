"""Draw every picture of the documentation again: ``python scripts/make_docs_pictures.py [NAME...]``.

The pictures are the same bytes with the pinned versions of ``requirements/run.txt``.
"""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from simsched.colours import FILLS
from simsched.graph.builder import GraphBuilder
from simsched.graph.generators import layered_random
from simsched.graph.io import load_graph
from simsched.hardware import Device, HardwareProfile, SmLimits
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
    save,
)
from simsched.plot.figure import new_figure
from simsched.plot.ranking import RankPanel, Row, plot_ranking
from simsched.plot.style import styled
from simsched.profiles import load_hardware
from simsched.result import Comparison
from simsched.run import compare, run
from simsched.scenario import Scenario
from simsched.schedulers.registry import make_scheduler
from simsched.study import cases_of, duel, make_space, rank

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

FOLDER = Path(__file__).resolve().parents[1] / "docs" / "pictures"
ALL = ("serial", "topological", "critical_path", "greedy_ready:fifo", "greedy_ready:spt", "memory_aware")
NETWORKS = ("squeezenet", "shufflenet", "inception_v1", "resnet50", "densenet121", "bert_base")


def with_streams(hardware: HardwareProfile, streams: int) -> HardwareProfile:
    """Give every device another number of streams."""
    devices = tuple(dataclasses.replace(device, streams=streams) for device in hardware.devices)
    return dataclasses.replace(hardware, devices=devices)


def crowded() -> Comparison:
    """Compare schedulers on a layered random graph that many schedules suit, on six lanes."""
    return compare(layered_random(120, 3, width=8, ccr=1.0), ALL, "lanes:6")


def launched() -> Axes:
    """Draw where the time of one network goes on one GPU of four streams, when the host launches each kernel."""
    scenario = Scenario("a100_sxm_80gb", streams=4, launch="serial")
    return plot_breakdown(compare("inception_v1", ALL, scenario.load_hardware(load_graph("inception_v1"))))


def scaling() -> Axes:
    """Draw one network on one GPU with more and more streams."""
    graph, hardware = load_graph("inception_v1"), load_hardware("t4")
    made = [
        run(graph, scheduler, with_streams(hardware, streams))
        for scheduler in ("topological", "greedy_ready:spt", "critical_path")
        for streams in (1, 2, 3, 4, 6, 8)
    ]
    return plot_scaling(made)


@styled
def graham() -> Figure:
    """Draw Graham's nine tasks in list order on three lanes and on four, on one time axis."""
    figure = new_figure(9.5, 5.6)
    shown = [run("graham", "greedy_ready:list", hardware) for hardware in ("lanes:3", "lanes:4")]
    for ax, result in zip(figure.subplots(2, 1), shown, strict=True):
        plot_gantt(result, ax=ax, x_max=max(each.makespan for each in shown))
    return figure


@styled
def heft_and_cpop() -> Figure:
    """Draw what HEFT and CPOP make of the example of their paper, on one time axis."""
    figure = new_figure(9.5, 5.0)
    shown = [run("heft_topcuoglu", scheduler, "procs:3") for scheduler in ("heft", "cpop")]
    for ax, result in zip(figure.subplots(2, 1), shown, strict=True):
        plot_gantt(result, ax=ax, x_max=max(each.makespan for each in shown))
    return figure


PLANNERS = (
    "heft", "heft(insertion=false)", "cpop", "peft", "dls", "etf", "mcp", "hlfet", "min_min", "max_min", "sufferage",
    "olb", "met", "mct", "portfolio", "anytime",
)  # fmt: skip


@styled
def planners() -> Figure:
    """Draw what every planner makes of the example of HEFT's paper, on one time axis; plain, so that all fit."""
    figure = new_figure(11, 8)
    shown = [run("heft_topcuoglu", scheduler, "procs:3") for scheduler in PLANNERS]
    longest = max(result.makespan for result in shown)
    for ax, result in zip(figure.subplots(4, 4).flat, shown, strict=True):
        trace = result.trace
        for op, (stream, start, end) in enumerate(zip(trace.stream, trace.start, trace.end, strict=True)):
            ax.barh(stream, end - start, left=start, height=0.8, color=FILLS[op % len(FILLS)], edgecolor="white")
            ax.text((start + end) / 2, stream, str(op + 1), ha="center", va="center", fontsize=6)
        ax.set(xlim=(0, longest), yticks=range(3), yticklabels=("p0", "p1", "p2"))
        ax.invert_yaxis()
        ax.set_title(f"{result.label}: {result.makespan}", fontsize=8, loc="left")
        ax.tick_params(labelsize=6)
    return figure


def ranks() -> Figure:
    """Draw how planners rank over twelve random graphs, with estimates that are right and wrong."""
    names = ("heft", "peft", "critical_path", "cpop", "min_min", "mct", "greedy_ready:spt")
    graphs = [f"layered_random(n=40, seed={seed}, ccr=0.5)" for seed in range(12)]
    panels = []
    for noise in ("none", "uniform(0.2)", "lognormal(0.6)"):
        cases = cases_of((name, compare(name, names, "procs:4", noise=noise)) for name in graphs)
        rows = rank(cases.schedulers, cases.groups[""]).standings
        panels.append(RankPanel(f"noise {noise}", tuple(Row(row.scheduler, *row.rank) for row in rows)))
    return plot_ranking(panels)


@styled
def heft_loses() -> Figure:
    """Draw both runs of the instance that a duel of HEFT against CPOP finds, on one time axis."""
    space = make_space(["procs:3"], graph="heft_topcuoglu", vary=["delays"])
    found = duel(make_scheduler("heft"), make_scheduler("cpop"), space, steps=300)
    assert found.best is not None
    problem = space.problem(found.best.instance)
    figure = new_figure(9.5, 5.0)
    shown = [run(problem, scheduler) for scheduler in ("heft", "cpop")]
    for ax, result in zip(figure.subplots(2, 1), shown, strict=True):
        plot_gantt(result, ax=ax, x_max=max(each.makespan for each in shown))
    return figure


def bubble() -> Axes:
    """Draw the closed form and what it says of four and eight stages; the experiment of the same name simulates it."""
    counts = (1, 2, 4, 8, 16, 32)
    series = {f"{p} stages": [(float(m), (p - 1) / (m + p - 1)) for m in counts] for p in (2, 4, 8)}
    return plot_lines(
        series, x_label="microbatches", y_label="bubble: idle share of the run",
        title="pipelines of equal stages, (p - 1) / (m + p - 1)", references={"a tenth": 0.1}, log_x=True,
    )  # fmt: skip


def leftover() -> Axes:
    """Draw four kernels of three streams on four SMs: waves, what the last wave leaves, blocks that share an SM."""
    builder = GraphBuilder("four kernels")
    kernels = (("wide", 300, 10, 1024), ("tiny", 40, 1, 1024), ("small", 130, 11, 512), ("last", 160, 7, 256))
    for name, duration, grid, threads in kernels:
        builder.add_op(name, duration=duration, attributes={"grid": grid, "block": {"threads": threads}})
    resources, limits = {"sms": 4}, SmLimits(threads=1024)
    gpu = Device("gpu", "gpu", "blocks", streams=4, resources=resources, sm_limits=limits)
    return plot_sms(run(builder.build(), "greedy_ready:fifo", HardwareProfile("a GPU of four SMs", (gpu,))))


PICTURES: dict[str, Callable[[], Axes | Figure]] = {
    "residual_graph": lambda: plot_dag(load_graph("residual")),
    "residual_gantt": lambda: plot_gantt(run("residual", "critical_path", "lanes:2")),
    "inception_v1_a100_gantt": lambda: plot_gantt(run("inception_v1", "critical_path", "a100_sxm_80gb")),
    "inception_v1_a100_breakdown": launched,
    "inception_v1_graph": lambda: plot_dag(run("inception_v1", "serial", "a100_sxm_80gb").problem),
    "inception_v1_orin_comparison": lambda: plot_comparison(compare("inception_v1", ALL, "orin_agx_64gb")),
    "networks_orin_comparison": lambda: plot_comparison([compare(name, ALL[1:], "orin_agx_64gb") for name in NETWORKS]),
    "inception_v1_t4_scaling": scaling,
    "inception_v1_a100_roofline": lambda: plot_roofline(run("inception_v1", "serial", "a100_sxm_80gb").problem),
    "graham_anomaly": graham,
    "heft_and_cpop": heft_and_cpop,
    "planners_side_by_side": planners,
    "heft_loses_to_cpop": heft_loses,
    "ranks_and_noise": ranks,
    "four_kernels_sms": leftover,
    "crowded_tradeoff": lambda: plot_tradeoff(crowded()),
    "crowded_memory": lambda: plot_memory(crowded()),
    "densenet121_v100_arena": lambda: plot_arena(run("densenet121", "critical_path", "v100_sxm2_16gb"), rule="best"),
    "pipeline_bubble": bubble,
}


def main(names: list[str]) -> None:
    """Draw the named pictures, or all."""
    for name in names or PICTURES:
        path = save(PICTURES[name], FOLDER / f"{name}.png", dpi=80)
        print(f"{path.name}: {path.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main(sys.argv[1:])
