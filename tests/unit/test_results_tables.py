"""The program behind the page of results: tables by hand, and what it says where published instances are absent."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.answers import Instance
from benchmarks.duels import matrix
from benchmarks.results import CHEAP, OWN, instances, main, measured, table
from simsched.graph.io import load_graph
from simsched.hardware import lanes
from simsched.problem import Problem, make_problem
from simsched.schedulers.registry import make_scheduler, split_specs
from simsched.study import make_space

NAMES = ["greedy_ready:list", "serial"]


def graham() -> Problem:
    return make_problem(load_graph("graham"), lanes(3))


def test_a_table_by_hand() -> None:
    # 12 is optimal; one after the other the nine tasks take 34.
    rows = measured([Instance("graham on 3", graham, 12), Instance("graham on 3 again", graham, 10, False)], NAMES)
    assert [row.case.makespans for row in rows] == [(12, 34), (12, 34)]
    lines = list(table(NAMES, rows))
    assert lines[0] == "| scheduler | reached | mean above | worst | mean rank (95 %) | time each |"
    assert lines[2].startswith("| `greedy_ready:list` | 1 | 10.00 % | 20.0 % | 1.00 |")
    assert lines[3].startswith(f"| `serial` | 0 | {100 * (34 / 12 + 34 / 10 - 2) / 2:.2f} % | 240.0 % | 2.00 |")
    assert len(lines) == 4


def test_a_run_below_a_published_optimum_ends_it() -> None:
    with pytest.raises(SystemExit, match="graham: 12, below the published optimum 13"):
        measured([Instance("graham", graham, 13)], NAMES)


def test_absent_instances_are_said_to_be_absent(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("SIMSCHED_KNOWN_ANSWERS", str(tmp_path))
    monkeypatch.setattr("sys.argv", ["results", "stg"])
    main()
    assert "stg: not measured, the instances are not here" in capsys.readouterr().out


def test_every_set_has_schedulers_that_exist() -> None:
    for specs in CHEAP.values():
        assert all(make_scheduler(spec) for spec in split_specs(specs))


def test_the_best_known_of_shipped_graphs_is_a_bound() -> None:
    assert set(OWN) <= set(CHEAP)
    found = instances("small", 8)
    assert found is not None
    rows = measured(found, ["critical_path"])
    assert all(row.case.makespans[0] >= row.case.bound > 0 for row in rows)  # type: ignore[operator]


def test_a_matrix_of_duels() -> None:
    lines = matrix(["heft", "cpop"], make_space(["procs:2"]), steps=30, seed=0)
    assert lines[0] == "| loses to | `heft` | `cpop` | worst |"
    first, second = (line.split(" | ") for line in lines[2:])
    assert first[1] == second[2] == "-"
    assert float(first[2]) == float(first[3].rstrip(" |")) >= 1.0
