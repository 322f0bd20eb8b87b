"""Live bytes of a run on every device, from starts and ends alone; what the referee compares a trace with.

Two sorted passes instead of a table by instant: for a million tensors that is three times as fast.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from dataclasses import dataclass, field

from simsched.analysis.findings import Facts
from simsched.analysis.lifetimes import Lifetimes
from simsched.graph.model import OpId, TensorKind


@dataclass(slots=True)
class Account:
    """Live bytes of one device.

    Attributes
    ----------
    base : int
        Bytes that are live from time 0 on.
    taken, freed : list of int
        Bytes that are taken when each operator starts, and freed when it ends.
    moved : dict of int to int
        By instant, the bytes that tensors and copies of them take, where ``taken`` has only workspaces.
    brief : dict of int to int
        By instant, the bytes that live for no time at all.
    times, live, least : list of int
        The curve: at ``times[i]``, in order, ``live[i]`` bytes after the instant and ``least[i]`` after its frees.
    """

    base: int
    taken: list[int]
    freed: list[int]
    moved: dict[int, int] = field(default_factory=dict)
    brief: dict[int, int] = field(default_factory=dict)
    times: list[int] = field(default_factory=list)
    live: list[int] = field(default_factory=list)
    least: list[int] = field(default_factory=list)

    def at(self, time: int) -> int:
        """Live bytes from ``time`` on."""
        position = bisect_right(self.times, time) - 1
        return self.live[position] if position >= 0 else self.base

    def before(self, time: int) -> int:
        """Live bytes just before ``time``."""
        position = bisect_left(self.times, time) - 1
        return self.live[position] if position >= 0 else self.base


def live_bytes(facts: Facts) -> list[Account]:
    """Account for every tensor and workspace on every device."""
    count = len(facts.start)
    accounts = [Account(0, [0] * count, [0] * count) for _ in facts.problem.devices]
    if len(accounts) == 1 and not facts.problem.graph.shares:
        _add_tensors(facts, accounts[0])
    else:
        _add_spread(facts, accounts)
    _add_workspaces(facts, accounts)
    for account in accounts:
        _draw(facts, account)
    return accounts


def _add_tensors(facts: Facts, account: Account) -> None:
    """Account for the tensors of a run on a single device: what ``spans`` says, in one loop."""
    graph, start, end = facts.problem.graph, facts.start, facts.end
    kinds, producers, consumers = graph.tensor_kinds, graph.tensor_producer, graph.tensor_consumers
    taken, freed, ended = account.taken, account.freed, end.__getitem__
    output = TensorKind.OUTPUT
    for tensor, size in enumerate(graph.tensor_bytes):
        maker = producers[tensor]
        if not size:
            continue
        if maker < 0:
            account.base += size
            continue
        taken[maker] += size
        if kinds[tensor] is not output:
            readers = consumers[tensor]
            last = max(readers, key=ended) if len(readers) > 1 else readers[0] if readers else maker
            freed[last] += size
            if end[last] == start[maker]:
                account.brief[end[last]] = account.brief.get(end[last], 0) + size


def _add_spread(facts: Facts, accounts: list[Account]) -> None:
    """Account for the tensors of a run on several devices, or that share buffers."""
    graph = facts.problem.graph
    lives = Lifetimes(facts.problem, facts.device, facts.start, facts.end, facts.trace.transfers)
    for tensor, size in enumerate(graph.tensor_bytes):
        if size:
            for device, begin, closer, _ in lives.spans(tensor):
                account = accounts[device]
                if len(accounts) == 1 and graph.tensor_producer[tensor] < 0:
                    account.base += size
                    continue
                account.moved[begin] = account.moved.get(begin, 0) + size
                if closer is not None:
                    _free(facts, account, begin, closer, size)


def _add_workspaces(facts: Facts, accounts: list[Account]) -> None:
    problem = facts.problem
    ops = dict.fromkeys(problem.graph.workspace)
    for costs in problem.costs:
        ops.update(dict.fromkeys(costs))
    for op in ops:
        size = problem.workspace(op, facts.device[op])
        if size:
            account = accounts[facts.device[op]]
            account.taken[op] += size
            _free(facts, account, facts.start[op], op, size)


def _free(facts: Facts, account: Account, begin: int, closer: OpId, size: int) -> None:
    account.freed[closer] += size
    time = facts.end[closer]
    if time == begin:
        account.brief[time] = account.brief.get(time, 0) + size


def _draw(facts: Facts, account: Account) -> None:
    """Merge starts and ends in order of time into the curve."""
    taken, freed, start, end = account.taken, account.freed, facts.start, facts.end
    launched = facts.trace.launch_order  # nearly in order of time already, so that sorting is quick
    starts = [op for op in sorted(launched, key=start.__getitem__) if taken[op]]
    ends = [op for op in sorted(launched, key=end.__getitem__) if freed[op]]
    begins, amounts = [start[op] for op in starts], [taken[op] for op in starts]
    if account.moved:
        rows = sorted([*zip(begins, amounts, strict=True), *account.moved.items()])
        begins, amounts = [time for time, _ in rows], [size for _, size in rows]
    times, live, least = account.times.append, account.live.append, account.least.append
    total = account.base
    takes, frees = iter(begins), iter(ends)
    amount = iter(amounts)
    taker, freer = next(takes, -1), next(frees, -1)
    while taker >= 0:
        now = taker if freer < 0 or taker < end[freer] else end[freer]
        while freer >= 0 and end[freer] == now:
            total -= freed[freer]
            freer = next(frees, -1)
        least(total)
        while taker == now:
            total += next(amount)
            taker = next(takes, -1)
        times(now)
        live(total)
    while freer >= 0:
        now = end[freer]
        while freer >= 0 and end[freer] == now:
            total -= freed[freer]
            freer = next(frees, -1)
        least(total)
        times(now)
        live(total)
