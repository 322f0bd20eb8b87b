"""Rule of ``Einsum``: contracted pairwise from left to right."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import prod

from simsched.cost.work import CannotCount, Rule, Work, matrix, operand, shape_of, vector
from simsched.graph.model import Operator

Tiles = tuple[int, int, int, int]
Term = tuple[str, ...]


@dataclass
class _Equation:
    """An equation with its ellipses written out, one label a dimension, and the size of each label."""

    terms: list[Term] = field(default_factory=list)
    output: Term = ()
    sizes: dict[str, int] = field(default_factory=dict)

    def size(self, labels: set[str]) -> int:
        return prod(self.sizes[label] for label in labels)


def einsum(op: Operator) -> Work:
    """Count an Einstein sum: 2 x the product of all index sizes a contraction, 1 x where nothing is summed."""
    equation = _read(op)
    if len(equation.terms) == 1:
        size, kept = equation.size(set(equation.terms[0])), equation.size(set(equation.output))
        return vector(op, size if set(equation.terms[0]) != set(equation.output) else 0, max(size, kept))
    flops, steps, summed = 0, list[Tiles](), False
    current = equation.terms[0]
    for number, term in enumerate(equation.terms[1:], 2):
        later = {label for rest in (*equation.terms[number:], equation.output) for label in rest}
        kept_labels = tuple(label for label in dict.fromkeys((*current, *term)) if label in later)
        tiles = _tiles(equation, set(current), set(term), set(kept_labels))
        contracts = not set(current) | set(term) <= set(kept_labels)
        flops += prod(tiles) * (2 if contracts else 1)
        summed |= contracts
        steps.append(tiles)
        current = kept_labels
    if not summed:
        return vector(op, flops, equation.size(set(equation.output)))
    return matrix(op, *max(steps, key=prod), flops=flops)


def _tiles(equation: _Equation, a: set[str], b: set[str], kept: set[str]) -> Tiles:
    """Split the indices of a contraction: batch (in both, kept), m (only left), n (only right), k (summed)."""
    size = equation.size
    return size(a & b & kept), size((a - b) & kept), size((b - a) & kept), size((a | b) - kept)


def _read(op: Operator) -> _Equation:
    text = op.attributes.get("equation")
    if not isinstance(text, str):
        raise CannotCount("attribute 'equation' is missing")
    left, arrow, right = text.replace(" ", "").partition("->")
    equation, widest = _Equation(), 0
    for number, term in enumerate(left.split(",")):
        shape = shape_of(operand(op, number))
        hidden = len(shape) - len(term.replace("...", ""))
        if hidden < 0 or (hidden and "..." not in term):
            raise CannotCount(f"term {term!r} of the equation does not fit a shape of {len(shape)} dimensions")
        widest = max(widest, hidden)
        labels = _labels(term, hidden)
        _bind(equation.sizes, labels, shape)
        equation.terms.append(labels)
    equation.output = _labels(right, widest) if arrow else _implicit(equation.terms, widest)
    stray = [label for label in equation.output if label not in equation.sizes]
    if stray:
        raise CannotCount(f"index {stray[0]!r} of the result is in no term of the equation")
    return equation


def _labels(term: str, hidden: int) -> Term:
    """One label a dimension; an ellipsis becomes ``...2``, ``...1``, counted from its right end."""
    before, dots, after = term.partition("...")
    middle = (f"...{number}" for number in range(hidden, 0, -1)) if dots else ()
    return (*before, *middle, *after)


def _implicit(terms: list[Term], hidden: int) -> Term:
    """Without an arrow the result has the ellipsis, then each index that appears once, in alphabetical order."""
    flat = [label for term in terms for label in term]
    return (
        *_labels("...", hidden),
        *sorted(label for label in set(flat) if flat.count(label) == 1 and len(label) == 1),
    )


def _bind(sizes: dict[str, int], labels: Term, shape: tuple[int, ...]) -> None:
    for label, size in zip(labels, shape, strict=True):
        known = sizes.get(label, 1)
        if known != size and 1 not in (known, size):
            raise CannotCount(f"index {label!r} of the equation is both {known} and {size}")
        sizes[label] = size if known == 1 else known


RULES: dict[str, Rule] = {
    "Einsum": Rule(
        einsum, "matrix", "pairwise from the left: 2 x the product of all index sizes, 1 x where nothing is summed"
    )
}
