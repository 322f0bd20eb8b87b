"""A small pen for networks with tensors: each operator makes one tensor of its own name and of known shape."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from simsched.graph.builder import GraphBuilder, tensor_size
from simsched.graph.generators.assembly import refuse
from simsched.graph.model import Graph, TensorKind

Shape = tuple[int, ...]

FLOATS = ("fp64", "fp32", "tf32", "bf16", "fp16", "fp8", "fp4")

LARGEST_TENSOR = 10**15
"""Bytes; sums of them stay exact in every column."""


class Network:
    """Writes a network down, operator by operator.

    Parameters
    ----------
    generator : str
        For messages.
    name : str
    dtype : str
        Of every tensor.
    """

    def __init__(self, generator: str, name: str, dtype: str) -> None:
        if dtype not in FLOATS:
            raise refuse(generator, "dtype", f"expected one of: {', '.join(FLOATS)}; got {dtype!r}")
        self.builder = GraphBuilder(name)
        self.generator = generator
        self.dtype = dtype
        self.shapes: dict[str, Shape] = {}

    def tensor(self, name: str, shape: Shape, kind: TensorKind) -> str:
        """Declare a tensor."""
        self.shapes[name] = shape
        if tensor_size(shape, self.dtype) > LARGEST_TENSOR:
            raise refuse(
                self.generator, name, f"a tensor of shape {list(shape)} is too large; make the network smaller"
            )
        return self.builder.add_tensor(name, shape=shape, dtype=self.dtype, kind=kind)

    def input(self, name: str, shape: Shape) -> str:
        """Declare a graph input."""
        return self.tensor(name, shape, TensorKind.INPUT)

    def parameter(self, name: str, shape: Shape) -> str:
        """Declare a weight; declared again, it is the same one."""
        return name if name in self.shapes else self.tensor(name, shape, TensorKind.PARAMETER)

    def op(
        self,
        op_type: str,
        name: str,
        inputs: Sequence[str],
        shape: Shape,
        *,
        output: bool = False,
        more_outputs: Sequence[str] = (),
        **attributes: Any,
    ) -> str:
        """Add an operator and the tensor that it makes; returns the name of both.

        Parameters
        ----------
        output : bool
            Whether the tensor is an output of the graph.
        more_outputs : sequence of str
            Further tensors that it makes, already declared.
        """
        kind = TensorKind.OUTPUT if output else TensorKind.ACTIVATION
        self.tensor(name, shape, kind)
        self.builder.add_op(name, op_type, inputs=inputs, outputs=[name, *more_outputs], attributes=attributes)
        return name

    def build(self) -> Graph:
        """Freeze the graph."""
        return self.builder.build()
