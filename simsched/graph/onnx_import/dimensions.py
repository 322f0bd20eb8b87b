"""Symbolic dimensions: ``--dim batch=8``, ``--dim "x[0]=8"``, and the trips of loops."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

import onnx

from simsched.errors import ConfigError, Fault, suggest
from simsched.graph.onnx_import.values import Shape, make_type, partial_shape, tensor_type

_AXIS = re.compile(r"(?P<name>.*)\[(?P<axis>[0-9]{1,9})\]\Z", re.DOTALL)


class Dimensions:
    """What the user says about dimensions that the model leaves open.

    A key is the name of a symbolic dimension (``batch``), one axis of one tensor (``x[0]``), or the name of a
    ``Loop`` whose trips the model does not state.

    Parameters
    ----------
    source : str
        The model, for messages.
    given : mapping of str to int, optional
    """

    def __init__(self, source: str, given: Mapping[str, int] | None = None) -> None:
        self.source = source
        self.given = dict(given or {})
        self._axes: dict[str, dict[int, int]] = {}
        faults = [Fault(_bad_value(name, value)) for name, value in self.given.items() if not _whole(value)]
        if faults:
            raise ConfigError(source, faults)

    def check_names(self, symbols: Iterable[str], tensors: Iterable[str], loops: Iterable[str]) -> None:
        """Refuse keys that name nothing in the model.

        Raises
        ------
        ConfigError
            With the nearest valid name for each.
        """
        names, known = [*dict.fromkeys([*symbols, *loops])], set(tensors)
        faults = []
        for key, value in self.given.items():
            if key in names:
                continue
            axis = _AXIS.match(key)
            if axis is None:
                text = f"the model has no symbolic dimension or loop {key!r}; {suggest(key, names)}"
                faults.append(Fault(f"--dim {key}: {text}"))
            elif axis["name"] in known:
                self._axes.setdefault(axis["name"], {})[int(axis["axis"])] = value
            else:
                text = f"the model has no tensor {axis['name']!r}; {suggest(axis['name'], sorted(known))}"
                faults.append(Fault(f"--dim {key}: {text}"))
        if faults:
            raise ConfigError(self.source, faults)

    def trips(self, loop: str) -> int | None:
        """Return the stated trips of a loop."""
        return self.given.get(loop)

    def resolved(self, name: str, proto: onnx.TypeProto) -> onnx.TypeProto:
        """Return a declared type with every stated dimension put in; the others stay open.

        Raises
        ------
        ConfigError
            If an axis is stated that the tensor does not have, or that the model fixes at another value.
        """
        tensor = tensor_type(proto)
        if tensor is None:
            return proto
        shape = partial_shape(proto)
        if shape is not None:
            named = [self.given.get(dim.dim_param) if dim.dim_param else None for dim in tensor.shape.dim]
            shape = tuple(size if size is not None else value for size, value in zip(shape, named, strict=True))
        changed = make_type(tensor.elem_type, self._with_axes(name, shape))
        if not proto.HasField("optional_type"):
            return changed
        optional = onnx.TypeProto()
        optional.optional_type.elem_type.CopyFrom(changed)
        return optional

    def _with_axes(self, name: str, shape: Shape | None) -> Shape | None:
        axes = self._axes.get(name)
        if not axes:
            return shape
        if shape is None:
            # Without a rank, x[0], x[1], ... up to the last stated one are the whole shape.
            shape = (None,) * (max(axes) + 1)
        sizes = list(shape)
        for axis, value in axes.items():
            if axis >= len(sizes):
                message = f"--dim {name}[{axis}]: tensor {name!r} has {len(sizes)} dimensions, counted from 0"
                raise ConfigError(self.source, [Fault(message)])
            if sizes[axis] not in (None, value):
                message = f"--dim {name}[{axis}]={value}: the model fixes this dimension at {sizes[axis]}"
                raise ConfigError(self.source, [Fault(message)])
            sizes[axis] = value
        return tuple(sizes)

    def open_dimensions(self, inputs: Iterable[onnx.ValueInfoProto]) -> list[Fault]:
        """Return a fault for each dimension of the inputs that still has no value, each symbol once."""
        symbols: dict[str, list[str]] = {}
        faults = []
        for info in inputs:
            tensor = tensor_type(info.type)
            shape = None if tensor is None else partial_shape(self.resolved(info.name, info.type))
            if tensor is None:
                continue
            if shape is None:
                faults.append(Fault(_no_rank(info.name)))
                continue
            params = [dim.dim_param for dim in tensor.shape.dim] or [""] * len(shape)
            for axis, (size, symbol) in enumerate(zip(shape, params, strict=True)):
                if size is None and symbol:
                    symbols.setdefault(symbol, []).append(f"{info.name}[{axis}]")
                elif size is None:
                    faults.append(Fault(_no_name(info.name, axis)))
        return [Fault(_no_symbol(symbol, places)) for symbol, places in symbols.items()] + faults


def _whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value > 0


def _bad_value(name: str, value: object) -> str:
    return (
        f"--dim {name}: expected a whole number of at least 1, got {value!r}; write for example --dim {quoted(name)}=8"
    )


def _no_symbol(symbol: str, places: list[str]) -> str:
    more = f" and {len(places) - 1} more" if len(places) > 1 else ""
    return f"dimension {symbol!r} ({places[0]}{more}) has no value; write for example --dim {quoted(symbol)}=8"


def _no_name(tensor: str, axis: int) -> str:
    key = f"{tensor}[{axis}]"
    return f"dimension {axis} of input {tensor!r} has neither value nor name; write for example --dim {quoted(key)}=8"


def _no_rank(tensor: str) -> str:
    key = f"{tensor}[0]"
    return f"input {tensor!r} has no shape; write each dimension, for example --dim {quoted(key)}=1 --dim ..."


def quoted(key: str) -> str:
    """Quote a key as a shell would want it."""
    return key if re.fullmatch(r"[\w.:/-]+", key) else f"'{key}'"
