"""The registry: from an operator type to the rule that counts its work.

``DEFAULT`` holds the rules of the ``ops_*`` modules and never changes; :meth:`Registry.with_rule` returns a new
registry with one more. An operator type without a rule is never free: its inputs and outputs are moved, and its
work is marked ``known=False`` with the reason, so that it can be listed or refused.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType

from simsched.cost import ops_attention, ops_einsum, ops_matrix, ops_movement, ops_vector
from simsched.cost.bodies import BODIES, body_work
from simsched.cost.work import CannotCount, Counter, Rule, Work, bytes_of, unknown
from simsched.errors import ConfigError, Fault, suggest
from simsched.graph.model import Graph, Operator, OpId


@dataclass(frozen=True, eq=False)
class Registry:
    """Rules by operator type.

    Names are matched without regard to case, ``_`` and ``-``: ``batch_norm`` finds ``BatchNorm``. Types of other
    domains than ONNX's own carry their domain: ``com.microsoft.Attention``.

    Attributes
    ----------
    rules : mapping of str to Rule
    aliases : mapping of str to str
        Other names of operator types that have a rule.

    Examples
    --------
    >>> from simsched.cost.work import elements_of, vector
    >>> mine = DEFAULT.with_rule("Mish2", lambda op: vector(op, 7 * elements_of(op.outputs[0]), 1))
    >>> mine.knows("Mish2"), DEFAULT.knows("Mish2")
    (True, False)
    """

    rules: Mapping[str, Rule]
    aliases: Mapping[str, str]

    @cached_property
    def _by_key(self) -> Mapping[str, Rule]:
        table = {_key(alias): self.rules[target] for alias, target in self.aliases.items()}
        table.update((_key(name), rule) for name, rule in self.rules.items())
        return table

    def with_rule(self, op_type: str, rule: Counter | Rule, *aliases: str) -> Registry:
        """Return a registry with one more rule, which wins over one of the same name.

        Parameters
        ----------
        op_type : str
        rule : callable or Rule
            ``(Operator) -> Work``; it may raise :class:`~simsched.cost.work.CannotCount`.
        aliases : str
            Further names.
        """
        if not isinstance(rule, Rule):
            rule = Rule(rule, "vector", "given by the user")
        others = {alias: name for alias, name in self.aliases.items() if _key(alias) != _key(op_type)}
        kept = {name: old for name, old in self.rules.items() if _key(name) != _key(op_type)}
        # An alias of a replaced rule keeps pointing at what now carries that name.
        moved = {alias: op_type if _key(name) == _key(op_type) else name for alias, name in others.items()}
        return Registry(
            MappingProxyType({**kept, op_type: rule}),
            MappingProxyType({**moved, **dict.fromkeys(aliases, op_type)}),
        )

    def rule(self, op_type: str, *aliases: str) -> Callable[[Counter], Registry]:
        """Return a decorator that turns a counting function into a registry with that rule.

        Examples
        --------
        >>> from simsched.cost.work import elements_of, vector
        >>> @DEFAULT.rule("Snake")
        ... def mine(op):
        ...     return vector(op, 4 * elements_of(op.outputs[0]), elements_of(op.outputs[0]))
        >>> mine.knows("Snake")
        True
        """
        return lambda counter: self.with_rule(op_type, counter, *aliases)

    def find(self, op_type: str) -> Rule | None:
        """Return the rule of an operator type, or None."""
        return self._by_key.get(_key(op_type))

    def knows(self, op_type: str) -> bool:
        """Whether an operator type has a rule."""
        return _key(op_type) in self._by_key

    def work(self, op: Operator) -> Work:
        """Count one operator by its rule, whatever the graph states about it."""
        if BODIES in op.attributes:
            return body_work(op, self.work)
        rule = self.find(op.op_type)
        if rule is None:
            return unknown(op, f"no rule for operator type {op.op_type!r}")
        try:
            return rule.count(op)
        except CannotCount as lack:
            return unknown(op, f"{op.op_type}: {lack}")


def _key(op_type: str) -> str:
    return op_type.replace("_", "").replace("-", "").lower()


_MODULES = (ops_matrix, ops_einsum, ops_attention, ops_vector, ops_movement)

DEFAULT = Registry(
    MappingProxyType({name: rule for module in _MODULES for name, rule in module.RULES.items()}),
    MappingProxyType(
        {
            alias: name
            for module in (ops_matrix, ops_attention, ops_vector, ops_movement)
            for alias, name in module.ALIASES.items()
        }
    ),
)
"""The rules that come with simsched."""


def work_of(graph: Graph, op: OpId, registry: Registry = DEFAULT) -> Work:
    """Count one operator of a graph.

    What the graph states itself (``flops``, ``traffic``) wins over the registry's figures; an operator whose flops
    are stated is known.

    Parameters
    ----------
    graph : Graph
    op : int
    registry : Registry

    Returns
    -------
    Work
    """
    work = registry.work(graph.operator(op))
    flops, traffic = graph.flops.get(op), graph.traffic.get(op)
    if flops is None and traffic is None:
        return work
    return _stated(work, flops, traffic, bytes_of(graph.operator(op).outputs))


def _stated(work: Work, flops: int | None, traffic: int | None, written: int) -> Work:
    changes: dict[str, object] = {}
    if flops is not None:
        changes.update(flops=flops, known=True, reason="")
    if traffic is not None:
        part = min(written, traffic)
        changes.update(bytes_read=traffic - part, bytes_written=part)
    if work.unit == "none" and (flops or traffic):
        changes["unit"] = "vector"
    return dataclasses.replace(work, **changes)  # type: ignore[arg-type]


def unknown_types(graph: Graph, registry: Registry = DEFAULT) -> dict[str, list[str]]:
    """Return the operator types without a usable rule, and the names of their operators.

    Operators with an explicit duration or stated flops need no rule and are left out.
    """
    found: dict[str, list[str]] = {}
    for op in graph.without_duration:
        if not work_of(graph, op, registry).known:
            found.setdefault(graph.op_types[op], []).append(graph.names[op])
    return found


def require_known(graph: Graph, source: str | None = None, registry: Registry = DEFAULT) -> None:
    """Refuse a graph with operators of unknown cost.

    Raises
    ------
    ConfigError
        With each operator type, how many operators have it, and what to do.
    """
    faults = [
        Fault(_refusal(graph, op_type, names, registry)) for op_type, names in unknown_types(graph, registry).items()
    ]
    if faults:
        raise ConfigError(source or graph.name, faults)


def _refusal(graph: Graph, op_type: str, names: Iterable[str], registry: Registry) -> str:
    listed = list(names)
    shown = ", ".join(repr(name) for name in listed[:3]) + (f" and {len(listed) - 3} more" if len(listed) > 3 else "")
    reason = work_of(graph, graph.id_of(listed[0]), registry).reason
    hint = "" if registry.knows(op_type) else f"; {suggest(op_type, [*registry.rules, *registry.aliases])}"
    if "expected one of" in hint:
        hint = ""
    return f"the cost of {shown} is unknown ({reason}){hint}; state 'flops' or 'duration', add a rule, or drop strict"
