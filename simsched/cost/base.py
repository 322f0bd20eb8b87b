"""What one operator costs alone on one device, and the interface of models that say so."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Protocol

from simsched.graph.model import Graph, OpId
from simsched.hardware import Device

BoundBy = Literal["explicit", "measured", "compute", "memory", "launch", "none"]


@dataclass(frozen=True, slots=True)
class Block:
    """What one thread block of a kernel needs of the SM that it is on.

    Attributes
    ----------
    threads : int
    registers : int
        Per thread.
    shared_memory : int
        Bytes.
    """

    threads: int = 1
    registers: int = 0
    shared_memory: int = 0


@dataclass(frozen=True, slots=True)
class KernelCost:
    """One operator alone on one device.

    Attributes
    ----------
    duration : int
        Nanoseconds, launch included.
    flops : int
        2 x multiply-adds.
    bytes : int
        Bytes moved to and from memory.
    sms : int
        SMs that it holds while it runs (0 where the device has none).
    workspace : int
        Bytes that live only while it runs.
    compute_ns, memory_ns, launch_ns : float
        The two sides of the roofline, and the launch.
    bound : str
        Which one decides: ``compute``, ``memory`` or ``launch``; ``explicit`` for a duration given by the user,
        ``measured`` for one from a table, ``none`` for a view, which runs no kernel.
    grid : int
        Thread blocks; 0 where no grid is known.
    block : Block or None
        What each of them needs; None where that is not known: then each has an SM to itself. With no grid either,
        ``sms`` such blocks fill ``sms`` SMs.
    tail_ns : int
        Part of the duration that is the last of several waves, where its time is known; else 0: then all are equal.
    peak_ns : float
        What its arithmetic would take on the whole device at the achievable peak; 0 where that is not known.
    known : bool
        False when the operator type is not in the registry, so that it is costed by its bytes alone.
    """

    duration: int
    flops: int = 0
    bytes: int = 0
    sms: int = 0
    workspace: int = 0
    compute_ns: float = 0.0
    memory_ns: float = 0.0
    launch_ns: float = 0.0
    bound: BoundBy = "explicit"
    known: bool = True
    grid: int = 0
    block: Block | None = None
    tail_ns: int = 0
    peak_ns: float = 0.0

    @property
    def intensity(self) -> float:
        """Arithmetic intensity in FLOP per byte; 0 when nothing moves."""
        return self.flops / self.bytes if self.bytes else 0.0


class CostModel(Protocol):
    """Anything callable like this is a cost model; a plain function will do.

    It is asked only for operators that have no explicit duration on the device.
    """

    def __call__(self, graph: Graph, op: OpId, device: Device) -> KernelCost:
        """Return the cost of one operator alone on one device.

        Raises
        ------
        CostError
            If it has none.
        """
        ...
