"""ONNX models as graphs (extra ``onnx``). Weights are never needed."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING

from simsched.errors import MissingExtraError

if TYPE_CHECKING:
    from simsched.graph.model import Graph

__all__ = ["load_onnx"]


def load_onnx(
    path: str | os.PathLike[str], dims: Mapping[str, int] | None = None, strict: bool = False, name: str | None = None
) -> Graph:
    """Load an ONNX model as a graph of operators with tensors of known sizes.

    Every node becomes one operator, except those that depend on constants alone, whose results become parameters.
    Inputs that nothing reads are left out. Constants that say how to compute rather than what (the target of a
    ``Reshape``, the axes of a reduction) become attributes. ``Reshape``, ``Flatten``, ``Squeeze``, ``Unsqueeze`` and
    ``Identity`` make views, which share the buffer of their input. ``If``, ``Loop`` and ``Scan`` become one operator
    each, costed by the rule of :mod:`simsched.graph.onnx_import.control`; a model's own functions are expanded.

    Parameters
    ----------
    path : path
        The model. Weights in other files are not needed.
    dims : mapping of str to int, optional
        Values of symbolic dimensions (``{"batch": 8}``), of single axes of tensors (``{"x[0]": 8}``), and trips of
        loops by the name of the ``Loop`` node.
    strict : bool
        Refuse operator types whose cost is unknown.
    name : str, optional
        The graph's name; the file's by default.

    Returns
    -------
    Graph
        Its ``notes`` say what the import did.

    Raises
    ------
    MissingExtraError
        If the package ``onnx`` is not installed.
    ConfigError
        If the file is no ONNX model, leaves dimensions open, or has shapes that cannot be known; all faults at
        once, each with what to write.
    GraphError
        If the nodes form a cycle.
    """
    try:
        import onnx  # noqa: F401 - only to say early and clearly that it is missing
    except ImportError:
        raise MissingExtraError("reading ONNX models needs the package 'onnx': pip install 'simsched[onnx]'") from None
    from simsched.graph.onnx_import.load import load

    graph = load(path, dims, name)
    if strict:
        # The one place where a graph is held against the rules of cost: to be strict is to ask them.
        from simsched.cost.registry import require_known

        require_known(graph, os.fspath(path))
    return graph
