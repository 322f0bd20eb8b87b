"""Write the tables of ``docs/reference/operators.md`` from the registry, between its markers.

Usage: ``python scripts/operator_reference.py``. A test checks that the page is up to date.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from simsched.cost.registry import DEFAULT, Registry

PAGE = Path(__file__).resolve().parent.parent / "docs" / "reference" / "operators.md"
TITLES = (("matrix", "matrix unit"), ("vector", "vector unit"), ("none", "views"))


def rule_tables(registry: Registry = DEFAULT) -> str:
    """Return one table per unit; operator types with the same formulas share a row."""
    parts = []
    for unit, title in TITLES:
        rows: dict[tuple[str, str], list[str]] = {}
        for name, rule in registry.rules.items():
            if rule.unit == unit:
                rows.setdefault((rule.flops, rule.traffic), []).append(name)
        table = [f"### On the {title}" if unit != "none" else "### Views", ""]
        table += ["| operator types | flops | bytes |", "| --- | --- | --- |"]
        table += [f"| {_listed(names)} | {flops} | {traffic} |" for (flops, traffic), names in rows.items()]
        parts.append("\n".join(table))
    return "\n\n".join(parts)


def alias_table(registry: Registry = DEFAULT) -> str:
    """Return the other names of operator types."""
    others: dict[str, list[str]] = {}
    for alias, name in registry.aliases.items():
        others.setdefault(name, []).append(alias)
    rows = [f"| `{name}` | {_listed(aliases)} |" for name, aliases in others.items()]
    return "\n".join(["| operator type | also called |", "| --- | --- |", *rows])


def _listed(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def updated(page: str) -> str:
    """Return the page with its tables written anew."""
    for marker, text in (("rules", rule_tables()), ("aliases", alias_table())):
        pattern = re.compile(rf"(<!-- begin {marker} -->\n).*?(\n<!-- end {marker} -->)", re.DOTALL)
        page = pattern.sub(lambda found, text=text: f"{found[1]}\n{text}\n{found[2]}", page)  # type: ignore[misc]
    return page


if __name__ == "__main__":
    PAGE.write_text(updated(PAGE.read_text("utf-8")), "utf-8")
