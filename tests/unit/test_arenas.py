"""Ideal memory beside real addresses: of a run, on the command line, in its JSON."""

from __future__ import annotations

import json

from simsched.analysis.arenas import arenas
from simsched.graph.builder import GraphBuilder
from simsched.hardware import lanes, procs
from simsched.run import run
from tests.cli import invoke
from tests.plots.looks import held_result


def test_the_figures_of_a_run_by_hand():
    """Weight 4, a 6 [0, 5), b 2 [2, 17), c 7 [5, 17), a workspace of 3 [10, 17): 16 B live; allocators put c on top."""
    (found,) = arenas(held_result())
    assert (found.device, found.capacity, found.ideal) == ("d0", 24, 16)
    assert (found.best.size, found.first.size, found.plan.size) == (19, 19, 16)
    assert (found.best.at, found.best.fragmentation) == (5, 1 - 13 / 19)
    (aligned,) = arenas(held_result(), alignment=16)
    assert (aligned.ideal, aligned.best.size, aligned.plan.size, aligned.plan.ideal) == (16, 64, 64, 64)


def test_each_device_that_holds_anything_has_its_own():
    builder = GraphBuilder("pair", time_unit="tick")
    builder.add_tensor("t", bytes=7)
    builder.add_op("a", duration=2, outputs=["t"], device="p0")
    builder.add_op("b", duration=3, inputs=["t"], device="p1", workspace=5)
    found = arenas(run(builder.build(), "serial", procs(3)))
    assert [(one.device, one.ideal) for one in found] == [("p0", 7), ("p1", 12)]
    builder = GraphBuilder("bare", time_unit="tick")
    builder.add_op("a", duration=2)
    assert arenas(run(builder.build(), "serial", lanes(1))) == ()


GRAPH = """
time_unit: tick
operators:
  - {name: va, duration: 2, outputs: [a]}
  - {name: vb, duration: 3, inputs: [a], outputs: [b]}
  - {name: vc, duration: 5, inputs: [b], outputs: [c]}
  - {name: vd, duration: 7, inputs: [b, c]}
tensors: [{name: a, bytes: 6}, {name: b, bytes: 2}, {name: c, bytes: 7}]
"""


def test_the_command_shows_them_side_by_side(tmp_path):
    file = tmp_path / "holes.yaml"
    file.write_text(GRAPH)
    done = invoke(
        "run", str(file), "--hardware", "lanes:1", "--memory-capacity", "14 B", "--memory", "unbounded", "--arena"
    )
    assert done.exit_code == 0
    assert done.stdout.splitlines()[-5:] == [
        "device  memory             size  above ideal  empty then  empty at worst  fits",
        "d0      ideal: live bytes   9 B        0.0 %           -               -  yes",
        "d0      planned addresses   9 B        0.0 %           -               -  yes",
        "d0      best fit           15 B       66.7 %      40.0 %          40.0 %  NO",
        "d0      first fit          15 B       66.7 %      40.0 %          40.0 %  NO",
    ]
    done = invoke("run", str(file), "--hardware", "lanes:1", "--arena", "--alignment", "8", "--json")
    (found,) = json.loads(done.stdout)["runs"][0]["arenas"]
    assert found == {
        "device": "d0",
        "capacity_bytes": None,
        "alignment": 8,
        "ideal_bytes": 9,
        "best_fit": {"bytes": 16, "at_ns": 2, "fragmentation": 0.5, "worst_fragmentation": 0.5},
        "first_fit": {"bytes": 16, "at_ns": 2, "fragmentation": 0.5, "worst_fragmentation": 0.5},
        "plan": {"bytes": 16, "by_size_bytes": 16, "rule": "by size"},
    }


def test_a_graph_without_bytes_says_so(tmp_path):
    done = invoke("run", "residual", "--hardware", "lanes:2", "--arena")
    assert done.stdout.splitlines()[-1] == "Nothing was held in memory."


def test_an_alignment_without_an_arena_is_refused():
    done = invoke("run", "residual", "--hardware", "lanes:2", "--alignment", "8")
    assert done.exit_code == 2
    assert "write --arena too" in done.stderr
    assert invoke("plot", "gantt", "residual", "--hardware", "lanes:2", "--addresses", "best").exit_code == 2


def test_the_command_draws_them(tmp_path):
    file, target = tmp_path / "holes.yaml", tmp_path / "arena.png"
    file.write_text(GRAPH)
    for rule in ("plan", "best", "first"):
        done = invoke("plot", "arena", str(file), "--hardware", "lanes:1", "--addresses", rule, "-o", str(target))
        assert done.exit_code == 0
        assert target.stat().st_size > 5000
        target.unlink()
