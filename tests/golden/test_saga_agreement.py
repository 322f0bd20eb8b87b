"""Makespans of the package anrg-saga, where it is installed: equal on every instance once both follow one rule."""

from __future__ import annotations

import logging

import pytest

from benchmarks import peer_saga


def test_every_scheduler_agrees_by_one_rule() -> None:
    if not peer_saga.available():
        pytest.skip("anrg-saga is not installed here; see benchmarks/peer_saga.py")
    logging.disable(logging.WARNING)
    try:
        rows = list(peer_saga.agreements(20))
    finally:
        logging.disable(logging.NOTSET)
    assert [row.name for row in rows] == list(peer_saga.ROWS)
    assert {row.name: row.equal_by_one_rule for row in rows} == dict.fromkeys(peer_saga.ROWS, 20)
