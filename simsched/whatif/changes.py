"""What is to be changed of a run, as values and as people write it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TypeVar

from simsched.errors import ConfigError, Fault
from simsched.whatif.figures import SOURCE, factor_of

T = TypeVar("T")
Factor = Fraction | float | str


@dataclass(frozen=True, slots=True)
class Changes:
    """Changes of a problem and its scheduler, carried out in this order: hardware, fusions, dropped edges, scaling.

    Attributes
    ----------
    hardware : mapping of str to str
        Figure to ``x2`` or a value with its unit; see :mod:`simsched.whatif.figures`.
    streams : int or None
        Streams of every device.
    fuse : sequence of sequence of str
        Operators that become one kernel, each called ``a+b`` then; see :func:`simsched.whatif.fusion.fused`.
    drop : sequence of (str, str)
        Dependencies to leave out: the second operator no longer waits for the first.
    scale : mapping of str to number
        Operator, ``type:Conv`` or pattern to the factor of its cost. Factors of an operator that several name multiply.
    scheduler : str or None
        Another scheduler.

    Examples
    --------
    >>> changes = Changes(hardware={"memory_bandwidth": "x2"}, scale={"type:Conv": 0.5})
    >>> changes.words()
    ('--set memory_bandwidth=x2', '--scale type:Conv=0.5')
    """

    hardware: Mapping[str, str] = field(default_factory=dict)
    streams: int | None = None
    fuse: Sequence[Sequence[str]] = ()
    drop: Sequence[tuple[str, str]] = ()
    scale: Mapping[str, Factor] = field(default_factory=dict)
    scheduler: str | None = None

    @property
    def settings(self) -> Mapping[str, str]:
        """Figures of the hardware with the number of streams among them."""
        return {**self.hardware, **({} if self.streams is None else {"streams": str(self.streams)})}

    def words(self) -> tuple[str, ...]:
        """Write the changes as options of ``simsched whatif``."""
        return (
            *(f"--set {name}={value}" for name, value in self.hardware.items()),
            *(() if self.streams is None else (f"--streams {self.streams}",)),
            *(f"--fuse {','.join(names)}" for names in self.fuse),
            *(f"--drop-edge {','.join(pair)}" for pair in self.drop),
            *(f"--scale {pattern}={_shown(factor)}" for pattern, factor in self.scale.items()),
            *(() if self.scheduler is None else (f"--scheduler {self.scheduler}",)),
        )


def exact(pattern: str, factor: Factor) -> Fraction:
    """Return a factor as the decimal number that was written.

    Raises
    ------
    ConfigError
        If it is not a number, or negative.
    """
    try:
        return factor_of(str(factor)) if not isinstance(factor, Fraction) else _not_negative(factor)
    except ValueError as error:
        raise ConfigError("--scale", [Fault(f"{pattern}: {error}")]) from None


def _not_negative(factor: Fraction) -> Fraction:
    if factor < 0:
        raise ValueError(f"a factor cannot be negative: {factor}")
    return factor


def parse_scales(texts: Sequence[str]) -> dict[str, Factor]:
    """Read ``NAME=FACTOR``; names may hold ``=`` themselves.

    Raises
    ------
    ConfigError
        If one is not of that form, negative, or given twice.

    Examples
    --------
    >>> parse_scales(["conv=0.5"])
    {'conv': Fraction(1, 2)}
    """
    return _pairs(texts, "--scale", "conv1=0.5", exact, last=True)


def parse_settings(texts: Sequence[str]) -> dict[str, str]:
    """Read ``FIGURE=VALUE``.

    Raises
    ------
    ConfigError
        If one is not of that form, or given twice.
    """
    return _pairs(texts, SOURCE, "memory_bandwidth=x2", lambda _, value: value)


def _pairs(
    texts: Sequence[str], option: str, example: str, read: Callable[[str, str], T], *, last: bool = False
) -> dict[str, T]:
    found: dict[str, T] = {}
    for text in texts:
        name, equals, value = text.rpartition("=") if last else text.partition("=")
        name, value = name.strip(), value.strip()
        if not equals or not name or not value:
            raise ConfigError(option, [Fault(f"{text!r} is not a name and a value; write for example {example}")])
        if name in found:
            raise ConfigError(option, [Fault(f"{name!r} is given twice")])
        found[name] = read(name, value)
    return found


def parse_group(text: str) -> tuple[str, ...]:
    """Read ``a,b,c`` of ``--fuse``.

    Raises
    ------
    ConfigError
        If it names fewer than two.
    """
    names = tuple(part.strip() for part in text.split(",") if part.strip())
    if len(names) < 2:
        raise ConfigError("--fuse", [Fault(f"{text!r} names fewer than two operators; write for example conv1,relu1")])
    return names


def parse_edge(text: str) -> tuple[str, str]:
    """Read ``a,b`` of ``--drop-edge``.

    Raises
    ------
    ConfigError
        If it does not name two.
    """
    names = tuple(part.strip() for part in text.split(","))
    if len(names) != 2 or not all(names):
        raise ConfigError("--drop-edge", [Fault(f"{text!r} does not name two operators; write for example conv1,add1")])
    return names[0], names[1]


def _shown(factor: Factor) -> str:
    return f"{float(factor):g}" if isinstance(factor, Fraction) else str(factor)
