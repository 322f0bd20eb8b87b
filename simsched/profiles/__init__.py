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
)
from simsched.profiles.table import (
    FigureRow,
    LinkRow,
    ProfileRow,
    figure_rows,
    host_text,
    link_rows,
    markdown_table,
    profile_row,
    profile_rows,
)
from simsched.profiles.template import new_profile_text
from simsched.profiles.variants import (
    DEVICE_MODELS,
    LAUNCH_MODES,
    with_launch,
    with_memory,
    with_model,
    with_streams,
)

__all__ = [
    "DEVICE_MODELS",
    "LAUNCH_MODES",
    "Check",
    "FigureRow",
    "LinkRow",
    "ProfileRow",
    "check_profile",
    "checks",
    "figure_rows",
    "host_text",
    "link_rows",
    "load_hardware",
    "markdown_table",
    "new_profile_text",
    "parse_profile",
    "profile_names",
    "profile_row",
    "profile_rows",
    "read_profile",
    "unsourced_figures",
    "with_launch",
    "with_memory",
    "with_model",
    "with_streams",
]
