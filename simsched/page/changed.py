"""Edits of a graph in its plain form (:func:`simsched.graph.dump.dump_graph`), as somebody makes them in a page."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any, TypeVar

from simsched.errors import ConfigError, Fault, UnknownNameError
from simsched.graph.attributes import TimeScale
from simsched.graph.quantities import read_size
from simsched.whatif.figures import factor_of

Plain = dict[str, Any]
T = TypeVar("T")


def edit_graph(graph: Plain, edits: Mapping[str, Any]) -> dict[str, int | Fraction]:
    """Carry out the edits of a graph, in place.

    Parameters
    ----------
    graph : dict
        In the form that :func:`simsched.graph.dump.dump_graph` writes.
    edits : mapping
        ``tensors``: bytes by tensor; ``durations``: by operator; ``remove_operators``: names; ``remove_edges`` and
        ``add_edges``: pairs of names, the latter also as mappings with ``from``, ``to``, ``bytes`` and ``delay``;
        ``add_operators``: mappings with ``name``, ``duration``, and optionally ``op_type`` and ``after``. They are
        carried out in this order.

    Returns
    -------
    dict
        Of operators whose duration the cost model decides: what it is to be instead, as ns or as a factor of it.

    Raises
    ------
    ConfigError, UnknownNameError
        If an edit cannot be carried out; with its place.
    """
    scale = TimeScale("tick", 1) if graph.get("time_unit") == "tick" else TimeScale("ns", None)
    for name, value in edits.get("tensors", {}).items():
        _set_bytes(graph, name, _read(f"tensor {name!r}", read_size, value))
    left: dict[str, int | Fraction] = {}
    for name, value in edits.get("durations", {}).items():
        _set_duration(_operator(graph, name), value, scale, left)
    for name in edits.get("remove_operators", ()):
        _remove_operator(graph, name)
        left.pop(name, None)
    for source, target in edits.get("remove_edges", ()):
        _remove_edge(graph, source, target)
    for row in edits.get("add_operators", ()):
        _add_operator(graph, row, scale)
    for edge in edits.get("add_edges", ()):
        _add_edge(graph, edge, scale)
    return left


def _read(what: str, parse: Callable[[Any], T], value: Any) -> T:
    """Parse a text that somebody wrote; what is wrong with it is said with its place."""
    try:
        return parse(value)
    except ValueError as error:
        raise ConfigError(what, [Fault(str(error))]) from None


def _operator(graph: Plain, name: str) -> Plain:
    names = [row["name"] for row in graph["operators"]]
    if name not in names:
        raise UnknownNameError("operator", name, names)
    found: Plain = graph["operators"][names.index(name)]
    return found


def _ends(edge: Any) -> tuple[str, str]:
    return (edge[0], edge[1]) if isinstance(edge, list) else (edge["from"], edge["to"])


# --- durations and sizes ----------------------------------------------------------------------------------------


def _set_duration(row: Plain, value: Any, scale: TimeScale, left: dict[str, int | Fraction]) -> None:
    """Give an operator another duration: a time, times by device (``p0=14, p1=16``), or ``x0.5`` times what it is."""
    name, what = row["name"], f"duration of {row['name']!r}"
    stated = row.get("duration")
    factor = _factor(what, value)
    if factor is not None:
        if stated is None:
            left[name] = factor
        elif isinstance(stated, Mapping):
            row["duration"] = {device: round(time * factor) for device, time in stated.items()}
        else:
            row["duration"] = round(stated * factor)
        return
    time = _read(what, scale.duration, value)
    if stated is None and isinstance(time, int):
        left[name] = time
    elif isinstance(stated, Mapping) and isinstance(time, int):
        row["duration"] = dict.fromkeys(stated, time)
    else:
        row["duration"] = time


def _factor(what: str, value: Any) -> Fraction | None:
    text = value.strip() if isinstance(value, str) else ""
    if text[:1] not in ("x", "×") or not (text[1:2].isdigit() or text[1:2] in ("+", "-", ".")):
        return None
    return _read(what, factor_of, text[1:])


def _set_bytes(graph: Plain, name: str, size: int) -> None:
    declared = graph.get("tensors", [])
    for row in declared:
        if row["name"] == name:
            row["bytes"] = size
            return
    on_edges = _tensors_on_edges(graph)
    if name not in on_edges:
        raise UnknownNameError("tensor", name, [*(row["name"] for row in declared), *on_edges])
    on_edges[name]["bytes"] = size


def _tensors_on_edges(graph: Plain) -> dict[str, Plain]:
    """Edges that carry bytes, by the name that the builder gives to what they carry: ``a->b``, ``a->b#2``."""
    taken = {row["name"] for row in graph.get("tensors", [])}
    found: dict[str, Plain] = {}
    for edge in graph.get("edges", []):
        if isinstance(edge, dict) and "bytes" in edge:
            plain = name = f"{edge['from']}->{edge['to']}"
            copy = 2
            while name in taken:
                name, copy = f"{plain}#{copy}", copy + 1
            taken.add(name)
            found[name] = edge
    return found


# --- operators --------------------------------------------------------------------------------------------------


def _remove_operator(graph: Plain, name: str) -> None:
    """Take an operator out. What others read of it is given to them from outside; what nobody reads goes with it."""
    row = _operator(graph, name)
    graph["operators"].remove(row)
    graph["edges"] = [edge for edge in graph.get("edges", []) if name not in _ends(edge)]
    used = {tensor for other in graph["operators"] for tensor in (*other.get("inputs", ()), *other.get("outputs", ()))}
    touched = {*row.get("inputs", ()), *row.get("outputs", ())}
    graph["tensors"] = [
        tensor for tensor in graph.get("tensors", []) if tensor["name"] in used or tensor["name"] not in touched
    ]
    for tensor in graph["tensors"]:
        if tensor["name"] in row.get("outputs", ()):
            tensor.pop("kind", None)  # without a producer it is an input; no longer an output


def _add_operator(graph: Plain, given: Mapping[str, Any], scale: TimeScale) -> None:
    name = given.get("name", "").strip()
    if not name:
        raise ConfigError("new operator", [Fault("it needs a name")])
    if any(row["name"] == name for row in graph["operators"]):
        raise ConfigError("new operator", [Fault(f"there is an operator {name!r} already")])
    duration = _read(f"duration of {name!r}", scale.duration, given.get("duration", ""))
    kind = given.get("op_type", "").strip()
    graph["operators"].append({"name": name, **({"op_type": kind} if kind else {}), "duration": duration})
    for other in given.get("after", ()):
        _add_edge(graph, [other, name], scale)


# --- edges ------------------------------------------------------------------------------------------------------


def _add_edge(graph: Plain, edge: Any, scale: TimeScale) -> None:
    source, target = _ends(edge)
    for name in (source, target):
        _operator(graph, name)
    if source == target:
        raise ConfigError("new edge", [Fault(f"{source!r} cannot wait for itself")])
    what = f"edge {source!r} -> {target!r}"
    size = edge.get("bytes") if isinstance(edge, dict) else None
    delay = edge.get("delay") if isinstance(edge, dict) else None
    made: Any = [source, target]
    if size not in (None, "") or delay not in (None, ""):
        made = {"from": source, "to": target}
        if size not in (None, ""):
            made["bytes"] = _read(what, read_size, size)
        if delay not in (None, ""):
            made["delay"] = _read(what, scale.time, delay)
    graph.setdefault("edges", []).append(made)


def _remove_edge(graph: Plain, source: str, target: str) -> None:
    """Leave out that one operator waits for another.

    An operator whose duration is stated no longer reads the tensors of the other one. Where the cost model decides, it
    reads others of the same shape, which are there from the beginning, so that it costs what it did.
    """
    before, after = _operator(graph, source), _operator(graph, target)
    kept = [edge for edge in graph.get("edges", []) if _ends(edge) != (source, target)]
    made = set(before.get("outputs", ()))
    read = [tensor for tensor in after.get("inputs", ()) if tensor in made]
    if len(kept) == len(graph.get("edges", [])) and not read:
        buffer = _shared_buffer(before, after)
        why = f"both use the buffer {buffer!r}, which orders them" if buffer else "there is no such edge"
        raise ConfigError(f"edge {source!r} -> {target!r}", [Fault(f"cannot be removed: {why}")])
    graph["edges"] = kept
    for tensor in dict.fromkeys(read):
        _detach(graph, after, tensor)


def _detach(graph: Plain, row: Plain, tensor: str) -> None:
    """Let an operator no longer read a tensor of another one."""
    for key in ("alias", "inplace"):
        if key in row:
            row[key] = {made: given for made, given in row[key].items() if given != tensor}
    if "duration" in row:
        row["inputs"] = [each for each in row["inputs"] if each != tensor]
        return
    taken = {each["name"] for each in graph["tensors"]}
    name = twin = f"{tensor} (given to {row['name']})"
    copy = 2
    while twin in taken:
        twin, copy = f"{name}#{copy}", copy + 1
    described = next(each for each in graph["tensors"] if each["name"] == tensor)
    graph["tensors"].append({**{key: value for key, value in described.items() if key != "kind"}, "name": twin})
    row["inputs"] = [twin if each == tensor else each for each in row["inputs"]]


def _shared_buffer(before: Plain, after: Plain) -> str:
    used: Sequence[str] = [*before.get("reads", ()), *before.get("writes", ())]
    return next((name for name in (*after.get("reads", ()), *after.get("writes", ())) if name in used), "")
