"""Rules of the referee on copies: each tensor once per destination, on free engines, in the order of the list.

How long copies take is another rule (:mod:`simsched.analysis.check_links`).
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from simsched.analysis.check_links import check_links
from simsched.analysis.check_queue import blurred
from simsched.analysis.findings import Facts
from simsched.analysis.live_bytes import Account, live_bytes
from simsched.graph.model import OpId, TensorId
from simsched.hardware import Hop
from simsched.trace import Transfer

Key = tuple[TensorId, int]
"""A tensor and the device to which it is copied."""


class Routes:
    """The links between devices, looked up once for each pair."""

    def __init__(self, facts: Facts) -> None:
        self._hardware = facts.problem.hardware
        self._known: dict[tuple[int, int], tuple[Hop, ...]] = {}

    def between(self, here: int, there: int) -> tuple[Hop, ...]:
        """Return the links from one device to another; empty where there are none."""
        if (here, there) not in self._known:
            devices = self._hardware.devices
            self._known[here, there] = self._hardware.route(devices[here].name, devices[there].name)
        return self._known[here, there]


def copied(facts: Facts, routes: Routes, op: OpId) -> Iterator[TensorId]:
    """Yield the tensors that an operator reads and that have to be copied to its device."""
    graph, here = facts.problem.graph, facts.device[op]
    for tensor in dict.fromkeys(graph.inputs[op]):
        maker = graph.tensor_producer[tensor]
        crosses = maker >= 0 and graph.tensor_bytes[tensor] > 0 and facts.device[maker] != here
        if crosses and routes.between(facts.device[maker], here):
            yield tensor


def expected_copies(facts: Facts, routes: Routes) -> dict[Key, tuple[OpId, int]]:
    """Return the copies that a run needs: for whom each was asked first, and when."""
    graph, launched = facts.problem.graph, facts.launched
    number = {op: position for position, op in enumerate(facts.trace.launch_order)}
    readers: dict[Key, list[OpId]] = {}
    for op, here in enumerate(facts.device):
        for tensor in copied(facts, routes, op):
            readers.setdefault((tensor, here), []).append(op)
    found = {}
    for (tensor, here), ops in readers.items():
        first = min(ops, key=lambda op: (launched[op], number[op]))
        found[tensor, here] = first, max(facts.end[graph.tensor_producer[tensor]], launched[first])
    return found


def recorded_copies(facts: Facts) -> dict[Key, Transfer]:
    """Return the recorded copies; complains about those that are recorded twice or make no sense.

    No other rule sees the latter.
    """
    found: dict[Key, Transfer] = {}
    graph, devices = facts.problem.graph, range(len(facts.problem.devices))
    sane = []
    for move in facts.trace.transfers:
        if move.tensor < 0:
            sane.append(move)
            continue
        known = move.tensor < len(graph.tensor_names) and graph.tensor_producer[move.tensor] >= 0
        if not known or move.to_device not in devices or move.from_device not in devices:
            text = f"a copy of tensor {move.tensor} from device {move.from_device} to device {move.to_device}"
            facts.findings.add("copy", f"{text} is recorded, which there cannot be")
        elif (move.tensor, move.to_device) in found:
            facts.findings.add("copy", f"{told(facts, move)} is recorded twice")
        else:
            found[move.tensor, move.to_device] = move
            sane.append(move)
    if len(sane) < len(facts.trace.transfers):
        facts.trace = replace(facts.trace, transfers=tuple(sane))
    return found


def told(facts: Facts, move: Transfer) -> str:
    """Name a copy."""
    return (
        f"the copy of {facts.problem.graph.tensor_names[move.tensor]!r} to {facts.problem.devices[move.to_device].name}"
    )


def check_copies(facts: Facts, routes: Routes) -> None:
    """Check what is copied, from when, on what engines, in what order, and how long it takes."""
    due, found = expected_copies(facts, routes), recorded_copies(facts)
    graph, devices = facts.problem.graph, facts.problem.devices
    valid = []
    for key, move in found.items():
        if key not in due:
            facts.findings.add("copy", f"{told(facts, move)} is recorded, which nobody needs")
            continue
        target, asked = due.pop(key)
        maker = graph.tensor_producer[move.tensor]
        right = (maker, target, facts.device[maker], key[1], graph.tensor_bytes[move.tensor], asked)
        said = (move.source, move.target, move.from_device, move.to_device, move.bytes, move.asked)
        if said != right:
            _wrong(facts, move, said, right)
        if move.start < asked:
            text = f"{told(facts, move)} starts at {facts.at(move.start)}, before it is asked for at {facts.at(asked)}"
            facts.findings.add("copy", text)
        else:
            ends = facts.device[maker], key[1], move.start, move.end
            valid.append(Transfer(maker, target, *ends, graph.tensor_bytes[move.tensor], move.tensor, asked))
    for tensor, device in due:
        text = f"the copy of {graph.tensor_names[tensor]!r} to {devices[device].name} is not recorded"
        facts.findings.add("copy", text)
    valid.sort(key=lambda move: (move.asked, move.tensor, move.to_device))
    _check_engines(facts, valid)
    check_links(facts, valid)


NAMES = ("source", "target", "from_device", "to_device", "bytes", "asked")


def _wrong(facts: Facts, move: Transfer, said: Sequence[int], right: Sequence[int]) -> None:
    for name, is_said, is_right in zip(NAMES, said, right, strict=True):
        if is_said != is_right:
            text = f"{told(facts, move)} is recorded with {name} {is_said}; it is {is_right}"
            facts.findings.add("copy", text)


# --- engines and the list ---------------------------------------------------------------------------------------


@dataclass(slots=True)
class Engines:
    """Copy engines of one device: ``used[i]`` from ``times[i]`` on, and the copies that pass the list.

    ``asked`` and ``latest`` are those of the copies looked at so far: when the last of them started.
    """

    number: int | None
    times: list[int]
    used: list[int]
    latest: int = -1

    def full_at(self, time: int) -> bool:
        """Whether none is free from ``time`` on."""
        position = bisect_right(self.times, time) - 1
        return self.number is not None and position >= 0 and self.used[position] >= self.number

    def full_before(self, time: int) -> bool:
        """Whether none was free just before ``time``."""
        position = bisect_left(self.times, time) - 1
        return self.number is not None and position >= 0 and self.used[position] >= self.number


def _engines(facts: Facts, device: int, copies: Iterable[Transfer]) -> Engines:
    change: dict[int, int] = {}
    for move in copies:
        if device in (move.from_device, move.to_device) and move.end > move.start:
            change[move.start] = change.get(move.start, 0) + 1
            change[move.end] = change.get(move.end, 0) - 1
    times = sorted(change)
    used, total = [], 0
    for time in times:
        total += change[time]
        used.append(total)
    return Engines(facts.problem.devices[device].copy_engines, times, used)


def _check_engines(facts: Facts, copies: Sequence[Transfer]) -> None:
    """Check that engines suffice, that nobody overtakes in the list, and that who waits has a reason to."""
    devices = facts.problem.devices
    state = [_engines(facts, device, copies) for device in range(len(devices))]
    for described, engines in zip(devices, state, strict=True):
        if engines.number is not None and max(engines.used, default=0) > engines.number:
            time, used = next(
                row for row in zip(engines.times, engines.used, strict=True) if row[1] > (engines.number or 0)
            )
            busy = [told(facts, move) for move in copies if move.start <= time < move.end]
            text = f"{used} copies use {described.name} at {facts.at(time)}, it has {engines.number} copy engines"
            facts.findings.add("copy", f"{text}: {', '.join(busy[:6])}")
    instants = blurred(facts)
    accounts: list[Account] = []
    for move in copies:
        ends = [state[move.from_device], state[move.to_device]]
        held = max(end.latest for end in ends)
        if held > move.start and move.start not in instants:
            _check_overtaking(facts, move, copies)
        if move.start > move.asked and move.asked not in instants:
            first = held > move.asked or any(end.full_at(move.asked) for end in ends)
            last = held >= move.start or any(end.full_before(move.start) for end in ends)
            if not (first and last):
                accounts = accounts or _accounts(facts)
                _check_idle(facts, move, accounts, (first, last))
        for end in ends:
            end.latest = max(end.latest, move.start)


def _check_overtaking(facts: Facts, move: Transfer, copies: Sequence[Transfer]) -> None:
    """Complain about a copy that starts while one before it in the list, with a device in common, waits."""
    ends = {move.from_device, move.to_device}
    late = facts.dispatch[move.target] == move.start
    for other in copies:
        if other is move:
            return
        if other.start <= move.start or ends.isdisjoint((other.from_device, other.to_device)):
            continue
        # Of two that are asked for at the same instant, one may be only after the policy has been asked.
        if other.asked < move.start or late or facts.dispatch[other.target] < other.asked:
            text = f"{told(facts, move)} starts at {facts.at(move.start)}, while {told(facts, other)}"
            facts.findings.add("copy", f"{text} waits before it in the list since {facts.at(other.asked)}")
            return


def _accounts(facts: Facts) -> list[Account]:
    return live_bytes(facts) if facts.memory == "block" else []


def _check_idle(facts: Facts, move: Transfer, accounts: Sequence[Account], reasons: tuple[bool, bool]) -> None:
    """Complain about a copy that waits while engines are free, nobody is before it and its bytes fit."""
    capacity = facts.problem.devices[move.to_device].capacity
    first, last = reasons
    if accounts and capacity is not None:
        account = accounts[move.to_device]
        first = first or account.at(move.asked) + move.bytes > capacity
        last = last or account.before(move.start) + move.bytes > capacity
    if not (first and last):
        since = f"at {facts.at(move.asked)}" if not first else f"just before {facts.at(move.start)}"
        text = f"{told(facts, move)} waits from {facts.at(move.asked)} to {facts.at(move.start)}"
        facts.findings.add("copy", f"{text}, though {since} nothing holds it back")
