"""Sharing of resources against SimGrid's own asserted answers (known answers ``contention_simgrid``).

Static cases: the rates, to 1e-9. Dynamic and DAG cases: every one of them, to the nanosecond, as flows over the
solver alone. How they are expressed:

- A computation uses its host; work is flops. A core's speed is the bound of a one-core flow.
- A transfer waits for the latencies of its route, then its bytes flow over the links. A shared link is one resource
  for both directions. A fat pipe is no resource, but a bound of each flow.
- A rigid parallel task is one flow whose progress uses all its hosts and links at once.
- "two such flows" are two transfers in the same direction over the route of three links (0.5 s, a fat pipe of 1 s,
  0.5 s) of SimGrid's test; the file gives their number alone.
- Background load is a flow like any other. A change of a host's speed is not an event of the solver: the run is cut
  there, and what is left goes on in a second system with the new speeds.
- The transfer of 1e8 B beside 1 B is asserted by SimGrid to four decimals. It ends at 0.800100008 s, since the link
  also carries the byte; both are checked.
- In the case with sub-flows SimGrid's names are the other way round from ours. Its L07 gives both tasks equal shares
  of the link (our bottleneck fairness); its BMF compares single sub-flows, of which the largest of the task weighs as
  much as the other flow, so both get the same rate (our max-min fairness).

None is left out. What the solver does not express by itself, and the helper below adds, is latencies and precedence.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from math import inf
from typing import Any

import pytest

from simsched.sharing.fair import bottleneck_fair_rates, max_min_rates
from simsched.sharing.flows import Flows, Solver
from tests.known_answers import folder

S = 10**9  # ns
MAX_MIN = ("penalty", "weight", "two constraints", "cross traffic", "n=2", "n=3")
BOTTLENECK = ("two flows", "bounded", "paper example", "bounds")


@cache
def answers() -> dict[str, Any]:
    return json.loads((folder("contention_simgrid") / "cases.json").read_text("utf-8"))


def case(kind: str, name: str) -> dict[str, Any]:
    return next(entry for entry in answers()[kind] if entry["name"] == name)


@dataclass(frozen=True)
class Activity:
    """What flows after a latency, once all its predecessors have ended."""

    use: Mapping[int, float]
    work: float
    bound: float = inf
    latency: int = 0
    preds: tuple[int, ...] = ()


def ends(per_second: Sequence[float], activities: Sequence[Activity], solver: Solver = max_min_rates) -> list[int]:
    """End of each activity in ns; capacities and bounds are per second."""
    flows = Flows([capacity / S for capacity in per_second], solver)
    end: dict[int, int] = {}
    begins: dict[int, int] = {}  # of the flow of each activity that waits for its latency
    now = 0
    while len(end) < len(activities):
        for number, activity in enumerate(activities):
            if number not in begins and all(pred in end for pred in activity.preds):
                begins[number] = now + activity.latency
        for number in [number for number, begin in begins.items() if begin == now]:
            flows.add(number, activities[number].use, activities[number].work, activities[number].bound / S, now)
        now = min([begin for begin in begins.values() if begin > now] + [flows.next_time()] * (len(flows) > 0))
        end.update(dict.fromkeys(flows.due(now), now))
    return [end[number] for number in range(len(activities))]


def test_every_case_of_the_file_is_here() -> None:
    names = {kind: [entry["name"] for entry in entries] for kind, entries in answers().items()}
    assert names["static_max_min"] == list(MAX_MIN)
    assert names["static_bmf"] == list(BOTTLENECK)
    assert {name for name, _, _ in FINISHES} | {"multicore ptask (rigid parallel task)", SUBFLOWS} == set(
        names["dynamic"]
    )
    assert names["dag"] == list(DAGS)


@pytest.mark.parametrize("name", MAX_MIN)
def test_static_max_min(name: str) -> None:
    expected = case("static_max_min", name)
    capacities = expected.get("capacity")
    if capacities is None:
        assert expected["capacity_of_n"] == "10*(1-0.1*(n-1))"
        capacities = [lambda n: 10 * (1 - 0.1 * (n - 1))]
    assert max_min_rates(capacities, expected["rows"], expected["penalty"]) == pytest.approx(
        expected["rate"], abs=0, rel=1e-9
    )


def test_static_cross_traffic_in_both_rules() -> None:
    expected = case("static_max_min", "cross traffic")
    rates = bottleneck_fair_rates(expected["capacity"], expected["rows"])
    assert rates == pytest.approx(expected["bmf_rate"], abs=0, rel=1e-9)


@pytest.mark.parametrize("name", BOTTLENECK)
def test_static_bottleneck(name: str) -> None:
    expected = case("static_bmf", name)
    rates = bottleneck_fair_rates(expected["capacity"], expected["rows"], expected.get("bound"))
    assert rates == pytest.approx(expected["rate"], abs=0, rel=1e-9)


HALF = S // 2
FINISHES: list[tuple[str, list[float], list[Activity]]] = [
    ("1 flop on 1 flop/s", [1], [Activity({0: 1}, 1)]),
    ("2x1 flop on one 1 flop/s host", [1], [Activity({0: 1}, 1)] * 2),
    ("1 flop each on 1 and 2 flop/s hosts", [1, 2], [Activity({0: 1, 1: 1}, 1)]),
    ("1 B over 1 B/s link, latency .5", [1], [Activity({0: 1}, 1, latency=HALF)]),
    (
        "two 1 B flows, opposite directions, SAME shared (half-duplex) link",
        [1],
        [Activity({0: 1}, 1, latency=HALF)] * 2,
    ),
    ("two 1 B flows on fatpipe link", [], [Activity({}, 1, bound=1, latency=HALF)] * 2),
    ("two such flows", [1, 1], [Activity({0: 1, 1: 1}, 1, bound=1, latency=HALF + S + HALF)] * 2),
    (
        "scatter 1,2,3 B from one 1 B/s link, total latency 2",
        [1, 1, 1, 1],
        [Activity({0: 1, receiver: 1}, receiver, latency=2 * S) for receiver in (1, 2, 3)],
    ),
    (
        "1e8 B and 1 B together on 1.25e8 B/s latency 1e-4",
        [1.25e8],
        [Activity({0: 1}, 1e8, latency=100_000), Activity({0: 1}, 1, latency=100_000)],
    ),
    (
        "send 1 B (1 B/s, .5 s) while computing 2 flop at 1 flop/s",
        [1, 1],
        [Activity({0: 1}, 1, latency=HALF), Activity({1: 1}, 2)],
    ),
]


@pytest.mark.parametrize(("name", "capacities", "activities"), FINISHES, ids=[name for name, _, _ in FINISHES])
@pytest.mark.parametrize("solver", [max_min_rates, bottleneck_fair_rates])
def test_dynamic(name: str, capacities: list[float], activities: list[Activity], solver: Solver) -> None:
    # Where all flows need one unit of each of their resources per unit of progress, both rules agree.
    expected = case("dynamic", name)
    found = ends(capacities, activities, solver)
    if name.startswith("1e8 B and 1 B"):
        assert found == [800_100_008, 100_016]
        assert round(max(found) / S, 4) == expected["finish"]
        assert ends(capacities, activities[:1], solver) == [round(expected["finish"] * S)]
        return
    assert max(found) == round(expected["finish"] * S)
    if "finish_each" in expected:
        assert found == [round(finish * S) for finish in expected["finish_each"]]


def core_task(host: int, cores: int, core_speed: float = 1e8) -> Activity:
    """A rigid task of 1e9 flops on each of several cores of one host; its progress goes from 0 to 1."""
    return Activity({host: cores * 1e9}, 1, bound=core_speed / 1e9)


def test_rigid_parallel_tasks_on_cores() -> None:
    timeline = case("dynamic", "multicore ptask (rigid parallel task)")["timeline"]
    found = dict(line.rsplit(": ", 1) for line in timeline[:4])
    hosts = [4e8, 1e8, 1e8]  # one of four cores and two of one core, of 1e8 flop/s a core
    on_two = Activity({1: 1e9, 2: 1e9}, 1, bound=0.1)
    assert ends(hosts, [on_two]) == [int(found["2 cores on two hosts"]) * S]
    assert ends(hosts, [core_task(1, 2)]) == [int(found["2 cores on a 1-core host"]) * S]
    assert ends(hosts, [core_task(0, 2)]) == [int(found["2 cores on 4-core"]) * S]
    assert ends(hosts, [core_task(0, 6)]) == [int(found["6 cores on 4-core"]) * S]


def test_background_load_and_half_speed() -> None:
    timeline = case("dynamic", "multicore ptask (rigid parallel task)")["timeline"]
    assert timeline[4:] == [
        "background 1 core 5e9 + 2-core task: 10, background 80% left",
        "half speed: 20",
        "background ends 175 (start 85)",
    ]
    start = 85 * S
    flows = Flows([4e8 / S])
    background, task = Activity({0: 1}, 5e9, bound=1e8), core_task(0, 2)
    flows.add(0, background.use, background.work, background.bound / S, start)
    flows.add(1, task.use, task.work, task.bound / S, start)
    switch = start + 10 * S
    assert flows.next_time() == switch
    left = background.work - flows.rate(0) * (switch - start)
    assert flows.due(switch) == [1]
    assert left == pytest.approx(0.8 * background.work, rel=1e-12)

    slower = Flows([2e8 / S])
    again = core_task(0, 2, core_speed=0.5e8)
    slower.add(0, background.use, left, 0.5e8 / S, switch)
    slower.add(1, again.use, again.work, again.bound / S, switch)
    assert slower.next_time() == switch + 20 * S
    assert slower.due(switch + 20 * S) == [1]
    assert slower.next_time() == 175 * S


SUBFLOWS = "L07 vs BMF subflows: link 1 B/s latency 1; ptask = flows 1.0 B + 0.5 B; noise flow 10 B on the same link"


def test_two_subflows_beside_a_noise_flow() -> None:
    expected = case("dynamic", SUBFLOWS)
    task = Activity({0: 1.5}, 1, latency=S)
    noise = Activity({0: 1}, 10, latency=S)
    assert ends([1], [task]) == [expected["alone"] * S]
    equal_shares = ends([1], [task, noise], bottleneck_fair_rates)
    assert equal_shares == [expected["with_noise_max_min_L07"] * S, (1 + 11.5) * S]
    equal_rates = ends([1], [task, noise], max_min_rates)
    assert equal_rates == [expected["with_noise_bmf"] * S, (1 + 11.5) * S]


HOST, DISK = 0, 1
DAGS: dict[str, tuple[list[float], list[Activity]]] = {
    "two parents (2 s, 3 s) then child 1 s, one host each": (
        [1, 1, 1],
        [Activity({0: 1}, 2), Activity({1: 1}, 3), Activity({2: 1}, 1, preds=(0, 1))],
    ),
    "exec 1 s; write 25 s; read 10 s; exec 1 s chain with disk": (
        [1, 1],
        [
            Activity({HOST: 1}, 1),
            Activity({DISK: 1}, 25, preds=(0,)),
            Activity({DISK: 1}, 10, preds=(1,)),
            Activity({HOST: 1}, 1, preds=(2,)),
        ],
    ),
}


@pytest.mark.parametrize("name", list(DAGS))
def test_dag(name: str) -> None:
    capacities, activities = DAGS[name]
    assert max(ends(capacities, activities)) == case("dag", name)["finish"] * S
