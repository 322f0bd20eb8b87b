"""How much faster several cores are than one: a CPU's operators run on intra-operator threads.

Three laws, each a pure function of the number of cores:

- ``linear``: n cores are n times as fast as one;
- ``amdahl``: a fraction of the work stays serial, so n cores are ``1 / (serial + (1 - serial) / n)`` times as fast
  (G. M. Amdahl: "Validity of the single processor approach to achieving large scale computing capabilities",
  AFIPS Spring Joint Computer Conference, 1967. https://doi.org/10.1145/1465482.1465560);
- ``table``: measured speed-ups, straight lines between them, nothing beyond the largest.

An operator that takes n cores of a CPU runs that many times as fast as on one of them, and never faster than n cores'
share of the device's peak, nor than all of the memory bandwidth. Not modelled: threads that wait for each other's
loads, caches that several cores fill together, clocks that fall when more cores are busy, hyper-threads, NUMA.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from simsched.errors import CostError

if TYPE_CHECKING:
    from simsched.hardware import Device, Threads


def linear(cores: int) -> float:
    """Return the speed-up of n cores that share all the work: n.

    Examples
    --------
    >>> linear(7)
    7.0
    """
    return float(cores)


def amdahl(cores: int, serial: float) -> float:
    """Return the speed-up by Amdahl's law.

    Parameters
    ----------
    cores : int
    serial : float
        Fraction of the time on one core that more cores do not shorten, from 0 to 1.

    Examples
    --------
    >>> amdahl(3, 0.25), amdahl(1, 0.25), amdahl(5, 1.0)
    (2.0, 1.0, 1.0)
    """
    return cores / (serial * cores + (1.0 - serial))


def measured(cores: int, table: Sequence[tuple[int, float]]) -> float:
    """Return the speed-up that a table of measurements gives, on a straight line between its points.

    Parameters
    ----------
    cores : int
    table : sequence of (int, float)
        Numbers of cores, ascending, and speed-ups. One core counts as 1 where it is left out.

    Raises
    ------
    CostError
        If the table ends before: what more cores would do was not measured, and is not guessed.

    Examples
    --------
    >>> measured(3, [(2, 1.75), (6, 3.75)])
    2.25
    """
    below, slow = 1, 1.0
    for above, fast in table:
        if cores <= above:
            if cores == above:
                return fast
            return slow + (fast - slow) * (cores - below) / (above - below)
        below, slow = above, fast
    if cores == below:
        return slow
    raise CostError(f"the table of speed-ups ends at {below} cores; nothing is known about {cores}")


def speedup(threads: Threads, cores: int) -> float:
    """Return how many times as fast as one core several are, by the law of the device.

    Parameters
    ----------
    threads : Threads
    cores : int
        From 1 to ``threads.per_operator``.

    Returns
    -------
    float
        At most ``cores``: n cores have n times the peak of one, whatever a table says.

    Raises
    ------
    CostError
        If a table ends before this number.
    """
    if threads.law == "linear":
        return linear(cores)
    if threads.law == "amdahl":
        return amdahl(cores, threads.serial)
    return min(measured(cores, threads.table), float(cores))


def peak_share(device: Device, cores: int) -> float:
    """Return the share of the device's peak at which an operator computes that takes some of its cores (SMs).

    Parameters
    ----------
    device : Device
    cores : int
        What it holds; 0 for all of the device. It has at most as many threads as the device gives an operator, even
        where the graph demands more cores for it.

    Examples
    --------
    >>> from simsched.hardware import Device, Threads
    >>> cpu = Device("cpu", resources={"sms": 10}, threads=Threads(3, "amdahl", serial=0.25))
    >>> peak_share(cpu, 3), peak_share(Device("gpu", resources={"sms": 10}), 3), peak_share(cpu, 0)
    (0.2, 0.3, 1.0)
    """
    if not cores:
        return 1.0
    threads = device.threads
    return (cores if threads is None else speedup(threads, min(cores, threads.per_operator))) / device.sms


def bandwidth(device: Device, cores: int) -> float | None:
    """Return the bytes per second that an operator can draw alone from some of the device's cores (SMs).

    All that the device can reach, unless it is known what one core can: then the speed-up times that, where it is
    less. So an operator's time is that of one core divided by the speed-up, until the memory is the limit.

    Parameters
    ----------
    device : Device
    cores : int
        As for :func:`peak_share`.

    Returns
    -------
    float or None
        None where no bandwidth is known.
    """
    if device.memory_bandwidth is None:
        return None
    reached = device.memory_bandwidth * device.efficiency.bandwidth
    threads = device.threads
    if threads is None or threads.core_bandwidth is None or not cores:
        return reached
    return min(reached, threads.core_bandwidth * speedup(threads, min(cores, threads.per_operator)))


def cores_taken(device: Device, wanted: int) -> int:
    """Return how many cores (SMs) an operator takes that could fill so many: at most those that it has threads for.

    Examples
    --------
    >>> from simsched.hardware import Device, Threads
    >>> cores_taken(Device("cpu", threads=Threads(8)), 5), cores_taken(Device("cpu", threads=Threads(8)), 50)
    (5, 8)
    """
    return wanted if device.threads is None else min(wanted, device.threads.per_operator)
