"""The command line writes the same bytes under any hash seed: all shipped graphs, three profiles, whole folders."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from simsched.data import names
from tests.known_answers import REPOSITORY

SEEDS = ("0", "4242")
# HEFT's example is placed on processors p0, p1 and p2.
GRAPHS = sorted(set(names("graphs")) - {"heft_topcuoglu"})
SPECS = "serial,topological,critical_path,greedy_ready,memory_aware,random:3"


def told(seed: str, *words: str) -> bytes:
    command = [sys.executable, "-m", "simsched", "compare", *words, "-s", SPECS, "--seed", "5", "--noise", "0.2"]
    environment = os.environ | {"PYTHONHASHSEED": seed, "PYTHONPATH": str(REPOSITORY)}
    done = subprocess.run(command, cwd=REPOSITORY, env=environment, capture_output=True, check=True, timeout=120)
    return done.stdout


@pytest.mark.parametrize("hardware", ["a100_sxm_80gb", "box_epyc7763_a100", "toy_npu_phone"])
def test_comparisons_of_all_shipped_graphs(hardware: str) -> None:
    first, second = (told(seed, *GRAPHS, "-H", hardware, "--json") for seed in SEEDS)
    assert len(first.splitlines()) >= len(GRAPHS) >= 18
    assert first == second


def test_a_graph_that_is_placed_on_processors() -> None:
    first, second = (told(seed, "heft_topcuoglu", "-H", "procs:3", "--json") for seed in SEEDS)
    assert first == second


def test_whole_folders_but_for_how_long_schedulers_took(tmp_path: Path) -> None:
    for seed in SEEDS:
        told(seed, "residual", "inception_v1", "-H", "box_epyc7763_a100", "-o", str(tmp_path / seed))
    first, second = (
        {
            path.relative_to(tmp_path / seed): path.read_bytes()
            for path in (tmp_path / seed).rglob("*")
            if path.is_file()
        }
        for seed in SEEDS
    )
    assert first.pop(Path("timing.json"))
    assert second.pop(Path("timing.json"))
    assert len(first) > 20
    assert first == second
