"""What the referee has found so far, and the facts that its rules look at."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from simsched.graph.model import OpId
from simsched.problem import Problem
from simsched.trace import Trace

SHOWN = 20
"""Violations of one rule that are written out; the others are counted."""


@dataclass(slots=True)
class Findings:
    """Violations by rule, in the order in which the rules were checked."""

    texts: dict[str, list[str]] = field(default_factory=dict)
    hidden: dict[str, int] = field(default_factory=dict)

    def add(self, rule: str, text: str) -> None:
        """Note one violation."""
        texts = self.texts.setdefault(rule, [])
        if len(texts) < SHOWN:
            texts.append(text)
        else:
            self.hidden[rule] = self.hidden.get(rule, 0) + 1

    def all(self) -> list[str]:
        """Return every text as ``rule: text``, and how many more there are of a rule."""
        lines = []
        for rule, texts in self.texts.items():
            lines += [f"{rule}: {text}" for text in texts]
            if rule in self.hidden:
                lines.append(f"{rule}: and {self.hidden[rule]} more")
        return lines


@dataclass(slots=True)
class Facts:
    """A problem and the columns of a trace as plain lists, which index faster than arrays.

    Attributes
    ----------
    problem : Problem
    trace : Trace
    memory : str
        Mode of the run.
    durations : sequence of sequence of int
        Per device; what operators must have taken, in ns.
    stream, dispatch, ready, start, end : list of int
    device : list of int
        Device that ran each operator.
    eligible : list of int
        When each operator had its stream, its inputs and its dispatch, in ns; filled by the rule on waiting.
    findings : Findings
    launched : list of int
        When the host was through with launching each operator, in ns; filled by the rule on launches.
    """

    problem: Problem
    trace: Trace
    memory: str
    durations: Sequence[Sequence[int]]
    stream: list[int]
    dispatch: list[int]
    ready: list[int]
    start: list[int]
    end: list[int]
    device: list[int]
    eligible: list[int]
    findings: Findings
    launched: list[int] = field(default_factory=list)

    def name(self, op: OpId) -> str:
        """Return the quoted name of an operator."""
        return repr(self.problem.graph.names[op])

    def at(self, time: int) -> str:
        """Write an instant exactly: ``5`` in a graph of ticks, ``5 ns`` otherwise."""
        return str(time) if self.problem.graph.time_unit == "tick" else f"{time} ns"

    def on(self, op: OpId) -> str:
        """Return the name of the stream that ran an operator."""
        return self.problem.stream_names[self.stream[op]]

    def host(self, op: OpId) -> str:
        """Return the name of the device that ran an operator."""
        return self.problem.devices[self.device[op]].name

    def some(self, ops: Sequence[OpId]) -> str:
        """List up to six operators by name."""
        more = f" and {len(ops) - 6} more" if len(ops) > 6 else ""
        return ", ".join(self.name(op) for op in ops[:6]) + more
