"""The tensors of a graph while it is being built: declared ones, undeclared outputs, and those that edges carry."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from simsched.graph.draft import Draft, TensorDraft
from simsched.graph.model import OpId, TensorId, TensorKind

DTYPE_BITS = {
    "fp64": 64, "fp32": 32, "tf32": 32, "fp16": 16, "bf16": 16, "fp8": 8,
    "int64": 64, "int32": 32, "int16": 16, "int8": 8, "int4": 4, "int2": 2,
    "uint64": 64, "uint32": 32, "uint16": 16, "uint8": 8, "uint4": 4, "uint2": 2,
    "bool": 8, "complex64": 64, "complex128": 128, "fp6": 6, "fp4": 4,
}  # fmt: skip


def tensor_size(shape: Iterable[int], dtype: str) -> int:
    """Bytes of a dense tensor, rounded up to whole bytes for sub-byte types.

    Examples
    --------
    >>> tensor_size((1, 64, 56, 56), "fp32")
    802816
    """
    elements = 1
    for dimension in shape:
        elements *= dimension
    return -(-elements * DTYPE_BITS[dtype] // 8)


class TensorTable:
    """Columns by tensor id. Producers and consumers are insertion numbers of operators."""

    def __init__(self) -> None:
        self.index: dict[str, TensorId] = {}
        self.names: list[str] = []
        self.bytes: list[int] = []
        self.shapes: list[tuple[int, ...] | None] = []
        self.dtypes: list[str | None] = []
        self.kinds: list[TensorKind] = []
        self.producer: list[int] = []
        self.consumers: list[list[OpId] | tuple[OpId]] = []  # one consumer only for what an edge carries
        self.on_edges = 0
        self._copies: dict[str, int] = {}

    def add(self, name: str, tensor: TensorDraft, producer: int = -1) -> TensorId:
        """Add a tensor and return its id."""
        number = len(self.names)
        self.index[name] = number
        self.names.append(name)
        self.bytes.append(tensor.bytes)
        self.shapes.append(tensor.shape)
        self.dtypes.append(tensor.dtype)
        self.kinds.append(tensor.kind)
        self.producer.append(producer)
        self.consumers.append([])
        return number

    def add_on_edges(
        self, names: Iterable[str], producers: Sequence[int], consumers: Sequence[int], sizes: Sequence[int]
    ) -> None:
        """Add the tensors that edges with bytes carry; a name that is taken gets a number, ``a->b#2``."""
        first = len(self.names)
        index = self.index
        for tensor, name in enumerate(names, first):
            free = name if name not in index else self._numbered(name)
            index[free] = tensor
            self.names.append(free)
        count = len(self.names) - first
        self.bytes += sizes
        self.shapes += [None] * count
        self.dtypes += [None] * count
        self.kinds += [TensorKind.ACTIVATION] * count
        self.producer += producers
        self.consumers += zip(consumers, strict=True)
        self.on_edges += count

    def consume(self, tensor: TensorId, op: OpId) -> None:
        """Note that an operator reads a tensor; operators come in ascending order."""
        consumers = self.consumers[tensor]
        if isinstance(consumers, list) and (not consumers or consumers[-1] != op):
            consumers.append(op)

    def _numbered(self, name: str) -> str:
        copy = self._copies.get(name, 2)
        while f"{name}#{copy}" in self.index:
            copy += 1
        self._copies[name] = copy + 1
        return f"{name}#{copy}"


def collect_tensors(draft: Draft) -> TensorTable:
    """Enter the declared tensors and what operators write and read; faults are recorded in the draft."""
    table = TensorTable()
    for name, tensor in draft.tensors.items():
        table.add(name, tensor)
    for number, names in draft.outputs.items():
        _enter_outputs(draft, table, number, names)
    for number, names in draft.inputs.items():
        _enter_inputs(draft, table, number, names)
    for number, producer in enumerate(table.producer):
        if producer < 0 and not table.kinds[number].persistent:
            if table.kinds[number] is TensorKind.OUTPUT:
                name = table.names[number]
                draft.fault(f"output {name!r} is not produced by any operator", ("tensors", name))
            table.kinds[number] = TensorKind.INPUT
    return table


def _enter_outputs(draft: Draft, table: TensorTable, number: int, names: Sequence[str]) -> None:
    for position, name in enumerate(names):
        tensor = table.index.get(name)
        if tensor is None:
            tensor = table.add(name, TensorDraft(0, None, None, TensorKind.ACTIVATION))
        elif table.producer[tensor] >= 0:
            other = draft.names[table.producer[tensor]]
            message = f"tensor {name!r} is already produced by {other!r}; a tensor has one producer"
            draft.fault(message, ("operators", number, "outputs", position))
            continue
        elif table.kinds[tensor].persistent:
            message = f"tensor {name!r} is declared as {table.kinds[tensor]}; no operator may produce it"
            draft.fault(message, ("operators", number, "outputs", position))
        table.producer[tensor] = number


def _enter_inputs(draft: Draft, table: TensorTable, number: int, names: Sequence[str]) -> None:
    for position, name in enumerate(names):
        tensor = table.index.get(name)
        if tensor is None:
            message = f"operator {draft.names[number]!r} reads unknown tensor {name!r}; {draft.hint(name, table.names)}"
            draft.fault(message, ("operators", number, "inputs", position))
            continue
        table.consume(tensor, number)
