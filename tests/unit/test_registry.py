"""Names of schedulers: texts to objects and back, plugins, and what is said of mistakes."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from pathlib import Path

import pytest

from simsched.errors import SchedulerError, UnknownNameError
from simsched.problem import Problem
from simsched.schedulers import registry
from simsched.schedulers.base import Policy
from simsched.schedulers.listing import dynamic_list_policy
from simsched.schedulers.registry import make_scheduler, scheduler_names, scheduler_spec, split_specs

NAMED = ["serial", "topological", "critical_path", "greedy_ready", "memory_aware", "pipeline", "random", "follow"]


@dataclass(frozen=True)
class Mine:
    """A user's own: the operator with the most successors first."""

    weight: int = 1

    def start(self, problem: Problem) -> Policy:
        succ = problem.graph.succ
        return dynamic_list_policy(lambda op, view: (-self.weight * len(succ[op]),))


class NotOne:
    """No scheduler."""


def test_names_are_those_of_the_entry_points() -> None:
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())
    assert dict(registry.BUILTIN) == project["project"]["entry-points"][registry.GROUP]
    assert scheduler_names()[: len(NAMED)] == NAMED


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("serial", "serial"),
        (" critical_path ", "critical_path"),
        ("greedy_ready:spt", "greedy_ready(rule=spt)"),
        ("greedy_ready:fifo", "greedy_ready"),
        ("memory_aware(slack=0.25, tight=0.5)", "memory_aware(slack=0.25, tight=0.5)"),
        ("random:7", "random(seed=7)"),
        ("pipeline(order=gpipe,stages=3)", "pipeline(order=gpipe, stages=3)"),
        ("simsched.schedulers.greedy_ready:GreedyReady(rule=lpt)", "greedy_ready(rule=lpt)"),
        ("tests.unit.test_registry:Mine(weight=3)", "Mine(weight=3)"),
        ("online:etf", "online(scheduler=etf)"),
        ("online(heft(insertion=false), threshold=1)", "online(scheduler=heft(insertion=false), threshold=1.0)"),
        ("informed(online(etf, pause=0), info=blind)", "informed(scheduler=online(etf, pause=0), info=blind)"),
    ],
)
def test_specs_round_trip(text: str, canonical: str) -> None:
    made = make_scheduler(text)
    assert scheduler_spec(made) == canonical
    if not canonical.startswith("Mine"):
        assert make_scheduler(canonical) == made


@pytest.mark.parametrize(
    ("text", "error", "message"),
    [
        ("seriall", UnknownNameError, "unknown scheduler 'seriall'; did you mean 'serial'?"),
        ("greedy_ready:sptt", UnknownNameError, "unknown rule of greedy_ready 'sptt'; did you mean 'spt'?"),
        ("memory_aware(slak=1)", SchedulerError, "has no parameter 'slak'; did you mean 'slack'?"),
        ("memory_aware(slack=much)", SchedulerError, "parameter 'slack' must be a number, got 'much'"),
        ("memory_aware(slack)", SchedulerError, "expected parameter=value, got 'slack'"),
        ("memory_aware(slack=1,slack=2)", SchedulerError, "parameter 'slack' is given twice"),
        ("memory_aware(0.5)", SchedulerError, "expected parameter=value, got '0.5'"),
        ("informed(info=mean, heft)", SchedulerError, "expected parameter=value, got 'heft'"),
        ("informed(heft(insertion=false, info=mean)", SchedulerError, "is not a scheduler; write name, name:value"),
        ("random:x", SchedulerError, "parameter 'seed' must be a whole number, got 'x'"),
        ("serial:3", SchedulerError, "serial takes no parameters; write just 'serial'"),
        ("serial(", SchedulerError, "is not a scheduler; write name, name:value or name(parameter=value)"),
        ("pipeline:zb", UnknownNameError, "unknown order of pipeline 'zb'; expected one of: 1f1b, gpipe"),
        ("pipeline(stages=0)", SchedulerError, "expected at least 1 stage, got 0"),
        ("no.such.module:Thing", UnknownNameError, "unknown scheduler 'no.such.module:Thing'"),
        ("simsched.units:nothing", SchedulerError, "cannot be loaded from 'simsched.units:nothing': AttributeError"),
        ("follow", SchedulerError, "cannot make scheduler 'follow'"),
        ("tests.unit.test_registry:NotOne", SchedulerError, "it has no method start(problem)"),
    ],
)
def test_bad_specs(text: str, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=re.escape(message)):
        make_scheduler(text)


def test_two_distributions_claiming_a_name_is_an_error_when_it_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    claims = {"serial": [("other", "other.module:Serial")], "fresh": [("a", "a:A"), ("b", "b:B")]}
    monkeypatch.setattr(registry, "_claims", lambda: claims)
    assert scheduler_spec(make_scheduler("critical_path")) == "critical_path"
    for name in claims:
        with pytest.raises(SchedulerError, match=f"scheduler '{name}' is claimed by several distributions"):
            make_scheduler(name)


def test_split_specs_leaves_parentheses_alone() -> None:
    assert split_specs("a, b(x=1,y=(2,3)),c:d,") == ["a", "b(x=1,y=(2,3))", "c:d"]
