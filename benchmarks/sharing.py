"""The solver of one shared resource alone: flows come and go, so many at a time, with few caps or with any."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from functools import partial
from statistics import median

from benchmarks.timing import Row, cpu_seconds
from simsched.sharing.pool import Pool

STREAMS = (8, 32, 128)
EVENTS = 50_000  # one for each flow that comes, one for each that ends
MOST_SECONDS = 1 / 300_000  # an event
SIX_CAPS = (0.05, 0.1, 0.2, 0.4, 0.7, 1.0)

# By number of streams. Near the level, most events move flows between full speed and less.
CAPS: dict[str, Callable[[random.Random, int], float]] = {
    "6 caps": lambda source, _: source.choice(SIX_CAPS),
    "any caps": lambda source, _: source.uniform(0.01, 1),
    "caps near the level": lambda source, streams: min(1, source.uniform(0.2, 3) / streams),
}


def sharing_rows(rounds: int) -> Iterator[Row]:
    """Cost per event for each number of streams, and its growth from the fewest to the most; rounds interleaved."""
    for name, cap in CAPS.items():
        flows = {streams: _flows(cap, streams) for streams in STREAMS}
        measured: dict[int, list[float]] = {streams: [] for streams in STREAMS}
        for _ in range(rounds):
            for streams, costs in measured.items():
                costs.append(cpu_seconds(partial(_churn, streams, flows[streams]))[0] / EVENTS)
        for streams, costs in measured.items():
            yield Row(
                f"fluid solver, {streams} streams, {name}: an event", 1e6 * median(costs), "us", 1e6 * MOST_SECONDS
            )
        few, many = measured[STREAMS[0]], measured[STREAMS[-1]]
        growth = median(more / less for more, less in zip(many, few, strict=True))
        yield Row(f"  cost per event, {STREAMS[-1]} / {STREAMS[0]} streams, {name}", growth, "x", 1.5)


def _flows(cap: Callable[[random.Random, int], float], streams: int, seed: int = 1) -> list[tuple[float, int]]:
    """Caps and lengths in ns of all flows of a run."""
    source = random.Random(seed)
    return [(cap(source, streams), source.randrange(1_000, 100_000)) for _ in range(EVENTS // 2)]


def _churn(streams: int, flows: list[tuple[float, int]]) -> None:
    """Keep so many flows running; each that ends is followed by the next one of the list at once."""
    pool = Pool()
    for key in range(streams):
        pool.add(key, *flows[key], 0)
    following, last = streams, len(flows)
    while len(pool):
        now = pool.next_time()
        assert now is not None
        for _ in pool.due(now):
            if following < last:
                pool.add(following, *flows[following], now)
                following += 1
