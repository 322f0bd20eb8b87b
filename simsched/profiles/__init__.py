"""Hardware profiles: files to values, their checks, and what is shown of them.

>>> load_hardware("procs:2").devices[1].name
'p1'
"""

from __future__ import annotations

from simsched.profiles.check import Check, check_profile, checks, unsourced_figures
from simsched.profiles.load import (
    load_hardware,
    parse_profile,
    profile_names,
    read_profile,
    with_memory,
    with_streams,
)
from simsched.profiles.table import (
    FigureRow,
    ProfileRow,
    figure_rows,
    markdown_table,
    profile_row,
    profile_rows,
)
from simsched.profiles.template import new_profile_text

__all__ = [
    "Check",
    "FigureRow",
    "ProfileRow",
    "check_profile",
    "checks",
    "figure_rows",
    "load_hardware",
    "markdown_table",
    "new_profile_text",
    "parse_profile",
    "profile_names",
    "profile_row",
    "profile_rows",
    "read_profile",
    "unsourced_figures",
    "with_memory",
    "with_streams",
]
