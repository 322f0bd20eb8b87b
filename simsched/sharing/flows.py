"""Activities that share several resources, event by event."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import ceil, inf
from typing import Protocol

from simsched.sharing.fair import max_min_rates

# A completion this close (ns) after a whole nanosecond belongs to it.
TOLERANCE = 1e-6
# Rates that differ by less, relatively, differ by rounding alone: a flow that close to its bound runs at its bound,
# and one that close to its former rate keeps it.
SAME = 1e-12


class Solver(Protocol):
    """A rule of sharing: the rates of all flows from ``rows[resource][flow]``, as in ``simsched.sharing.fair``."""

    def __call__(
        self,
        capacities: Sequence[float],
        rows: Sequence[Sequence[float]],
        *,
        bounds: Sequence[float | None] | None = None,
    ) -> list[float]:
        """Return one rate for each flow."""
        ...


class _Flow:
    """One activity: what it uses, and how far it was when its rate last changed."""

    __slots__ = ("bound", "end", "left", "rate", "since", "use")

    def __init__(self, use: Mapping[int, float], work: float, bound: float, now: int) -> None:
        self.use = {resource: amount for resource, amount in sorted(use.items()) if amount > 0}
        self.bound = bound
        self.left = work  # at the instant since
        self.since = now
        self.rate = 0.0
        self.end = inf

    def change_rate(self, rate: float, now: int) -> None:
        if rate >= self.bound * (1 - SAME):
            rate = self.bound
        if abs(rate - self.rate) > SAME * rate:
            self.left -= self.rate * (now - self.since)
            self.since = now
            self.rate = rate
            self.end = now + ceil(self.left / rate - TOLERANCE)


class Flows:
    """Activities that use several resources at once, at rates that are fair by a given rule.

    A flow makes progress at its rate, at most its bound, and consumes ``use[resource]`` of each resource per unit of
    progress. Rates change only at whole nanoseconds, when flows are added or taken out, and only in the part of the
    system that is connected to them through resources in use. A flow that always runs at its bound ends exactly
    ``work / bound`` after it was added, rounded up to whole ns.

    Parameters
    ----------
    capacities : sequence of float
        Capacity of each resource, above 0, in what is consumed per ns.
    solver : Solver, optional
        The rule: ``max_min_rates``, or ``bottleneck_fair_rates``.

    Examples
    --------
    Two copies of 100 bytes share a link of 0.5 bytes/ns; the second also crosses a slower link.

    >>> flows = Flows([0.5, 0.1])
    >>> flows.add(0, {0: 1.0}, work=100, bound=inf, now=0)
    >>> flows.add(1, {0: 1.0, 1: 1.0}, work=100, bound=inf, now=0)
    >>> flows.next_time(), flows.rate(0), flows.rate(1)
    (250, 0.4, 0.1)
    """

    __slots__ = ("_capacities", "_flows", "_now", "_solver", "_touched", "_users")

    def __init__(self, capacities: Sequence[float], solver: Solver = max_min_rates) -> None:
        for resource, capacity in enumerate(capacities):
            if not 0 < capacity < inf:
                raise ValueError(f"capacity of resource {resource} is {capacity!r}; expected a finite number above 0")
        self._capacities = list(capacities)
        self._solver = solver
        self._flows: dict[int, _Flow] = {}
        self._users: list[dict[int, None]] = [{} for _ in capacities]  # keys of the flows on each resource
        self._touched: dict[int, None] = {}  # resources on which flows have come or gone since rates were last found
        self._now = 0

    def __len__(self) -> int:
        return len(self._flows)

    def add(self, key: int, use: Mapping[int, float], work: float, bound: float, now: int) -> None:
        """Let a flow in.

        Parameters
        ----------
        key : int
            Names the flow; no flow that is in has it.
        use : mapping of int to float
            Consumption of each resource per unit of progress; what is not above 0 is left out.
        work : float
            Progress to make: bytes, or ns at full speed.
        bound : float
            The most progress per ns, above 0; ``math.inf`` for no bound.
        now : int
            The present instant in ns. Flows that are due now are taken out first, by ``due``.

        Raises
        ------
        ValueError
            The flow uses nothing and has no bound.
        """
        self._move_to(now)
        flow = _Flow(use, work, bound, now)
        self._flows[key] = flow
        for resource in flow.use:
            self._users[resource][key] = None
            self._touched[resource] = None
        if not flow.use:
            if bound == inf:
                raise ValueError(f"flow {key} uses no resource and has no bound; it would take no time")
            flow.change_rate(bound, now)

    def next_time(self) -> int | None:
        """Return the first whole ns at which a flow will be done if none is added before; None where none runs."""
        self._settle()
        if not self._flows:
            return None
        return int(min(flow.end for flow in self._flows.values()))

    def due(self, now: int) -> list[int]:
        """Take out the flows that are done at ``now`` (ns) and return their keys, ascending."""
        self._settle()
        done = sorted(key for key, flow in self._flows.items() if flow.end <= now)
        if done:
            self._move_to(now)
        for key in done:
            for resource in self._flows.pop(key).use:
                del self._users[resource][key]
                self._touched[resource] = None
        return done

    def rate(self, key: int) -> float:
        """Present progress per ns of a flow."""
        self._settle()
        return self._flows[key].rate

    def _move_to(self, now: int) -> None:
        if now != self._now:
            self._settle()
            self._now = now

    def _settle(self) -> None:
        """Find the rates of all flows that are connected to what has changed."""
        if not self._touched:
            return
        for resources, keys in self._components():
            flows = [self._flows[key] for key in keys]
            rates = self._solver(
                [self._capacities[resource] for resource in resources],
                [[flow.use.get(resource, 0.0) for flow in flows] for resource in resources],
                bounds=[None if flow.bound == inf else flow.bound for flow in flows],
            )
            for flow, rate in zip(flows, rates, strict=True):
                flow.change_rate(rate, self._now)
        self._touched.clear()

    def _components(self) -> Iterator[tuple[list[int], list[int]]]:
        """Resources and flows of each connected part with a touched resource, both ascending."""
        reached: dict[int, None] = {}
        for start in sorted(self._touched):
            if start in reached:
                continue
            reached[start] = None
            resources = [start]
            keys: dict[int, None] = {}
            for resource in resources:  # grows while it is walked
                for key in self._users[resource]:
                    if key not in keys:
                        keys[key] = None
                        new = [other for other in self._flows[key].use if other not in reached]
                        reached.update(dict.fromkeys(new))
                        resources.extend(new)
            if keys:
                yield sorted(resources), sorted(keys)
