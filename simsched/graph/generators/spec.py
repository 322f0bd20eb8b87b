"""Generators by name: ``chain:10``, ``layered_random(n=100, seed=3)``, as the command line and experiments say it."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping

from simsched.errors import ConfigError, Fault, UnknownNameError, suggest
from simsched.graph.generators.cells import inception_like, nas_like
from simsched.graph.generators.random_graphs import layered_random, series_parallel
from simsched.graph.generators.shapes import chain, diamond, fork_join, in_tree, out_tree
from simsched.graph.generators.transformer import transformer_block
from simsched.graph.model import Graph
from simsched.graph.pipeline import pipeline_graph

GENERATORS: Mapping[str, Callable[..., Graph]] = {
    function.__name__: function
    for function in (
        chain,
        fork_join,
        diamond,
        layered_random,
        series_parallel,
        in_tree,
        out_tree,
        transformer_block,
        inception_like,
        nas_like,
        pipeline_graph,
    )
}

_SPEC = re.compile(r"\s*(?P<name>[A-Za-z_]\w*)\s*(?::(?P<short>[^()=/\\]*)|\((?P<arguments>[^()]*)\))?\s*", re.ASCII)

_KINDS = {"int": "a whole number", "float": "a number", "bool": "true or false", "str": "text"}


def generator_names() -> list[str]:
    """Names of all generators."""
    return list(GENERATORS)


def is_generator(text: str) -> bool:
    """Whether a text names a generator, and not a file or a shipped graph.

    Only a name with parameters counts (``diamond:3``, ``diamond()``): a plain ``diamond`` may be a graph of that name.

    Examples
    --------
    >>> is_generator("chain:10"), is_generator("chain()"), is_generator("chain"), is_generator("nets/chain.yaml")
    (True, True, False, False)
    """
    match = _SPEC.fullmatch(text)
    return match is not None and (match["short"] is not None or match["arguments"] is not None)


def generate(spec: str) -> Graph:
    """Make a graph from the name of a generator and its parameters.

    Parameters
    ----------
    spec : str
        ``name``, ``name:value`` (its first parameter), or ``name(parameter=value, ...)``.

    Raises
    ------
    UnknownNameError
        If there is no such generator.
    ConfigError
        If the text is malformed, a parameter is unknown or given twice, or a value cannot be used.

    Examples
    --------
    >>> generate("layered_random(n=100, seed=3)")
    Graph('layered_random_100_seed3': 100 operators, 186 edges, 0 tensors)
    """
    match = _SPEC.fullmatch(spec)
    if match is None:
        raise ConfigError(spec, [Fault("not a generator; write name, name:value or name(parameter=value, ...)")])
    name = match["name"]
    if name not in GENERATORS:
        raise UnknownNameError("generator", name, GENERATORS)
    parameters = inspect.signature(GENERATORS[name]).parameters
    kinds = {key: str(one.annotation) for key, one in parameters.items()}
    given = [part for part in (match["arguments"] or "").split(",") if part.strip()]
    if match["short"] is not None:
        given = [f"{next(iter(kinds))}={match['short']}"]
    values: dict[str, object] = {}
    faults: list[Fault] = []
    for part in given:
        key, equals, text = (piece.strip() for piece in part.partition("="))
        if not equals or not text:
            faults.append(Fault(f"expected parameter=value, got {part.strip()!r}"))
        elif key not in kinds:
            faults.append(Fault(f"generator {name!r} has no parameter {key!r}; {suggest(key, kinds)}"))
        elif key in values:
            faults.append(Fault(f"parameter {key!r} is given twice"))
        else:
            values[key] = _value(key, text, kinds[key], faults)
    if not faults:
        missing = [key for key, one in parameters.items() if one.default is one.empty and key not in values]
        faults += [Fault(f"generator {name!r} needs parameter {key!r}; write for example {key}=4") for key in missing]
    if faults:
        raise ConfigError(spec, faults)
    return GENERATORS[name](**values)


def _value(key: str, text: str, kind: str, faults: list[Fault]) -> object:
    """Convert a parameter's text to what its annotation says: ``int``, ``float | None``, ``bool`` or ``str``."""
    first = kind.partition(" | ")[0]
    if first == "bool" and text in ("true", "false"):
        return text == "true"
    if first == "int" and re.fullmatch(r"[+-]?[0-9]{1,18}", text):
        return int(text)
    if first == "float" and re.fullmatch(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]{1,3})?", text):
        return float(text)
    if first == "str":
        return text
    faults.append(Fault(f"parameter {key!r} is {text!r}; expected {_KINDS[first]}"))
    return None
