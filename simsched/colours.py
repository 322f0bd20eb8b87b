"""The fill colour of each operator type: one choice for pictures and pages, and nothing that needs a library."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

# Paul Tol's "light" scheme: told apart with all common kinds of colour blindness, and black text is readable on it.
FILLS = ("#77AADD", "#EE8866", "#EEDD88", "#FFAABB", "#99DDFF", "#44BB99", "#BBCC33", "#AAAA00")
OTHER_FILL = "#DDDDDD"

_FAMILIES = {
    0: ("conv", "convtranspose", "convinteger", "qlinearconv", "conv2d"),
    1: ("gemm", "matmul", "linear", "attention", "f", "forward"),
    2: ("maxpool", "averagepool", "globalaveragepool", "pool", "reducemean"),
    3: ("add", "sum", "residual"),
    4: ("concat", "split", "slice", "gather", "transpose", "copy"),
    5: ("batchnormalization", "layernormalization", "lrn", "bn", "norm", "layernorm", "softmax", "b", "backward"),
    6: ("relu", "gelu", "sigmoid", "tanh", "clip", "erf", "leakyrelu", "activation", "w"),
    7: ("mul", "div", "sub", "pow", "sqrt"),
}
_PREFERRED = {name: fill for fill, names in _FAMILIES.items() for name in names}
# Types that do no work share the grey of the rare ones.
_PLAIN = frozenset(("input", "output", "constant", "identity", "reshape", "flatten", "squeeze", "unsqueeze", "shape"))


def type_fills(op_types: Iterable[str]) -> dict[str, int]:
    """Give each operator type its fill, as an index into ``FILLS``; ``len(FILLS)`` is the grey of all others.

    Well-known types have a fill of their own; further ones take what is left, the most frequent first. Past eight
    types the rarest share grey with those that do no work (inputs, reshapes).

    Examples
    --------
    >>> type_fills(["Conv", "Relu", "Conv"])
    {'Conv': 0, 'Relu': 6}
    """
    counts = Counter(op_types)
    ranked = sorted(counts, key=lambda name: (name.lower() not in _PREFERRED, -counts[name], name))
    free = list(range(len(FILLS)))
    chosen: dict[str, int] = {}
    for name in ranked:
        wanted = _PREFERRED.get(name.lower())
        if wanted in free:
            free.remove(wanted)
            chosen[name] = wanted
    for name in ranked:
        if name not in chosen:
            chosen[name] = free.pop(0) if free and name.lower() not in _PLAIN else len(FILLS)
    return {name: chosen[name] for name in ranked}


def type_colours(op_types: Iterable[str]) -> dict[str, str]:
    """Give each operator type its colour, the same in every picture of a graph; see :func:`type_fills`.

    Examples
    --------
    >>> type_colours(["Conv", "Relu", "Conv"])
    {'Conv': '#77AADD', 'Relu': '#BBCC33'}
    """
    return {name: (*FILLS, OTHER_FILL)[fill] for name, fill in type_fills(op_types).items()}
