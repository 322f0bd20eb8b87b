"""Compare list schedulers with those of SAGA, one by one: ``python -m benchmarks.peer_saga``.

SAGA is the Python package ``anrg-saga`` (J. Coleman, B. Krishnamachari). It is large and wants its own versions of
other packages; install it, with simpy and pyyaml, into an environment of its own and run this there.

The two differ in what papers leave open, so each row says how many of the instances agree when both follow
their own rules, and how many when ours follows SAGA's:

- *Ranks.* SAGA's mean transfer is over all pairs of nodes and over each node with itself, where it is 0; ours is over
  pairs of different devices, as published. Its downward rank adds a task's own cost where the paper adds its
  predecessor's, so that its critical path of CPOP can be another one; and it gives every task of that length to the
  path's node, also one of another path.
- *Ties.* Where several tasks or nodes are equal, SAGA takes the first of a set of strings, which differs from one
  process to the next; ours takes the higher priority, then the lower id, and of devices the first. In ETF that happens
  all the time: tasks that wait for the same data can all start at the same instant. Costs are drawn large to make ties
  rare elsewhere.
- *Batches.* SAGA's Sufferage looks at everything that is ready, ours at one batch after the other, as its paper does.
  On nodes of equal speed many tasks lose nothing, and ties decide.
- SAGA has no PEFT, MCP or HLFET.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import logging
import random
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from simsched.graph.builder import GraphBuilder
from simsched.hardware import Device, HardwareProfile, Link
from simsched.problem import Problem, make_problem
from simsched.schedulers.planning.costs import Costs
from simsched.schedulers.planning.orders import by_list, by_sufferage
from simsched.schedulers.planning.partial import PartialPlan, Score
from simsched.schedulers.planning.priorities import Ranking, level
from simsched.schedulers.registry import make_scheduler

UNIT = 12
"""Costs are multiples of it, so that every speed divides them."""
SPEEDS = (1, 2, 3, 4, 6)


class Pair(NamedTuple):
    """One instance in both worlds; tasks have the same order, and nodes too."""

    problem: Problem
    network: Any
    tasks: Any
    order: list[str]
    """Names of tasks in SAGA's topological order, which is also that of the operators."""


def available() -> bool:
    """Whether SAGA can be imported here."""
    return importlib.util.find_spec("saga") is not None


def instance(seed: int, tasks: int, nodes: int, *, same_links: bool) -> Pair:
    """Draw an instance: one entry, one exit, speeds of nodes and of links."""
    saga = importlib.import_module("saga")
    rng = random.Random(seed)
    costs = {f"t{number:05}": UNIT * rng.randint(10_000, 1_000_000) for number in range(tasks)}
    names = list(costs)
    sizes = {}
    for number in range(1, tasks - 1):
        for other in sorted({rng.randrange(max(0, number - 20), number) for _ in range(rng.randint(1, 3))}):
            sizes[names[other], names[number]] = UNIT * rng.randint(10_000, 500_000)
    used = {source for source, _ in sizes}
    for name in names[:-1]:
        if name not in used:
            sizes[name, names[-1]] = UNIT * rng.randint(10_000, 500_000)
    speeds = {f"n{number}": rng.choice(SPEEDS) for number in range(nodes)}
    ends = [(left, right) for left in speeds for right in speeds if left < right]
    links = {pair: 1 if same_links else rng.choice(SPEEDS) for pair in ends}
    network = saga.Network.create(speeds.items(), [(*pair, speed) for pair, speed in links.items()])
    graph = saga.TaskGraph.create(costs.items(), [(*pair, size) for pair, size in sizes.items()])
    order = [task.name for task in graph.topological_sort()]
    placed = [node.name for node in network.nodes]
    problem = _ours(costs, sizes, order, {name: speeds[name] for name in placed}, links, same_links)
    return Pair(problem, network, graph, order)


def _ours(
    costs: dict[str, int], sizes: dict[tuple[str, str], int], order: list[str], speeds: dict[str, int],
    links: dict[tuple[str, str], int], same_links: bool,
) -> Problem:  # fmt: skip
    builder = GraphBuilder("instance", "ns")
    for name in order:
        builder.add_op(name, duration={node: costs[name] // speed for node, speed in speeds.items()})
    for (source, target), size in sizes.items():
        if same_links:
            builder.add_edge(source, target, delay=size)
        else:
            builder.add_edge(source, target, bytes=size)
    joined = () if same_links else tuple(Link(*pair, 0, speed * 1e9, "unshared") for pair, speed in links.items())
    return make_problem(builder.build(), HardwareProfile("nodes", tuple(Device(name) for name in speeds), joined))


def theirs(name: str, pair: Pair) -> float:
    """Makespan of one of SAGA's schedulers."""
    module, kind = {
        "heft": ("heft", "HeftScheduler"),
        "cpop": ("cpop", "CpopScheduler"),
        "etf": ("etf", "ETFScheduler"),
        "min_min": ("minmin", "MinMinScheduler"),
        "max_min": ("maxmin", "MaxMinScheduler"),
        "mct": ("mct", "MCTScheduler"),
        "met": ("met", "METScheduler"),
        "olb": ("olb", "OLBScheduler"),
        "sufferage": ("sufferage", "SufferageScheduler"),
    }[name]
    scheduler = getattr(importlib.import_module(f"saga.schedulers.{module}"), kind)()
    return float(scheduler.schedule(pair.network, pair.tasks).makespan)


def their_etf_with_our_ties(pair: Pair) -> float:
    """Makespan of SAGA's ETF if it looks at tasks and nodes in our order of ties."""
    base: Any = importlib.import_module("saga.schedulers.etf").ETFScheduler
    ranks = level(Costs(pair.problem)).values
    tasks = [pair.order[op] for op in sorted(range(len(ranks)), key=lambda op: (-ranks[op], op))]
    place = {name: number for number, name in enumerate(tasks)}
    nodes = [device.name for device in pair.problem.devices]

    class Ordered(base):  # type: ignore[misc]
        def _get_start_times(self, known: Any, ready: Any, free: Any, *rest: Any, **more: Any) -> Any:
            ordered = sorted(ready, key=place.__getitem__), sorted(free, key=nodes.index)
            return super()._get_start_times(known, *ordered, *rest, **more)

    return float(Ordered().schedule(pair.network, pair.tasks).makespan)


def ours(name: str, pair: Pair) -> int:
    """Makespan of one of our schedulers."""
    return int(make_scheduler(name).plan(pair.problem).makespan)  # type: ignore[attr-defined]


def our_heft_with_their_ranks(pair: Pair) -> int:
    """Makespan of our HEFT if tasks go in the order of SAGA's ranks."""
    sort = importlib.import_module("saga.schedulers.heft").heft_rank_sort
    return _with(pair, sort(pair.network, pair.tasks), lambda op, device, start, end: end)


def our_cpop_with_their_ranks(pair: Pair) -> int:
    """Makespan of our CPOP with SAGA's priorities, and all tasks of the greatest on the path's node."""
    ranks = importlib.import_module("saga.schedulers.cpop").cpop_ranks(pair.network, pair.tasks)
    longest = ranks[pair.order[0]]
    on_path = [abs(ranks[name] - longest) <= 1e-5 * longest for name in pair.order]
    problem = pair.problem
    path = [op for op, there in enumerate(on_path) if there]
    home = min(range(len(problem.devices)), key=lambda device: sum(problem.durations(device)[op] for op in path))

    def score(op: int, device: int, start: int, end: int) -> int:
        return -1 if on_path[op] and device == home else end

    return _with(pair, sorted(pair.order, key=lambda name: (-ranks[name], name)), score)


def _with(pair: Pair, names: list[str], score: Score) -> int:
    index = pair.problem.graph.index
    values = [0] * len(names)
    for place, name in enumerate(names):
        values[index[name]] = -place
    plan = PartialPlan(Costs(pair.problem), insertion=True)
    by_list(plan, Ranking(values), score)
    return plan.finished().makespan


def our_sufferage_with_their_ties(pair: Pair) -> int:
    """Makespan of our Sufferage if it looks at everything that is ready, and ties go by SAGA's set of tasks."""
    problem = pair.problem
    values = [0] * len(pair.order)
    for place, task in enumerate(pair.tasks.tasks):
        values[problem.graph.index[task.name]] = -place
    plan = PartialPlan(Costs(problem), insertion=False)
    by_sufferage(plan, Ranking(values), lambda op, device, start, end: end)
    return plan.finished().makespan


ROWS: dict[str, Callable[[Pair], tuple[float, float]] | None] = {
    "heft": lambda pair: (our_heft_with_their_ranks(pair), theirs("heft", pair)),
    "cpop": lambda pair: (our_cpop_with_their_ranks(pair), theirs("cpop", pair)),
    "etf": lambda pair: (ours("etf", pair), their_etf_with_our_ties(pair)),
    "min_min": None,
    "max_min": None,
    "mct": None,
    "met": None,
    "olb": None,
    "sufferage": lambda pair: (our_sufferage_with_their_ties(pair), theirs("sufferage", pair)),
}
"""What is compared, and both makespans under one rule where the rules differ."""


class Agreement(NamedTuple):
    """How far one scheduler agrees: instances, equal ones, equal ones under one rule, mean of ours over theirs."""

    name: str
    instances: int
    equal: int
    equal_by_one_rule: int
    ratio: float


def agreements(count: int) -> Iterator[Agreement]:
    """Compare every scheduler on random instances, half of them with links of different speeds."""
    pairs = []
    for seed in range(count):
        rng = random.Random(1_000 + seed)
        pairs.append(instance(seed, rng.randint(8, 40), rng.randint(2, 6), same_links=seed % 2 == 0))
    for name, aligned in ROWS.items():
        both = [(ours(name, pair), theirs(name, pair)) for pair in pairs]
        one_rule = [aligned(pair) for pair in pairs] if aligned else both
        equal, aligned_equal = (
            sum(abs(left - right) <= 1e-9 * right for left, right in rows) for rows in (both, one_rule)
        )
        yield Agreement(name, count, equal, aligned_equal, sum(left / right for left, right in both) / count)


def seconds(call: Callable[[], object]) -> float:
    """CPU time of one call."""
    begin = time.process_time()
    call()
    return time.process_time() - begin


def main() -> int:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--instances", type=int, default=200)
    parser.add_argument("--tasks", type=int, nargs="*", default=[100, 1_000, 5_000], help="sizes to time HEFT at")
    options = parser.parse_args()
    if not available():
        print("skipped: the package anrg-saga is not installed here", file=sys.stderr)
        return 0
    logging.disable(logging.WARNING)
    print(f"{'scheduler':<12} {'instances':>9} {'equal':>6} {'equal by one rule':>18} {'ours/theirs':>12}")
    for row in agreements(options.instances):
        print(
            f"{row.name:<12} {row.instances:>9} {row.equal:>6} {row.equal_by_one_rule:>18} {row.ratio:>12.4f}",
            flush=True,
        )
    print(f"\n{'HEFT, tasks':<12} {'SAGA':>10} {'simsched':>10} {'factor':>8}   CPU seconds, 8 nodes")
    for tasks in options.tasks:
        pair = instance(7, tasks, 8, same_links=True)
        heft = make_scheduler("heft")
        mine = min(seconds(lambda: heft.plan(pair.problem)) for _ in range(5))  # type: ignore[attr-defined] # noqa: B023
        other = seconds(lambda: theirs("heft", pair))  # noqa: B023
        print(f"{tasks:<12} {other:>10.3f} {mine:>10.4f} {other / mine:>8.0f}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
