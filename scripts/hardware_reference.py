"""Writes the tables of ``docs/reference/hardware-profiles.md`` from the shipped profiles.

Usage: ``python scripts/hardware_reference.py``. A test compares the page with what this would write.
"""

from __future__ import annotations

import re
from pathlib import Path

from simsched.profiles import load_hardware, markdown_table, profile_row

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "reference" / "hardware-profiles.md"
COLUMNS = (
    "profile", "device", "sms", "fp32", "half", "int8", "memory", "usable", "bandwidth", "launch", "sources",
)  # fmt: skip
REGION = re.compile(r"(?P<begin><!-- begin (?P<name>\w+) -->\n).*?(?P<end><!-- end (?P=name) -->)", re.DOTALL)


def tables() -> dict[str, str]:
    """Generated parts of the page, by name of their region."""
    profiles = [load_hardware(path) for path in sorted((ROOT / "hardware_profiles").glob("*.yaml"))]
    rows = [row for profile in profiles for row in profile_row(profile)]
    names = "".join(f"| `{profile.name}` | {profile.description} |\n" for profile in profiles)
    return {"names": f"| name | hardware |\n| --- | --- |\n{names}", "figures": markdown_table(rows, COLUMNS)}


def updated(text: str) -> str:
    """The page with its generated parts made anew."""
    parts = tables()
    return REGION.sub(lambda match: f"{match['begin']}\n{parts[match['name']]}\n{match['end']}", text)


if __name__ == "__main__":
    PAGE.write_text(updated(PAGE.read_text("utf-8")), "utf-8")
