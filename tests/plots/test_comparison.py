"""Comparison, trade-off, scaling, memory and lines: what is drawn is what the runs say."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simsched.analysis.bounds import lower_bound
from simsched.engine.simulator import simulate
from simsched.graph.builder import GraphBuilder
from simsched.graph.model import Graph
from simsched.hardware import lanes, procs
from simsched.plot.comparison import corridor, plot_comparison
from simsched.plot.figure import figure_of
from simsched.plot.lines import plot_lines
from simsched.plot.memory import plot_memory
from simsched.plot.scaling import plot_scaling
from simsched.plot.tradeoff import pareto, plot_tradeoff
from simsched.result import Comparison, Result
from simsched.schedulers.critical_path import CriticalPath
from tests.builders import problem_of, small_gpu
from tests.plots.looks import empty_result, hand_comparison, hand_result, legend, marked, points, words

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def widths(ax: Axes, gid: str) -> list[float]:
    return [bar.get_width() for bar in marked(ax, gid)]


# --- comparison -------------------------------------------------------------------------------------------------


def test_bars_are_makespans_in_the_order_named_with_the_failure_in_its_place() -> None:
    ax = plot_comparison(hand_comparison())
    bars = marked(ax, "makespan")
    assert [(bar.get_y() + bar.get_height() / 2, bar.get_width()) for bar in bars] == [(0, 17), (2, 14)]
    assert [label.get_text() for label in ax.get_yticklabels()] == ["by_hand", "doomed", "better"]
    assert words(ax, "value") == ["17  +21.4 %", "14  optimal"]
    assert words(ax, "failure") == ["no run: OutOfMemoryError: 'd' needs 13 B, 2 B free"]


def test_bounds_are_lines_at_their_values() -> None:
    comparison = hand_comparison()
    ax = plot_comparison(comparison)
    # By hand: path a, c, d = 14; area 17 / 3 up; Graham-Brent 17 / 3 + 2 / 3 x 14 = 15; serial 2 + 3 + 5 + 7 = 17.
    expected = {"lower bound": 14, "critical_path": 14, "area": 6, "graham_brent": 15, "serial": 17}
    assert {bound.name: bound.value for bound in corridor(comparison)} == expected
    for name, value in expected.items():
        assert [x for x, _ in points(ax, f"bound:{name}")] == [value, value]
    (shade,) = marked(ax, "corridor")
    shaded = shade.get_path().get_extents(shade.get_patch_transform())
    assert (shaded.x0, shaded.x1) == (14, 17)
    assert legend(ax) == [
        "lower bound: 14 (by critical_path)",
        "critical path: 14",
        "area: 6",
        "Graham-Brent, upper bound of greedy runs: 15",
        "serial work: 17",
    ]


def test_graham_brent_is_left_out_where_it_does_not_hold() -> None:
    graph = hand_result().problem.graph
    problem = problem_of(graph, small_gpu(4, 3))
    assert "graham_brent" not in [bound.name for bound in corridor(Comparison(problem, ()))]


def test_peaks_are_beside_the_makespans() -> None:
    ax = plot_comparison(hand_comparison())
    beside = next(other for other in figure_of(ax).axes if other is not ax)
    assert widths(beside, "peak") == [31, 37]
    assert words(beside, "peak-value") == ["31 B", "37 B"]
    assert beside.get_xlabel() == "peak memory (B)"


def test_several_graphs_are_divided_by_their_own_bounds() -> None:
    ax = plot_comparison([hand_comparison(), Comparison(hand_result().problem, (hand_result(),))])
    assert widths(ax, "ratio") == [17 / 14, 1.0, 17 / 14]
    assert legend(ax) == ["by_hand", "better"]
    assert words(ax, "value") == ["1.21", "1.00", "1.21"]
    assert [x for x, _ in points(ax, "bound:lower bound")] == [1, 1]
    assert marked(ax, "ratio")[0].get_facecolor() == marked(ax, "ratio")[2].get_facecolor()


def test_a_comparison_without_runs_or_operators_can_be_drawn() -> None:
    empty = empty_result()
    assert widths(plot_comparison(Comparison(empty.problem, ())), "makespan") == []
    assert widths(plot_comparison(Comparison(empty.problem, (empty,))), "makespan") == [0]
    assert widths(plot_comparison([Comparison(empty.problem, (empty,))]), "ratio") == [1.0]


# --- trade-off --------------------------------------------------------------------------------------------------


def test_points_are_makespan_and_peak_and_the_front_joins_the_best() -> None:
    ax = plot_tradeoff(hand_comparison())
    assert points(ax, "run") == [(17, 31), (14, 37)]
    assert points(ax, "front") == [(14, 37), (17, 31)]
    assert [x for x, _ in points(ax, "lower-bound")] == [14, 14]
    assert [y for _, y in points(ax, "capacity")] == [40, 40]
    assert "by_hand: 17, 31 B" in legend(ax)


def test_equal_peaks_are_not_magnified() -> None:
    run = hand_result()
    ax = plot_tradeoff([run, run])
    assert points(ax, "run") == [(17, 31), (17, 31)]
    assert ax.get_ylim()[0] == 0
    assert ax.get_ylim()[1] > 31
    assert words(ax, "no-memory") == []


def test_a_graph_without_tensors_is_said_to_hold_no_memory() -> None:
    problem = problem_of(ten_beside_a_chain(), lanes(2))
    run = Result(problem, "critical_path", simulate(problem, CriticalPath()))
    for ax in (plot_tradeoff([run]), plot_memory(run)):
        assert words(ax, "no-memory") == ["the operators of this graph hold no memory: it states no tensors"]
        assert ax.get_ylim() == (0, 1)
    assert words(plot_memory(hand_result()), "no-memory") == []


def test_labels_of_one_picture_have_the_unit_of_its_axis() -> None:
    builder = GraphBuilder("two")
    for name in ("a", "b"):
        builder.add_op(name, duration=700_000)
    problem = problem_of(builder.build(), lanes(2))
    run = Result(problem, "critical_path", simulate(problem, CriticalPath()))
    ax = plot_comparison(Comparison(problem, (run,)))
    assert ax.get_xlabel() == "makespan (ms)"
    assert words(ax, "value") == ["0.7000 ms  optimal"]
    assert legend(ax)[-1] == "serial work: 1.400 ms"


def test_pareto_by_brute_force() -> None:
    candidates = [(5, 1), (3, 3), (4, 4), (3, 3), (2, 9), (9, 0), (2, 9), (6, 1)]
    beaten = {
        i
        for i, (x, y) in enumerate(candidates)
        for j, (u, v) in enumerate(candidates)
        if (u <= x and v <= y and (u, v) != (x, y)) or ((u, v) == (x, y) and j < i)
    }
    assert sorted(pareto(candidates)) == [i for i in range(len(candidates)) if i not in beaten]
    assert pareto([]) == []


# --- scaling ----------------------------------------------------------------------------------------------------


def ten_beside_a_chain() -> Graph:
    """A chain of ten beside ten independent operators: 10 on two lanes, where the textbook's curve claims 15."""
    builder = GraphBuilder("chain and crowd", time_unit="tick")
    for number in range(10):
        builder.add_op(f"chain{number}", duration=1, after=[f"chain{number - 1}"] if number else [])
    for number in range(10):
        builder.add_op(f"free{number}", duration=1)
    return builder.build()


def test_scaling_shows_speed_ups_limits_and_both_curves_of_amdahl() -> None:
    results = []
    for count in (1, 2, 4):
        problem = problem_of(ten_beside_a_chain(), lanes(count))
        results.append(Result(problem, "critical_path", simulate(problem, CriticalPath())))
    ax = plot_scaling(results)
    assert points(ax, "scheduler") == [(1, 1.0), (2, 2.0), (4, 2.0)]
    assert points(ax, "limit") == [(1, 1.0), (2, 2.0), (4, 2.0)]
    assert points(ax, "amdahl") == [(1, 1.0), (2, 2.0), (3, 3.0), (4, 4.0)]
    # f = 10 / 20; 20 (0.5 + 0.5 / p) is 15 on two lanes, longer than the run of 10: a model, not a bound.
    assert points(ax, "amdahl-textbook") == [(1, 1.0), (2, 20 / 15), (3, 1.5), (4, 1.6)]
    labels = " ".join(legend(ax))
    assert "Amdahl, a bound:\n0 % of the work runs alone" in labels
    assert "textbook model, no bound:\nf = CP / W = 0.500" in labels
    assert ax.get_xlabel() == "streams (lanes)"


def test_scaling_over_sms_counts_sms_and_leaves_amdahl_out() -> None:
    results = []
    for sms in (2, 4):
        problem = problem_of(ten_beside_a_chain(), small_gpu(sms, 8))
        results.append(Result(problem, "critical_path", simulate(problem, CriticalPath())))
    ax = plot_scaling(results)
    assert [x for x, _ in points(ax, "scheduler")] == [2, 4]
    assert points(ax, "amdahl") == []
    assert ax.get_xlabel() == "SMs"


def unlike_pair() -> Graph:
    """Two operators, one fast on each of two devices: 3 or 11 ticks, and 13 or 5."""
    builder = GraphBuilder("unlike", time_unit="tick")
    builder.add_op("a", duration={"p0": 3, "p1": 11})
    builder.add_op("b", duration={"p0": 13, "p1": 5})
    return builder.build()


def test_on_unlike_devices_amdahl_stays_a_bound_of_the_speed_up_that_is_drawn() -> None:
    problem = problem_of(unlike_pair(), procs(2))
    run = Result(problem, "critical_path", simulate(problem, CriticalPath()))
    ax = plot_scaling([run])
    # One after the other on one device: 3 + 13 or 11 + 5, so 16; side by side 5. Amdahl: (3 + 5) / 2 = 4.
    assert points(ax, "scheduler") == [(2, 16 / 5)]
    assert points(ax, "limit") == [(2, 16 / 5)]
    assert points(ax, "amdahl") == [(2, 16 / 4)]
    assert points(ax, "amdahl-textbook") == []
    assert ax.get_title(loc="left") == "unlike on procs:2: speed-up against streams"


def test_limits_are_those_of_the_durations_that_came_true() -> None:
    problem = problem_of(hand_result().problem.graph, lanes(2))
    estimates = list(problem.durations())
    actual = [[7 * duration if op == 0 else duration for op, duration in enumerate(estimates)]]
    run = Result(problem, "critical_path", simulate(problem, CriticalPath(), actual=actual), actual=actual)
    bound = lower_bound(problem, actual=actual).value
    ax = plot_scaling([run])
    assert points(ax, "limit") == [(2, sum(actual[0]) / bound)]
    assert points(ax, "scheduler")[0][1] <= points(ax, "limit")[0][1]


def test_scaling_names_the_hardware_and_only_lanes_are_machines() -> None:
    gpu = problem_of(ten_beside_a_chain(), small_gpu(4, 2))
    ax = plot_scaling([Result(gpu, "critical_path", simulate(gpu, CriticalPath()))])
    assert ax.get_title(loc="left") == f"chain and crowd on {gpu.hardware.name}: speed-up against streams"
    assert ax.get_xlabel() == "streams"
    problems = [problem_of(ten_beside_a_chain(), lanes(count)) for count in (1, 2)]
    ax = plot_scaling([Result(each, "critical_path", simulate(each, CriticalPath())) for each in problems])
    assert ax.get_title(loc="left") == "chain and crowd on identical lanes: speed-up against streams"


def test_scaling_of_nothing() -> None:
    assert points(plot_scaling([]), "scheduler") == []
    assert points(plot_scaling([empty_result()]), "scheduler") == [(2, 1.0)]


# --- memory -----------------------------------------------------------------------------------------------------


def test_memory_curves_of_several_schedulers() -> None:
    ax = plot_memory(hand_comparison())
    curves = [line for line in ax.lines if line.get_gid() == "memory"]
    assert [list(line.get_xdata()) for line in curves] == [[0, 2, 5, 10, 17], [0, 2, 5, 7, 14]]
    assert [list(line.get_ydata()) for line in curves] == [[11, 24, 31, 13, 6], [11, 37, 31, 13, 6]]
    assert points(ax, "peak") == [(5, 31), (2, 37)]
    assert [y for _, y in points(ax, "capacity")] == [40, 40]
    assert legend(ax) == ["by_hand: 31 B, 17", "better: 37 B, 14"]


def test_memory_of_one_run_and_of_nothing() -> None:
    assert points(plot_memory(hand_result()), "memory")[0] == (0, 11)
    assert points(plot_memory(empty_result()), "memory") == [(0, 0)]


# --- lines ------------------------------------------------------------------------------------------------------


def test_lines_are_sorted_with_spreads_and_references() -> None:
    ax = plot_lines(
        {"1f1b": [(8, 0.3), (2, 0.6), (4, 0.4)], "gpipe": [(2, 0.7)]},
        x_label="microbatches",
        y_label="bubble",
        spreads={"1f1b": [(0.2, 0.4), (0.5, 0.7), (0.3, 0.5)]},
        references={"closed form": [(4, 0.5), (2, 0.75)], "goal": 0.1},
        log_x=True,
    )
    assert points(ax, "series") == [(2, 0.6), (4, 0.4), (8, 0.3), (2, 0.7)]
    assert points(ax, "reference")[:2] == [(2, 0.75), (4, 0.5)]
    assert legend(ax) == ["1f1b", "gpipe", "closed form", "goal"]
    assert list(ax.get_xticks()) == [2, 4, 8]
    (band,) = marked(ax, "spread")
    corners = {(float(x), float(y)) for x, y in band.get_paths()[0].vertices}
    assert {(2.0, 0.5), (2.0, 0.7), (4.0, 0.3), (4.0, 0.5), (8.0, 0.2), (8.0, 0.4)} <= corners


def test_lines_without_points() -> None:
    assert points(plot_lines({}, x_label="x", y_label="y"), "series") == []


def test_lower_bound_of_the_pictures_is_that_of_the_analysis() -> None:
    run = hand_result()
    assert lower_bound(run.problem).value == 14
