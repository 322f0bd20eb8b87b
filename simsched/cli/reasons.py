"""Words for the rows of an account of the makespan, and for what limits a run; unknown ones are shown as they are."""

from __future__ import annotations

from simsched.analysis.account import SHORT_OF, WORK

_RESOURCES = {"sms": "SMs", "memory": "memory", "resident_kernels": "room for kernels"}
_WORDS = {
    WORK: "operators run",
    "launch": "launches on the device",
    "critical_path": "the critical path",
    "streams": "streams",
    "sms": "SMs",
    "bandwidth": "memory bandwidth",
    "host": "launches by the host",
    "no_stream": "waiting for a stream",
    "stream": "waiting behind others in the stream",
    "queue": "waiting behind the head of the device's queue",
    "transfer": "waiting for data between devices",
    "held": "held back by the scheduler",
    "idle": "nothing ran that led on",
    "unknown": "waiting, no reason recorded",
}


def reason_words(reason: str) -> str:
    """Say a row of an account, or a limit, as people do.

    Examples
    --------
    >>> reason_words("short_of_sms"), reason_words("gpu/bandwidth"), reason_words("slowed_by_heat")
    ('waiting for SMs', 'memory bandwidth of gpu', 'slowed by heat')
    """
    if reason.startswith(SHORT_OF):
        resource = reason.removeprefix(SHORT_OF)
        return f"waiting for {_RESOURCES.get(resource, resource)}"
    device, slash, name = reason.rpartition("/")
    if slash:
        return f"{reason_words(name)} of {device}"
    if reason in _WORDS:
        return _WORDS[reason]
    from simsched.output.story import WAITS

    return WAITS.get(reason, reason.replace("_", " "))


def ordered(rows: dict[str, int]) -> dict[str, int]:
    """Put what ran before what waited: work, launches, the rest as it came."""
    first = {key: rows[key] for key in (WORK, "launch") if key in rows}
    return first | rows
