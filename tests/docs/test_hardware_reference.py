from __future__ import annotations

from scripts.hardware_reference import PAGE, updated


def test_the_tables_of_the_page_are_those_of_the_profiles() -> None:
    text = PAGE.read_text("utf-8")
    assert updated(text) == text, "run python scripts/hardware_reference.py"


def test_the_tables_are_there_and_would_be_made_anew() -> None:
    page = updated(PAGE.read_text("utf-8"))
    assert "| a100_sxm_80gb | gpu | 108 | 19.5 TFLOP/s | 312 TFLOP/s | 624 TOP/s | 80 GiB | 79.26 GiB |" in page
    assert updated(page.replace("79.26 GiB", "81 GiB")) == page
