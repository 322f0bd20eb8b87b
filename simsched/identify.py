"""What a file is, told from its name and its content, and what is in it."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from simsched import data
from simsched.config.files import DOCUMENT_SUFFIXES, read_bytes
from simsched.errors import ConfigError, Fault, UnknownNameError, suggest

if TYPE_CHECKING:
    from simsched.config import Document
    from simsched.graph.model import Graph

Facts = dict[str, Any]

_STREAM = re.compile(r"\s*(?P<device>[^\s#:/]+)/[^\s#:/]+:(?P<rest>.*)")
_LAUNCHES = re.compile(r"\s*launch\s*:")
_EXPECTED = (
    "expected a graph ('operators' or 'edges'), a hardware profile ('devices'), an experiment ('graphs' and "
    "'schedulers'), a schedule text ('device/stream: op op'), a recorded trace or a manifest"
)


def identify(name: str, dims: Mapping[str, int] | None = None, strict: bool = False) -> Facts:
    """Read a file, or what a name stands for, whatever it is.

    Parameters
    ----------
    name : str
        Path, or the name of a graph, a profile or an experiment.
    dims : mapping of str to int, optional
        Values of symbolic dimensions, for graphs.
    strict : bool
        Refuse operator types of unknown cost, in graphs.

    Returns
    -------
    dict
        ``kind``, ``format``, ``name``; the counts ``operators``, ``edges`` and ``devices``, 0 where there are none;
        and more, depending on the kind.

    Raises
    ------
    InputError
        With all faults of the file, or because it is nothing that simsched knows.
    """
    path = Path(name)
    if not path.is_file():
        if "/" in name or path.is_dir() or re.fullmatch(r"\.[a-z]{2,4}", path.suffix):
            raise _no_file(path)
        return _named(name, dims or {}, strict)
    if name.endswith(DOCUMENT_SUFFIXES):
        from simsched.config import read_document

        return _document(read_document(path), name, dims or {}, strict)
    if name.endswith(data.SUFFIXES["graphs"]):
        return _graph(name, dims or {}, strict)
    return _schedule(path)


def _no_file(path: Path) -> ConfigError:
    if path.is_dir():
        return ConfigError(str(path), [Fault(f"is a folder; name a file in it, for example {path}/manifest.json")])
    if os.path.lexists(path):
        return ConfigError(str(path), [Fault(data.not_a_file(path))])
    beside = sorted(str(other) for other in path.parent.iterdir()) if path.parent.is_dir() else []
    near = suggest(str(path), beside)
    hint = f"; {near}" if near.startswith("did you mean") else ""
    return ConfigError(str(path), [Fault(f"no such file{hint}")])


def _named(name: str, dims: Mapping[str, int], strict: bool) -> Facts:
    """Read what a name stands for; names of several kinds may be equal, and then the graph is meant."""
    from simsched.graph.generators import GENERATORS, is_generator

    if name in data.names("graphs"):
        return _graph(name, dims, strict)
    if name in data.names("experiments"):
        return _experiment(name)
    if is_generator(name) and re.split("[:(]", name)[0].strip() in GENERATORS:
        return _graph(name, dims, strict)
    try:
        return _hardware(name)
    except UnknownNameError:
        known = [*data.names("graphs"), *data.names("hardware_profiles"), *data.names("experiments")]
        raise UnknownNameError("file or name", name, known) from None


def _document(document: Document, name: str, dims: Mapping[str, int], strict: bool) -> Facts:
    keys = document.data if isinstance(document.data, dict) else {}
    if "simsched_trace" in keys:
        return _trace(document)
    if "simsched_manifest" in keys:
        return _manifest(document)
    if "simsched_problem" in keys or "simsched_run" in keys:
        return _recorded(document)
    if "graphs" in keys or "schedulers" in keys:
        return _experiment(name)
    if "operators" in keys or "edges" in keys:
        return _graph(name, dims, strict)
    if "devices" in keys:
        return _hardware(name)
    line, column = document.locate(()) or (None, None)
    raise ConfigError(document.source, [Fault(f"cannot tell what this is; {_EXPECTED}", line=line, column=column)])


def _graph(name: str, dims: Mapping[str, int], strict: bool) -> Facts:
    from simsched.cost.registry import unknown_types
    from simsched.graph.io import load_graph

    graph = load_graph(name, dims=dims or None, strict=strict)
    facts = _facts("graph", _format(name), graph.name, len(graph), graph.edge_count, len(_devices_of(graph)))
    facts |= {"tensors": len(graph.tensor_names), "time_unit": graph.time_unit, "sha256": graph.content_hash}
    if graph.native is not None:
        facts["native"] = dict(graph.native)
    unknown = {op_type: len(names) for op_type, names in unknown_types(graph).items()}
    return facts | {"unknown": unknown, "notes": list(graph.notes)}


def _devices_of(graph: Graph) -> set[str]:
    """Devices that a graph names: where operators are placed, or have durations of their own."""
    named = set(graph.placement.values())
    for durations in graph.device_durations.values():
        named.update(durations)
    return named


def _hardware(name: str) -> Facts:
    from simsched.profiles import check_profile, load_hardware

    profile = load_hardware(name)
    facts = _facts("hardware profile", _format(name), profile.name, 0, 0, len(profile.devices))
    streams = sum(device.streams for device in profile.devices)
    notes = [f"arithmetic: {problem}" for problem in check_profile(profile)]
    return facts | {"streams": streams, "links": len(profile.links), "sha256": profile.content_hash, "notes": notes}


def _experiment(name: str) -> Facts:
    from simsched.experiment.grid import cells_of, check_plots
    from simsched.experiment.schema import load_experiment

    experiment = load_experiment(name)
    cells = cells_of(experiment)
    check_plots(experiment, cells)
    return _facts("experiment", _format(name), experiment.name, 0, 0, 0) | {"runs": len(cells)}


def _trace(document: Document) -> Facts:
    found = document.data
    try:
        streams = [str(stream) for stream in found["streams"]]
        facts = _facts("trace", "json", str(found["graph"]), len(found["operators"]), 0, 0)
    except (KeyError, TypeError) as error:
        raise ConfigError(document.source, [Fault(f"not a whole trace: {error}")]) from None
    facts["devices"] = len({stream.rpartition("/")[0] for stream in streams})
    return facts | {"streams": len(streams), "hardware": found.get("hardware")}


def _manifest(document: Document) -> Facts:
    """Check an output folder: every file that the manifest lists must be there, unchanged."""
    from simsched.output.provenance import read_manifest, sha256

    folder = Path(document.source).parent
    manifest = read_manifest(folder) if Path(document.source).name == "manifest.json" else None
    if manifest is None:
        message = "not a manifest that simsched writes: 'files' must hold the hash of each file of its folder"
        raise ConfigError(document.source, [Fault(message)])
    files: dict[str, str] = manifest["files"]
    faults = []
    for name, digest in files.items():
        path = folder / name
        if not path.is_file():
            faults.append(Fault(f"{name} is listed, and is not there", ("files", name)))
        elif sha256(path.read_bytes()) != digest:
            faults.append(Fault(f"{name} has changed since it was written", ("files", name)))
    if faults:
        raise ConfigError(document.source, faults)
    return _facts("manifest", "json", folder.name, 0, 0, 0) | {"files": len(files)}


def _recorded(document: Document) -> Facts:
    """Part of an output folder; the whole folder is read, so that nothing in it can be amiss."""
    from simsched.output.recorded import read_comparison, read_run

    folder = Path(document.source).parent
    if "simsched_run" in document.data:
        result = read_run(folder)
        problem, runs = result.problem, 1
    else:
        comparison = read_comparison(folder)
        problem, runs = comparison.problem, len(comparison.results)
    kind = "recorded run" if "simsched_run" in document.data else "recorded problem"
    facts = _facts(kind, "json", folder.name, len(problem.graph), problem.graph.edge_count, len(problem.devices))
    return facts | {"runs": runs}


def _schedule(path: Path) -> Facts:
    """Count a schedule text; whether its operators exist is known only together with a graph and hardware."""
    try:
        lines = read_bytes(path).decode("utf-8-sig").splitlines()
    except UnicodeDecodeError:
        raise ConfigError(str(path), [Fault(f"cannot tell what this is; {_EXPECTED}")]) from None
    lines = ["" if _LAUNCHES.match(line) else line for line in lines]
    streams = [match for match in map(_STREAM.match, lines) if match]
    other = [number for number, line in enumerate(lines, 1) if line.split("#")[0].strip() and not _STREAM.match(line)]
    if not streams or len(other) > len(streams):
        line, column = (other[0], 1) if other else (None, None)
        raise ConfigError(str(path), [Fault(f"cannot tell what this is; {_EXPECTED}", line=line, column=column)])
    if other:
        message = "expected 'device/stream: op op op'"
        raise ConfigError(str(path), [Fault(message, line=number, column=1) for number in other[:20]])
    operators = sum(len(match["rest"].split("#")[0].split()) for match in streams)
    devices = {match["device"] for match in streams}
    return _facts("schedule", "text", path.stem, operators, 0, len(devices)) | {"streams": len(streams)}


def _facts(kind: str, form: str, name: str, operators: int, edges: int, devices: int) -> Facts:
    return {"kind": kind, "format": form, "name": name, "operators": operators, "edges": edges, "devices": devices}


def _format(name: str) -> str:
    for suffix in (*data.SUFFIXES["graphs"], ".yml"):
        if name.endswith(suffix):
            return {".yml": "yaml", ".gv": "dot"}.get(suffix, suffix[1:])
    return "name" if "(" not in name and ":" not in name else "short form"
