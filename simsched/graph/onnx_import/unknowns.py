"""Why a tensor has no size, and what to write."""

from __future__ import annotations

import onnx

from simsched.graph.onnx_import.constants import host_slots
from simsched.graph.onnx_import.dimensions import quoted
from simsched.graph.onnx_import.inference import qualified
from simsched.graph.onnx_import.steps import Step
from simsched.graph.onnx_import.values import Value, code_name, partial_shape, tensor_type

STRING = onnx.TensorProto.STRING
_KINDS = {"sequence_type": "a sequence", "map_type": "a map", "optional_type": "an optional sequence"}


def why_unknown(step: Step, value: Value, problem: str) -> str:
    """Say why an output of a node has no size.

    Parameters
    ----------
    step : Step
    value : Value
        The output.
    problem : str
        What onnx's inference said.
    """
    node, slots = step.node, host_slots(step.node)
    hosts = [one for slot, one in enumerate(step.inputs) if slot in slots and one is not None and one.data is None]
    missing = [one for one in hosts if one.elsewhere]
    deciding = f"it depends on the value of {hosts[0].name!r}, which is not known" if hosts else ""
    head = f"tensor {value.name!r} of operator {step.name!r} ({qualified(node)})"
    kind = no_size(value)
    if kind:
        return f"{head} {kind}"
    shape = partial_shape(value.type)
    if missing:
        files = ", ".join(sorted({one.elsewhere for one in missing}))
        names = ", ".join(repr(one.name) for one in missing)
        return f"{head} takes its shape from {names}, whose value is in {files}; put that file beside the model"
    axes = [0] if shape is None else [axis for axis, size in enumerate(shape) if size is None]
    so_far = "" if shape is None else f" [{', '.join('?' if size is None else str(size) for size in shape)}]"
    options = " ".join(f"--dim {quoted(f'{value.name}[{axis}]')}=8" for axis in axes)
    each = " (each dimension)" if shape is None else ""
    reason = f" ({problem or deciding})" if problem or deciding else ""
    return f"{head} has unknown shape{so_far}{reason}; write for example {options}{each}"


def no_size(value: Value) -> str:
    """Say what is wrong with a value that no shape can cure; empty where a shape would do."""
    if value.type is not None and value.type.WhichOneof("value") and tensor_type(value.type) is None:
        kind = _KINDS.get(value.type.WhichOneof("value"), "no tensor")
        return f"is {kind}, so its size is unknown; take it out of the model"
    if value.code == STRING:
        return "holds strings, whose size is unknown; take text processing out of the model"
    if value.code and value.dtype is None:
        return f"has element type {code_name(value.code)}, whose size is unknown"
    return ""
