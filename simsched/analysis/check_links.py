"""Rule of the referee on how long copies take: latency, then bytes at a rate that is max-min fair over all links.

Rates are worked out anew over the recorded intervals, from all copies whose bytes flow at the moment.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from simsched.analysis.check_fair import link_rates
from simsched.analysis.check_speed import SLACK, rounding
from simsched.analysis.findings import Facts
from simsched.trace import Transfer

UNLIMITED = float("inf")


@dataclass(slots=True)
class Flow:
    """The bytes of one copy on their way.

    Attributes
    ----------
    move : Transfer
    begin : int
        When the latency is over, in ns.
    bound : float
        Bytes per ns of the slowest link that it shares with nobody.
    links : tuple of int
        Shared links; twice the number of a link, and one more for the direction back.
    moved, rate : float
        Bytes that were through when last looked at, and bytes per ns since then.
    """

    move: Transfer
    begin: int
    bound: float
    links: tuple[int, ...]
    moved: float = 0.0
    rate: float = 0.0


def check_links(facts: Facts, copies: Sequence[Transfer]) -> None:
    """Check that each copy ended at the first whole ns at which its bytes were through."""
    bandwidth: dict[int, float] = {}
    flows = []
    for move in copies:
        flow = _flow(facts, move, bandwidth)
        if flow.bound == UNLIMITED and not flow.links:
            if move.end != flow.begin:
                _blame(facts, flow, f"a latency of {flow.begin - move.start} ns and nothing else takes time")
        elif move.end <= flow.begin:
            _blame(facts, flow, f"its latency is over at {facts.at(flow.begin)}, then {move.bytes} B are to flow")
        else:
            flows.append(flow)
    _sweep(facts, flows, bandwidth)


def _flow(facts: Facts, move: Transfer, bandwidth: dict[int, float]) -> Flow:
    hardware = facts.problem.hardware
    names = [hardware.devices[device].name for device in (move.from_device, move.to_device)]
    latency, bound, shared = 0, UNLIMITED, []
    for hop in hardware.route(names[0], names[1]):
        link = hardware.links[hop.link]
        latency += link.latency_ns
        if link.bandwidth is None:
            continue
        if link.sharing == "unshared":
            bound = min(bound, link.bandwidth / 1e9)
        else:
            back = link.sharing == "full_duplex" and not hop.forward
            number = 2 * hop.link + back
            bandwidth[number] = link.bandwidth / 1e9
            shared.append(number)
    return Flow(move, move.start + latency, bound, tuple(shared))


def _sweep(facts: Facts, flows: Sequence[Flow], bandwidth: dict[int, float]) -> None:
    """Go from change to change; those that end are judged by what they have moved until then."""
    events = sorted(
        [(flow.move.end, 0, number) for number, flow in enumerate(flows)]
        + [(flow.begin, 1, number) for number, flow in enumerate(flows)]
    )
    active: dict[int, Flow] = {}
    since, stale = 0, False
    for now, begins, number in events:
        if now > since:
            if stale:
                present = list(active.values())
                rates = link_rates([flow.bound for flow in present], [flow.links for flow in present], bandwidth)
                for flow, rate in zip(present, rates, strict=True):
                    flow.rate = rate
                stale = False
            for flow in active.values():
                flow.moved += flow.rate * (now - since)
            since = now
        if begins:
            active[number] = flows[number]
        else:
            _judge(facts, active.pop(number))
        stale = True


def _judge(facts: Facts, flow: Flow) -> None:
    left = (flow.move.bytes - flow.moved) / flow.rate
    error = rounding(flow.move.end)
    if left > SLACK + error:
        _blame(facts, flow, f"{left * flow.rate:.3f} of {flow.move.bytes} B are not through then")
    elif left + 1 <= SLACK - error:
        _blame(facts, flow, f"all bytes are through {-left:.3f} ns before")


def _blame(facts: Facts, flow: Flow, why: str) -> None:
    graph, devices = facts.problem.graph, facts.problem.devices
    name = f"the copy of {graph.tensor_names[flow.move.tensor]!r} to {devices[flow.move.to_device].name}"
    facts.findings.add("copy", f"{name} runs from {facts.at(flow.move.start)} to {facts.at(flow.move.end)}; {why}")
