"""``load_hardware``: hardware by name, path or short form."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

from simsched import data, hardware
from simsched.errors import ConfigError, Fault
from simsched.hardware import HardwareProfile

if TYPE_CHECKING:
    from simsched.graph.model import Graph

SHORT_FORMS = {"lanes": hardware.lanes, "procs": hardware.procs}
LARGEST_SHORT_FORM = 100_000


def profile_names() -> list[str]:
    """Return the names of all profiles that can be found, sorted."""
    return data.names("hardware_profiles")


def load_hardware(name: str | os.PathLike[str], graph: Graph | None = None) -> HardwareProfile:
    """Load hardware.

    Parameters
    ----------
    name : str or path
        A profile's name (``"a100_sxm_80gb"``) or file; ``"lanes:4"`` (one device, four identical lanes, no
        overheads); ``"procs:4"`` (four devices of one lane, edges pay only their own delays); ``"native"`` (the
        capacities that the graph's file carries).
    graph : Graph, optional
        Needed for ``native``.

    Raises
    ------
    ConfigError
        If the file is malformed, with every fault of it, or the short form is.
    UnknownNameError
        If there is no such profile; with the nearest name.

    Examples
    --------
    >>> load_hardware("lanes:4").devices[0].streams
    4
    """
    text = os.fspath(name)
    if text == "native":
        return _native(graph)
    kind, colon, count = text.partition(":")
    if kind in SHORT_FORMS and (colon or text not in profile_names()):
        return SHORT_FORMS[kind](_count(text, kind, count))
    if colon and re.fullmatch(r"[a-z_]{2,}:[^/\\]*", text) and not os.path.exists(text):
        message = f"unknown short form {kind!r}; expected 'lanes' or 'procs', as in 'lanes:4'"
        raise ConfigError(text, [Fault(message)])
    path = data.find("hardware_profiles", name)
    return read_profile(path)


def read_profile(path: str | os.PathLike[str]) -> HardwareProfile:
    """Read one profile file.

    Raises
    ------
    ConfigError
        With every fault of the file.
    """
    from simsched.config import read_document
    from simsched.profiles.build import build_profile

    stem = os.path.basename(os.fspath(path)).split(".")[0]
    return build_profile(read_document(path), stem)


def parse_profile(text: str, name: str = "profile", source: str = "profile") -> HardwareProfile:
    """Read a profile from YAML text.

    Raises
    ------
    ConfigError
        With every fault of the text.
    """
    from simsched.config import read_yaml
    from simsched.profiles.build import build_profile

    return build_profile(read_yaml(text, source), name)


def _count(text: str, kind: str, count: str) -> int:
    unit = {"lanes": "lane", "procs": "processor"}[kind]
    if not count:
        raise ConfigError(text, [Fault(f"how many {unit}s? write for example '{kind}:4'")])
    if not re.fullmatch(r"[0-9]{1,9}", count):
        raise ConfigError(text, [Fault(f"{count!r} is not a number of {unit}s; write for example '{kind}:4'")])
    number = int(count)
    if not 1 <= number <= LARGEST_SHORT_FORM:
        message = f"expected from 1 to {LARGEST_SHORT_FORM} {unit}s, got {number}; write for example '{kind}:4'"
        raise ConfigError(text, [Fault(message)])
    return number


def _native(graph: Graph | None) -> HardwareProfile:
    if graph is None:
        message = "these are the capacities that a graph file carries, so it needs a graph; write for example 'lanes:4'"
        raise ConfigError("native", [Fault(message)])
    if graph.native is None:
        message = (
            f"graph {graph.name!r} carries no capacities of its own (files in .sm and .rcp format do); "
            "write for example 'lanes:4', or the name of a profile"
        )
        raise ConfigError("native", [Fault(message)])
    return hardware.native(graph.native, len(graph))
