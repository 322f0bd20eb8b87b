"""The collector is held off, and comes back as it was."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest

from simsched.collector import collector_off


@pytest.fixture(autouse=True)
def collector_on() -> Iterator[None]:
    gc.enable()
    yield
    gc.enable()
    gc.unfreeze()


def test_it_is_off_inside_and_on_again_afterwards_whatever_happens() -> None:
    with collector_off():
        assert not gc.isenabled()
        with collector_off():
            assert not gc.isenabled()
        assert not gc.isenabled()
    assert gc.isenabled()
    with pytest.raises(ZeroDivisionError), collector_off():
        raise ZeroDivisionError
    assert gc.isenabled()


def test_a_collector_that_was_off_stays_off() -> None:
    gc.disable()
    with collector_off():
        pass
    assert not gc.isenabled()


def test_what_was_made_inside_is_not_scanned_as_young() -> None:
    with collector_off():
        made = [[number] for number in range(5000)]
    young = {id(value) for generation in (0, 1) for value in gc.get_objects(generation)}
    assert not any(id(value) in young for value in made)
    assert gc.get_freeze_count() == 0
    assert any(value is made[0] for value in gc.get_objects(2))


def test_values_that_somebody_froze_stay_frozen() -> None:
    gc.collect()
    gc.freeze()
    before = gc.get_freeze_count()
    with collector_off():
        pass
    assert gc.get_freeze_count() == before > 0
