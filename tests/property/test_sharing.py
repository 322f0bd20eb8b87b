"""Sharing against exact rationals: the rules' own conditions, and whole runs against a plain simulation."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from math import ceil, inf

from hypothesis import given
from hypothesis import strategies as st

from simsched.sharing.fair import bottleneck_fair_rates, max_min_rates
from simsched.sharing.flows import Flows
from simsched.sharing.pool import Pool

TOLERANCE = Fraction(1, 10**6)
System = tuple[list[float], list[list[float]], list[float | None]]
Exact = tuple[list[Fraction], list[list[Fraction]], list[Fraction | None]]

few_weights = st.sampled_from([0.0, 0.1, 0.25, 0.5, 1.0, 1.0, 3.0])
any_weights = st.floats(0.01, 10.0)
links = st.sampled_from([0.0, 1.0])


@st.composite
def systems(
    draw: st.DrawFn,
    weights: Sequence[st.SearchStrategy[float]] = (few_weights, any_weights, few_weights | any_weights, links),
    resources: st.SearchStrategy[int] = st.integers(1, 5),  # noqa: B008 (strategies are values)
) -> System:
    """Capacities, rows and bounds; flows that use nothing are bounded."""
    kind = draw(st.sampled_from(weights))
    size = draw(st.integers(1, 8))
    rows = [[draw(kind) for _ in range(size)] for _ in range(draw(resources))]
    capacities = [draw(st.sampled_from([0.5, 1.0, 1.0, 7.0]) | st.floats(0.1, 10.0)) for _ in rows]
    bound = st.sampled_from([0.3, 1.0, 1.0, 2.0]) | st.floats(0.01, 10.0)
    bounds = [draw(bound if not any(row[flow] for row in rows) else st.none() | bound) for flow in range(size)]
    return capacities, rows, bounds


def exactly(system: System) -> Exact:
    capacities, rows, bounds = system
    return (
        [Fraction(x) for x in capacities],
        [[Fraction(x) for x in row] for row in rows],
        [None if x is None else Fraction(x) for x in bounds],
    )


def judge(exact: Exact, rates: Sequence[Fraction], weight: Callable[[int, int], Fraction]) -> None:
    """Nothing is more than full; who is not at its bound has the largest rate times weight on a full resource."""
    capacities, rows, bounds = exact
    full = []
    for c, row in enumerate(rows):
        load = sum(w * rate for w, rate in zip(row, rates, strict=True))
        assert load <= capacities[c]
        if load == capacities[c]:
            full.append(c)
    for flow, rate in enumerate(rates):
        bound = bounds[flow]
        assert rate > 0
        if bound is not None:
            assert rate <= bound
            if rate == bound:
                continue
        assert any(
            rows[c][flow] and all(rate * weight(c, flow) >= rates[f] * weight(c, f) for f, w in enumerate(rows[c]) if w)
            for c in full
        )


@given(systems(), st.lists(st.sampled_from([1, 1, 2, 5]), min_size=8, max_size=8))
def test_max_min_rates_fulfil_their_conditions_and_floats_agree(system: System, penalties: list[int]) -> None:
    capacities, rows, bounds = exactly(system)
    factors = [Fraction(penalty) for penalty in penalties[: len(bounds)]]
    rates = max_min_rates(capacities, rows, factors, bounds)
    judge((capacities, rows, bounds), rates, lambda _, flow: factors[flow])
    floats = max_min_rates(system[0], system[1], penalties[: len(bounds)], system[2])
    assert all(abs(found - rate) <= rate * 1e-12 for found, rate in zip(floats, rates, strict=True))


@given(systems())
def test_bottleneck_rates_fulfil_their_conditions_and_floats_agree(system: System) -> None:
    exact = exactly(system)
    rates = bottleneck_fair_rates(*exact)
    judge(exact, rates, lambda c, flow: exact[1][c][flow])
    floats = bottleneck_fair_rates(*system)
    assert all(abs(found - rate) <= rate * 1e-12 for found, rate in zip(floats, rates, strict=True))


@given(systems([links], st.integers(1, 5)))
def test_both_rules_agree_where_all_flows_use_links_alike(system: System) -> None:
    capacities, rows, bounds = exactly(system)
    assert max_min_rates(capacities, rows, None, bounds) == bottleneck_fair_rates(capacities, rows, bounds)


@given(systems(resources=st.just(1)))
def test_on_one_resource_a_further_flow_speeds_up_no_other(system: System) -> None:
    capacities, rows, bounds = exactly(system)
    before = ([row[:-1] for row in rows], bounds[:-1])
    for rule in (max_min_rates, bottleneck_fair_rates):
        fewer = rule(capacities, before[0], bounds=before[1])
        more = rule(capacities, rows, bounds=bounds)
        assert all(slower <= faster for slower, faster in zip(more, fewer, strict=False))


@given(systems())
def test_alone_means_full_speed(system: System) -> None:
    capacities, rows, bounds = exactly(system)
    alone = [[row[0]] for row in rows]
    limits = [capacity / row[0] for capacity, row in zip(capacities, alone, strict=True) if row[0]]
    if bounds[0] is not None:
        limits.append(bounds[0])
    for rule in (max_min_rates, bottleneck_fair_rates):
        assert rule(capacities, alone, bounds=bounds[:1]) == [min(limits)]


caps = st.sampled_from([0.1, 0.2, 0.5, 1.0]) | st.sampled_from([1 / 3, 1 / 6, 0.25]) | st.floats(1e-9, 1.0)


def check_speeds(pool: Pool, known: Mapping[int, Fraction]) -> None:
    rates = max_min_rates([Fraction(1)], [[Fraction(1)] * len(known)], bounds=list(known.values()))
    for (key, cap), rate in zip(known.items(), rates, strict=True):
        assert abs(pool.speed(key) - rate / cap) <= rate / cap * 1e-12


@given(st.lists(st.tuples(caps, st.integers(1, 10**6)), min_size=1, max_size=20))
def test_speeds_in_a_pool_are_max_min_fair_at_every_change(flows: list[tuple[float, int]]) -> None:
    pool = Pool()
    known: dict[int, Fraction] = {}
    for key, (cap, length) in enumerate(flows):
        pool.add(key, cap, length, now=0)
        known[key] = Fraction(cap)
        check_speeds(pool, known)
    while known:
        now = pool.next_time()
        assert now is not None
        for key in pool.due(now):
            del known[key]
        if known:
            check_speeds(pool, known)


Arrival = tuple[int, float, int]  # begin, cap or bound, work


def plain_run(
    arrivals: Mapping[int, tuple[int, Fraction]],
    rates_of: Callable[[list[int]], list[Fraction]],
) -> dict[int, int]:
    """End of each flow: all is computed anew at each event, in fractions. An arrival is (begin, work)."""
    left: dict[int, Fraction] = {}
    ends: dict[int, int] = {}
    now = 0
    while len(ends) < len(arrivals):
        keys = sorted(left)
        rates = dict(zip(keys, rates_of(keys), strict=True)) if keys else {}
        times = {key: now + ceil(left[key] / rates[key] - TOLERANCE) for key in keys}
        later = [begin for key, (begin, _) in arrivals.items() if key not in left and key not in ends]
        following = min([*times.values(), *later])
        for key in keys:
            if times[key] == following:
                ends[key] = following
                del left[key]
            else:
                left[key] -= rates[key] * (following - now)
        now = following
        for key, (begin, work) in arrivals.items():
            if begin == now and key not in ends:
                left[key] = work
    return ends


def events(begins: Mapping[int, int], sharing: Pool | Flows, add: Callable[[int, int], None]) -> dict[int, int]:
    """End of each flow in a run of one of the two solvers."""
    ends: dict[int, int] = {}
    coming = sorted(begins, key=lambda key: (begins[key], key))
    while coming or len(sharing):
        first = sharing.next_time()
        times = [begins[coming[0]]] if coming else []
        now = min(times if first is None else [*times, first])
        ends.update(dict.fromkeys(sharing.due(now), now))
        while coming and begins[coming[0]] == now:
            add(coming.pop(0), now)
    return ends


spans = st.sampled_from([10, 1000, 10**5, 10**10])


@st.composite
def arrivals(draw: st.DrawFn, sizes: st.SearchStrategy[float], most: int) -> list[Arrival]:
    span = draw(spans)
    begin = st.just(0) | st.integers(0, span)
    return draw(st.lists(st.tuples(begin, sizes, st.integers(0, span)), min_size=1, max_size=most))


@given(arrivals(caps, 20))
def test_a_pool_ends_every_flow_at_the_exact_nanosecond(flows: list[Arrival]) -> None:
    known = {key: Fraction(cap) for key, (_, cap, _) in enumerate(flows)}

    def rates_of(keys: list[int]) -> list[Fraction]:
        sizes = [known[key] for key in keys]
        return max_min_rates([Fraction(1)], [[Fraction(1)] * len(keys)], bounds=sizes)

    expected = plain_run({key: (begin, length * known[key]) for key, (begin, _, length) in enumerate(flows)}, rates_of)
    pool = Pool()
    found = events(
        {key: begin for key, (begin, _, _) in enumerate(flows)},
        pool,
        lambda key, now: pool.add(key, flows[key][1], flows[key][2], now),
    )
    assert found == expected


@given(
    systems((few_weights, links), st.integers(1, 4)),
    arrivals(st.just(1.0), 8),
    st.sampled_from([max_min_rates, bottleneck_fair_rates]),
)
def test_flows_end_at_the_exact_nanosecond(
    system: System, coming: list[Arrival], rule: Callable[..., list[Fraction]]
) -> None:
    # On more than two resources there may be several bottleneck-fair allocations.
    if rule is bottleneck_fair_rates:
        system = (system[0][:2], system[1][:2], [bound or 1.0 for bound in system[2]])
    capacities, rows, bounds = exactly(system)
    size = min(len(bounds), len(coming))

    def rates_of(keys: list[int]) -> list[Fraction]:
        return rule(capacities, [[row[key] for key in keys] for row in rows], bounds=[bounds[key] for key in keys])

    expected = plain_run({key: (coming[key][0], Fraction(coming[key][2])) for key in range(size)}, rates_of)
    flows = Flows(system[0], rule)  # type: ignore[arg-type]

    def add(key: int, now: int) -> None:
        use = {c: row[key] for c, row in enumerate(system[1])}
        bound = system[2][key]
        flows.add(key, use, coming[key][2], inf if bound is None else bound, now)

    assert events({key: coming[key][0] for key in range(size)}, flows, add) == expected
