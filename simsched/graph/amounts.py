"""Durations and amounts of one operator, as a caller of the builder gives them."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Integral
from typing import Any

from simsched.graph.draft import Draft

MOST_WORK = 10**24  # of one operator, in operations or bytes; a float holds it, and its product with a time


def odd_duration(draft: Draft, number: int, duration: Any) -> int | None:
    """Return a duration that is not a plain whole number: None, a mapping, another integer type, or a fault.

    Durations by device go into the draft.
    """
    place = ("operators", number, "duration")
    if duration is None:
        return None
    if isinstance(duration, Mapping):
        draft.sparse["device_durations"][number] = whole_amounts(draft, number, "duration", duration)
        return None
    if not _is_whole(duration):
        draft.fault(f"a duration must be a whole number of ns or ticks, got {duration!r}", place)
        return None
    if duration < 0:
        draft.fault(f"a duration cannot be negative: {duration}", place)
    return int(duration)


def whole_amounts(draft: Draft, number: int, key: str, amounts: Mapping[str, Any]) -> dict[str, int]:
    """Return whole numbers by name, as plain integers; others are faults."""
    checked = {}
    for name, amount in amounts.items():
        if _is_whole(amount) and amount >= 0:
            checked[name] = int(amount)
        else:
            draft.fault(f"expected a whole number of at least 0, got {amount!r}", ("operators", number, key, name))
    return checked


def _is_whole(value: Any) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool)
