"""How far a mean might lie elsewhere if other graphs had been drawn: the bootstrap, by families.

B. Efron, "Bootstrap methods: another look at the jackknife", Annals of Statistics 7 (1979), doi:10.1214/aos/1176344552.
What holds of several means at once is the studentised maximum: A. Davison, D. Hinkley, "Bootstrap Methods and their
Application" (1997), chapter 4.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

LEVEL = 0.95


class Interval(NamedTuple):
    """A mean and where it may lie."""

    mean: float
    low: float
    high: float


def intervals(
    values: Sequence[Sequence[float]], strata: Sequence[str], *, seed: int = 0, resamples: int = 2000,
    together: bool = False,
) -> list[Interval]:  # fmt: skip
    """Return the mean of each column, with an interval that holds at 95 %.

    Parameters
    ----------
    values : sequence of sequence of float
        By unit (row) and column; NaN where there is none.
    strata : sequence of str
        Of each unit; as many units of each stratum are drawn again as there are, with replacement.
    seed : int
    resamples : int
    together : bool
        Whether all intervals are to hold at once, with 95 %, or each for itself.

    Returns
    -------
    list of Interval
        NaN where a column has no value.
    """
    import numpy as np

    table = np.asarray(values, dtype=float)
    known = ~np.isnan(table)
    weights = _weights(strata, seed, resamples)
    found = [Interval(math.nan, math.nan, math.nan)] * table.shape[1]
    columns = np.flatnonzero(known.any(axis=0))
    filled = np.where(known, table, 0.0)[:, columns]
    means = filled.sum(axis=0) / known[:, columns].sum(axis=0)
    with np.errstate(invalid="ignore"):  # a resample may hold none of the units that have a value
        drawn = (weights @ filled) / (weights @ known[:, columns].astype(float))
    if together:
        reach = _common(drawn, means) * np.nanstd(drawn, axis=0)
        lows, highs = means - reach, means + reach
    else:
        lows, highs = np.nanquantile(drawn, [(1 - LEVEL) / 2, (1 + LEVEL) / 2], axis=0)
    for column, *figures in zip(columns, means, lows, highs, strict=True):
        found[column] = Interval(*(round(float(figure), 9) for figure in figures))
    return found


def _weights(strata: Sequence[str], seed: int, resamples: int):  # type: ignore[no-untyped-def]
    """How often each unit is drawn, by resample and unit."""
    import numpy as np

    rng = np.random.default_rng(seed)
    weights = np.zeros((resamples, len(strata)))
    for stratum in dict.fromkeys(strata):
        members = [number for number, other in enumerate(strata) if other == stratum]
        drawn = rng.integers(len(members), size=(resamples, len(members)))
        for place, unit in enumerate(members):
            weights[:, unit] = (drawn == place).sum(axis=1)
    return weights


def _common(drawn, means) -> float:  # type: ignore[no-untyped-def]
    """Standard errors within which all means lie in 95 % of the resamples."""
    import numpy as np

    errors = np.nanstd(drawn, axis=0)
    moving = errors > 0
    if not moving.any():
        return 0.0
    away = np.abs(drawn[:, moving] - means[moving]) / errors[moving]
    largest = np.nanmax(away[~np.isnan(away).all(axis=1)], axis=1)
    return float(np.quantile(largest, LEVEL))
