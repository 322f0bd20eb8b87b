"""What holds for every plot: same bytes, nothing beyond the page, any name, no trace in matplotlib's own state."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import matplotlib as mpl
import pytest

from simsched.engine.simulator import simulate
from simsched.errors import UnknownNameError
from simsched.graph.builder import GraphBuilder
from simsched.hardware import HardwareProfile, lanes
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
from simsched.plot.figure import figure_of, new_figure, render
from simsched.problem import make_problem
from simsched.result import Comparison, Failure, Result
from simsched.schedulers.critical_path import CriticalPath
from tests.builders import problem_of, with_memory
from tests.plots.gallery import GALLERY
from tests.plots.looks import HOSTILE, hand_result, kernels, outside, small_device, words
from tests.plots.sm_looks import block_result

EVERY = sorted(GALLERY)
PROGRAM = """
import sys
from tests.plots.gallery import GALLERY
from simsched.plot import save
for name in sorted(GALLERY):
    save(GALLERY[name], f"{sys.argv[1]}/{name}.png")
    save(GALLERY[name], f"{sys.argv[1]}/{name}.svg")
"""


def digests(folder: Path) -> dict[str, str]:
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in sorted(folder.iterdir())}


def test_the_same_bytes_in_other_processes_under_other_hash_seeds(tmp_path: Path) -> None:
    found = []
    for seed in ("1", "4242"):
        folder = tmp_path / seed
        environment = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": "."}
        subprocess.run([sys.executable, "-c", PROGRAM, str(folder)], env=environment, check=True)
        found.append(digests(folder))
    assert len(found[0]) == 2 * len(GALLERY)
    assert found[0] == found[1]


@pytest.mark.parametrize("ending", ["png", "svg", "pdf"])
def test_the_same_bytes_twice_without_dates(ending: str, tmp_path: Path) -> None:
    first = save(GALLERY["gantt"], tmp_path / f"first.{ending}").read_bytes()
    second = save(GALLERY["gantt"], tmp_path / "deeper" / f"second.{ending}").read_bytes()
    assert first == second
    assert b"CreationDate" not in first
    assert b"dc:date" not in first
    assert b"Matplotlib v" not in first


@pytest.mark.parametrize("name", EVERY)
def test_nothing_reaches_beyond_the_page(name: str) -> None:
    assert outside(GALLERY[name]()) == []


@pytest.mark.parametrize("name", EVERY)
def test_every_plot_draws_into_given_axes(name: str) -> None:
    ax = new_figure(7, 4).add_subplot()
    result = hand_result()
    comparison = Comparison(result.problem, (result,))
    drawn = {
        "comparison_several": lambda: plot_comparison([comparison], ax=ax),
        "scaling": lambda: plot_scaling([result], ax=ax),
        "roofline": lambda: plot_roofline(kernels(), ax=ax),
        "lines": lambda: plot_lines({"a": [(1, 2)]}, x_label="x", y_label="y", ax=ax),
        "gantt": lambda: plot_gantt(result, ax=ax),
        "sms": lambda: plot_sms(block_result(), ax=ax),
        "breakdown": lambda: plot_breakdown(comparison, ax=ax),
        "comparison": lambda: plot_comparison(comparison, ax=ax),
        "memory": lambda: plot_memory(comparison, ax=ax),
        "arena": lambda: plot_arena(result, ax=ax),
        "tradeoff": lambda: plot_tradeoff(comparison, ax=ax),
        "dag": lambda: plot_dag(result.problem, ax=ax),
    }[name]()
    assert drawn is ax
    assert figure_of(ax).axes == [ax]


def hostile_comparison() -> Comparison:
    builder = GraphBuilder(HOSTILE[4], time_unit="tick")
    for number, name in enumerate(HOSTILE):
        builder.add_tensor(f"t{number}", bytes=1000 + number)
        builder.add_op(name, HOSTILE[-number], duration=5 + number, outputs=[f"t{number}"])
    named: HardwareProfile = replace(with_memory(lanes(3), 8000), name=HOSTILE[0])
    problem = problem_of(builder.build(), named)
    results = [Result(problem, name, simulate(problem, CriticalPath())) for name in HOSTILE]
    return Comparison(problem, tuple(results), (Failure("$fail$", HOSTILE[2] * 20),))


def test_hostile_names_are_drawn_as_text_inside_the_page(tmp_path: Path) -> None:
    comparison = hostile_comparison()
    pictures = {
        "gantt": lambda: plot_gantt(comparison.results[0]),
        "breakdown": lambda: plot_breakdown(comparison),
        "comparison": lambda: plot_comparison(comparison),
        "several": lambda: plot_comparison([comparison, comparison]),
        "memory": lambda: plot_memory(comparison),
        "arena": lambda: plot_arena(comparison.results[0]),
        "tradeoff": lambda: plot_tradeoff(comparison),
        "dag": lambda: plot_dag(comparison.problem),
    }
    for name, draw in pictures.items():
        assert outside(draw()) == [], name
        for ending in ("png", "svg"):
            assert save(draw, tmp_path / f"{name}.{ending}").stat().st_size > 1000
    shown = words(plot_dag(comparison.problem), "name")
    assert "$x_1$ \\frac{" in shown
    assert "…s and tabs" in shown
    assert "□□" in shown


def test_hostile_types_on_the_roofline(tmp_path: Path) -> None:
    builder = GraphBuilder("types")
    for number, name in enumerate(HOSTILE):
        builder.add_op(f"k{number}", name, flops=10**6 * (number + 1), traffic=10**5)
    problem = make_problem(builder.build(), small_device())
    assert outside(plot_roofline(problem)) == []
    save(lambda: plot_roofline(problem), tmp_path / "roofline.png")


def test_settings_and_figures_of_matplotlib_are_left_alone(tmp_path: Path) -> None:
    before = dict(mpl.rcParams)
    for name in EVERY:
        save(GALLERY[name], tmp_path / f"{name}.png")
    assert dict(mpl.rcParams) == before
    assert "matplotlib.pyplot" not in sys.modules or not sys.modules["matplotlib.pyplot"].get_fignums()


def test_the_look_does_not_depend_on_the_users_settings(tmp_path: Path) -> None:
    plain = save(GALLERY["dag"], tmp_path / "plain.png").read_bytes()
    with mpl.rc_context({"font.size": 23, "axes.facecolor": "black", "lines.linewidth": 9, "figure.dpi": 50}):
        assert save(GALLERY["dag"], tmp_path / "other.png").read_bytes() == plain


def test_a_picture_can_be_given_as_figure_axes_or_function(tmp_path: Path) -> None:
    ax = GALLERY["dag"]()
    made = [save(figure_of(ax), tmp_path / "a.png"), save(ax, tmp_path / "b.png"), save(lambda: ax, tmp_path / "c.png")]
    assert len({path.read_bytes() for path in made}) == 1
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.png", "b.png", "c.png"]


def test_an_unknown_ending_names_the_known_ones(tmp_path: Path) -> None:
    with pytest.raises(UnknownNameError) as error:
        save(GALLERY["dag"], tmp_path / "picture.pgn")
    assert str(error.value) == "unknown picture format '.pgn'; did you mean '.png'?"
    with pytest.raises(UnknownNameError, match=r"unknown picture format 'picture'"):
        save(GALLERY["dag"], tmp_path / "picture")


def test_bytes_without_a_file_are_those_of_the_file(tmp_path: Path) -> None:
    assert render(GALLERY["dag"], ".svg") == save(GALLERY["dag"], tmp_path / "dag.svg").read_bytes()
    small, large = render(GALLERY["dag"], dpi=40), render(GALLERY["dag"])
    assert len(small) < len(large)


def test_the_core_draws_nothing_by_itself() -> None:
    program = "import sys, simsched; sys.exit('matplotlib' in sys.modules)"
    subprocess.run([sys.executable, "-c", program], env={**os.environ, "PYTHONPATH": "."}, check=True)
