"""Bottleneck fairness on any number of resources, by following a path.

Each resource ``c`` has a *level*: the largest share of it that a flow may take. A flow's rate is its bound or what the
lowest of its levels allows, whichever is smaller. The levels have to be such that a resource whose level holds back a
flow is full, and that no resource is more than full. Lowering one level lets others rise, so raising or lowering them
one by one may go round in circles.

Instead the capacities start so large that all flows run at their bounds, and shrink to what they are. The levels then
move along a path of straight pieces: within a piece each flow is held back by the same resource, and the levels follow
from linear equations; at its end a flow changes what holds it back. On three or more resources the path may have to
turn, with capacities that grow again for a while. It ends where the capacities are the true ones, by the argument of
Eaves, *Homotopies for computation of fixed points* (Mathematical Programming 3, 1972). Each capacity shrinks at a pace
of its own, so that two changes hardly ever coincide.

The path is followed in the numbers that are given. Where floats lose it, which the result itself tells, it is followed
again in exact fractions of the same inputs.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from operator import mul
from typing import Generic, TypeVar, cast

Number = TypeVar("Number", float, Fraction)

BOUND = -1  # what holds back a flow that runs at its bound
ACCURACY = 1e-11  # to which rates in floats have to fulfil the conditions
ROUNDING = 1e-13  # pivots and slopes up to it are zero: nothing else can be told from it in floats
PACES = 4  # how many choices of paces are tried where changes coincide
STEPS_PER_CHANGE = 50  # a path has about one step for each flow and resource; this many times more, and it is lost


class _LostError(Exception):
    """The path cannot be followed further: changes coincide, or rounding hides them."""


def rates_along_path(
    capacities: Sequence[Number], rows: Sequence[Sequence[Number]], limits: Sequence[Number | None]
) -> list[Number]:
    """Bottleneck-fair rates; parameters as for ``fair.bottleneck_fair_rates``, one limit for each flow."""
    if _all_fit(capacities, rows, limits):
        return cast("list[Number]", list(limits))
    exact = any(isinstance(number, Fraction) for line in (capacities, limits, *rows) for number in line)
    if not exact:
        rates = _attempt(capacities, rows, limits, 0, ACCURACY)
        if rates is not None:
            return rates
    fractions = (
        [Fraction(number) for number in capacities],
        [[Fraction(number) for number in row] for row in rows],
        [None if number is None else Fraction(number) for number in limits],
    )
    for pace in range(PACES):
        found = _attempt(*fractions, pace, 0)
        if found is not None:
            return cast("list[Number]", found if exact else [float(rate) for rate in found])
    raise ArithmeticError(f"no bottleneck-fair rates found for capacities {capacities!r} and rows {rows!r}")


def _all_fit(capacities: Sequence[Number], rows: Sequence[Sequence[Number]], limits: Sequence[Number | None]) -> bool:
    """Whether all flows have limits and can run at them together: the usual case, and a cheap one."""
    bounds = [limit for limit in limits if limit is not None]
    return len(bounds) == len(limits) and all(
        sum(map(mul, row, bounds)) <= capacity for capacity, row in zip(capacities, rows, strict=True)
    )


def _attempt(
    capacities: Sequence[Number],
    rows: Sequence[Sequence[Number]],
    limits: Sequence[Number | None],
    pace: int,
    accuracy: float,
) -> list[Number] | None:
    """Rates at the end of one path; None where the path was lost or its end is not fair."""
    alone: list[Number] = []
    for flow, limit in enumerate(limits):
        full: list[Number] = [capacity / row[flow] for capacity, row in zip(capacities, rows, strict=True) if row[flow]]
        if limit is not None:
            full.append(limit)
        alone.append(min(full))
    try:
        parts = _Path(capacities, rows, alone, pace).rates()
    except _LostError:
        return None
    rates = [part * most for part, most in zip(parts, alone, strict=True)]
    return rates if _is_fair(rates, capacities, rows, limits, accuracy) else None


def _is_fair(
    rates: Sequence[Number],
    capacities: Sequence[Number],
    rows: Sequence[Sequence[Number]],
    limits: Sequence[Number | None],
    accuracy: float,
) -> bool:
    """Whether no resource is more than full, and each flow is at its limit or has the largest share of a full one."""
    more, less = 1 + accuracy, 1 - accuracy
    pending = [limit is None or rate < limit * less for rate, limit in zip(rates, limits, strict=True)]
    if any(limit is not None and rate > limit * more for rate, limit in zip(rates, limits, strict=True)):
        return False
    for capacity, row in zip(capacities, rows, strict=True):
        shares = [weight * rate for weight, rate in zip(row, rates, strict=True)]
        load = sum(shares)
        if load > capacity * more:
            return False
        if load >= capacity * less:
            largest = max(shares)
            pending = [wait and not share >= largest * less for wait, share in zip(pending, shares, strict=True)]
    return not any(pending)


class _Path(Generic[Number]):
    """Levels and what holds back each flow, while the capacities shrink from large to true.

    Everything is measured in shares of the true capacities, and rates in what each flow has alone. The capacity of
    resource ``c`` is ``1 + t * paces[c]``. A level counts on beyond ``ceilings[c]``, which is above all shares that
    any flow could take, by what is left of the resource: so each resource has one equation and one unknown wherever
    the path is.
    """

    def __init__(
        self, capacities: Sequence[Number], rows: Sequence[Sequence[Number]], alone: Sequence[Number], pace: int
    ) -> None:
        used = [c for c, row in enumerate(rows) if any(row)]
        self.size = len(used)
        self.weights: list[dict[int, Number]] = [
            {i: rows[c][flow] * most / capacities[c] for i, c in enumerate(used) if rows[c][flow]}
            for flow, most in enumerate(alone)
        ]
        self.one: Number = alone[0] / alone[0]
        self.zero: Number = self.one * 0
        self.rounding: float = ROUNDING if isinstance(self.one, float) else 0
        # Multiples of the golden section, in thousandths: far from simple ratios and from each other.
        self.paces: list[Number] = [
            self.one * (1000 + (618 * (i + 1) + 271 * pace * i) % 1000) / 1000 for i in range(self.size)
        ]
        self.held = [BOUND] * len(alone)
        self.spare = [True] * self.size
        self.ceilings: list[Number] = [
            2 * max(weights[i] for weights in self.weights if i in weights) for i in range(self.size)
        ]
        self.levels: list[Number] = []
        self.excess: Number = self.zero  # t

    def rates(self) -> list[Number]:
        """Follow the path to its end, where the capacities are the true ones; 1 is the rate alone."""
        loads = self._loads_at_bounds()
        if max(loads) <= 1:  # each has what it has alone: there is one, or they share nothing that is full
            return [self.one] * len(self.held)
        self.excess = max((load - 1) / pace for load, pace in zip(loads, self.paces, strict=True))
        self.levels = [
            ceiling + 1 + self.excess * pace - load
            for ceiling, pace, load in zip(self.ceilings, self.paces, loads, strict=True)
        ]
        enter = {self.size: -self.one}  # the first piece is entered with falling t
        for _ in range(STEPS_PER_CHANGE * (self.size + len(self.held))):
            direction = self._direction(enter)
            length, change = self._next_change(direction)
            if direction[-1] < 0 and (length is None or self.excess <= -length * direction[-1]):
                return self._rates_at_end(-self.excess / direction[-1], direction)
            if length is None:
                break
            self._walk(length, direction)
            enter = self._change(*change)
        raise _LostError

    def _loads_at_bounds(self) -> list[Number]:
        """What flows at their bounds take of each resource."""
        loads = [self.zero] * self.size
        for weights, held in zip(self.weights, self.held, strict=True):
            if held == BOUND:
                for i, weight in weights.items():
                    loads[i] += weight
        return loads

    def _walk(self, length: Number, direction: list[Number]) -> None:
        self.levels = [level + length * slope for level, slope in zip(self.levels, direction, strict=False)]
        self.excess += length * direction[-1]

    def _equations(self, last: list[Number]) -> list[list[Number]]:
        """One row for each resource, one column for each level, and a last column."""
        matrix = [[self.zero] * self.size + [entry] for entry in last]
        for weights, held in zip(self.weights, self.held, strict=True):
            if held != BOUND:
                for i, weight in weights.items():
                    matrix[i][held] += weight / weights[held]
        for i, spare in enumerate(self.spare):
            if spare:
                matrix[i][i] += self.one
        return matrix

    def _direction(self, enter: dict[int, Number]) -> list[Number]:
        """Slopes of the levels and of t along the present piece, away from where it was entered."""
        slopes = _null_vector(self._equations([-pace for pace in self.paces]), self.rounding)
        inward = sum((slopes[i] * factor for i, factor in enter.items()), self.zero)
        if abs(inward) <= self.rounding:
            raise _LostError
        return slopes if inward > 0 else [-slope for slope in slopes]

    def _next_change(self, direction: list[Number]) -> tuple[Number | None, tuple[int, int]]:
        """How far the piece goes, None for ever, and what changes at its end.

        A change is ``(flow, what holds it back then)``, or ``(-1 - resource, 0)`` where a resource becomes full or
        stops being full. Of changes that coincide the first is taken; the others follow at no distance.
        """
        first: Number | None = None
        found = (BOUND, 0)
        for gap, slope, change in self._gaps(direction):
            if slope < -self.rounding:
                length = gap / -slope if gap > 0 else self.zero
                if first is None or length < first:
                    first, found = length, change
        return first, found

    def _gaps(self, direction: list[Number]) -> list[tuple[Number, Number, tuple[int, int]]]:
        """For each possible change, how far it is, how fast that distance grows, and the change."""
        gaps: list[tuple[Number, Number, tuple[int, int]]] = []
        for i, (level, ceiling, slope) in enumerate(zip(self.levels, self.ceilings, direction, strict=False)):
            if self.spare[i]:
                gaps.append((level - ceiling, slope, (-1 - i, 0)))
            else:
                gaps.append((ceiling - level, -slope, (-1 - i, 0)))
        for flow, (weights, held) in enumerate(zip(self.weights, self.held, strict=True)):
            now, change = self.one, self.zero
            if held != BOUND:
                weight = weights[held]
                now, change = self.levels[held] / weight, direction[held] / weight
                gaps.append((1 - now, -change, (flow, BOUND)))
            for i, weight in weights.items():
                if i != held and not self.spare[i]:
                    gaps.append((self.levels[i] / weight - now, direction[i] / weight - change, (flow, i)))
        return gaps

    def _change(self, who: int, held: int) -> dict[int, Number]:
        """Enter the next piece; returns a normal of the border, towards the new piece."""
        if who < 0:
            resource = -1 - who
            self.spare[resource] = not self.spare[resource]
            return {resource: self.one if self.spare[resource] else -self.one}
        weights, before = self.weights[who], self.held[who]
        self.held[who] = held
        enter = {} if before == BOUND else {before: self.one / weights[before]}
        if held != BOUND:
            enter[held] = -self.one / weights[held]
        return enter

    def _rates_at_end(self, length: Number, direction: list[Number]) -> list[Number]:
        self._walk(length, direction)
        # The levels of the last piece from its own equations, free of the rounding that has gathered on the way.
        constants = [
            load - 1 - (ceiling if spare else 0)
            for load, ceiling, spare in zip(self._loads_at_bounds(), self.ceilings, self.spare, strict=True)
        ]
        solution = _null_vector(self._equations(constants), self.rounding)
        if abs(solution[-1]) > self.rounding:
            self.levels = [entry / solution[-1] for entry in solution[:-1]]
        return [
            self.one if held == BOUND else self.levels[held] / weights[held]
            for held, weights in zip(self.held, self.weights, strict=True)
        ]


def _null_vector(matrix: list[list[Number]], rounding: float) -> list[Number]:
    """Solve ``matrix @ x = 0`` with one unknown more than equations; the largest entry is 1 or so.

    Gauss-Jordan elimination with the largest pivot first. Changes the matrix.
    """
    size = len(matrix)
    pivots: list[int] = []
    open_columns = list(range(size + 1))
    for step in range(size):
        _, row, column = max((abs(matrix[r][c]), -r, -c) for r in range(step, size) for c in open_columns)
        row, column = -row, -column
        pivot = matrix[row][column]
        if abs(pivot) <= rounding:
            raise _LostError
        matrix[step], matrix[row] = matrix[row], matrix[step]
        matrix[step] = [entry / pivot for entry in matrix[step]]
        for other in range(size):
            factor = matrix[other][column]
            if other != step and factor:
                matrix[other] = [a - factor * b for a, b in zip(matrix[other], matrix[step], strict=True)]
        pivots.append(column)
        open_columns.remove(column)
    (free,) = open_columns
    vector = [matrix[0][0] * 0] * (size + 1)
    vector[free] = vector[free] + 1
    for row, column in enumerate(pivots):
        vector[column] = -matrix[row][free]
    return vector
