"""Noise: what durations turn out to be, when the estimates that a scheduler sees are wrong.

The actual duration of an operator is its estimate times one random factor, the same on every device: what is
misjudged is the operator. Factors are drawn in the order of operator ids from a generator of their own, so they
depend on the seed and the graph alone, never on the scheduler: all schedulers of a comparison meet the same truth.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from simsched.errors import ConfigError, Fault

if TYPE_CHECKING:
    from simsched.problem import Problem

NoiseKind = Literal["lognormal", "uniform"]
_SPEC = re.compile(r"(?:(lognormal|uniform)\s*\(\s*)?([0-9.eE+-]+)(\s*\))?\Z")
_HELP = "write a level such as 0.2, 'lognormal(0.2)' or 'uniform(0.2)'"


@dataclass(frozen=True, slots=True)
class Noise:
    """A distribution of factors with mean 1.

    Attributes
    ----------
    kind : {"lognormal", "uniform"}
        ``lognormal``: ``exp(level * z - level**2 / 2)`` with standard normal ``z``; ``uniform``: evenly spread
        over ``[1 - level, 1 + level]``.
    level : float
        Standard deviation of the logarithm, at most 5; or half the width of the interval, at most 1.
    """

    kind: NoiseKind
    level: float

    def __post_init__(self) -> None:
        most = 5.0 if self.kind == "lognormal" else 1.0
        if not 0.0 <= self.level <= most:
            message = f"the level of {self.kind} noise lies between 0 and {most:g}; got {self.level:g}"
            raise ConfigError("noise", [Fault(message)])

    def __str__(self) -> str:
        return f"{self.kind}({self.level:g})"

    def factors(self, seed: int) -> Iterator[float]:
        """Yield the factors of operators 0, 1, 2, ... without end."""
        import random

        draw = random.Random(seed).random
        while True:
            yield self._lognormal(draw) if self.kind == "lognormal" else 1.0 + self.level * (2.0 * draw() - 1.0)

    def _lognormal(self, draw: Callable[[], float]) -> float:
        # Box and Muller (1958): only ``random()`` is promised to repeat across versions of Python.
        radius = math.sqrt(-2.0 * math.log(1.0 - draw()))
        return math.exp(self.level * radius * math.cos(2.0 * math.pi * draw()) - self.level**2 / 2.0)


def parse_noise(value: str | float | Noise | None) -> Noise | None:
    """Read a noise level: None and ``"none"`` are none, a bare number is lognormal.

    Raises
    ------
    ConfigError
        If it is neither.

    Examples
    --------
    >>> parse_noise("uniform(0.1)"), parse_noise(0.2)
    (Noise(kind='uniform', level=0.1), Noise(kind='lognormal', level=0.2))
    """
    if value is None or isinstance(value, Noise):
        return value
    text = str(value).strip()
    if text in ("none", ""):
        return None
    match = _SPEC.match(text)
    try:
        if match is None or (match[1] is None) != (match[3] is None):
            raise ValueError
        level = float(match[2])
    except ValueError:
        raise ConfigError("noise", [Fault(f"{text!r} is not a noise level; {_HELP}")]) from None
    return Noise("uniform" if match[1] == "uniform" else "lognormal", level)


def actual_durations(problem: Problem, noise: Noise | None, seed: int) -> list[list[int]] | None:
    """Draw the true durations of one run.

    Parameters
    ----------
    problem : Problem
    noise : Noise or None
    seed : int

    Returns
    -------
    list of list of int, or None
        ns per device and operator, rounded to the nearest ns; what is estimated to take time takes at least 1 ns.
        None when there is no noise.
    """
    if noise is None or noise.level == 0.0:
        return None
    stream = noise.factors(seed)
    factors = [next(stream) for _ in range(len(problem.graph))]
    return [_scaled(problem.durations(device), factors) for device in range(len(problem.devices))]


def _scaled(estimates: Sequence[int], factors: Sequence[float]) -> list[int]:
    pairs = zip(estimates, factors, strict=True)
    return [max(1, round(estimate * factor)) if estimate else 0 for estimate, factor in pairs]
