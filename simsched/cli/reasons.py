"""Words for the rows of an account of the makespan, and for what limits a run; unknown ones are shown as they are."""

from __future__ import annotations

from simsched.analysis.account import LOST, SHORT_OF, WORK

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
    "queue": "waiting behind the head of the queue",
    "priority": "waiting behind more urgent ones",
    "room": "waiting for room for a block",
    "event": "waiting to see ends in other streams",
    "held": "held back by the scheduler",
    "host_sync": "waiting for the host to see ends",
    "host_launch": "being launched by the host",
    "host_graph": "the launch of the graph",
}


def reason_words(reason: str) -> str:
    """Say a row of an account, or a limit, as people do.

    Examples
    --------
    >>> reason_words("short_of_sms"), reason_words("gpu/bandwidth"), reason_words("held_by_magic")
    ('waiting for SMs', 'memory bandwidth of gpu', 'held by magic')
    """
    from simsched.analysis import breakdown

    if reason.startswith(SHORT_OF):
        resource = reason.removeprefix(SHORT_OF)
        return f"waiting for {_RESOURCES.get(resource, resource)}"
    if reason.startswith(LOST):
        lost = reason.removeprefix(LOST)
        return breakdown.LOST.get(lost, f"lost by sharing {lost}")
    device, slash, name = reason.rpartition("/")
    if slash:
        return f"{reason_words(name)} of {device}"
    return _WORDS.get(reason) or breakdown.WAITS.get(reason) or reason.replace("_", " ")


def ordered(rows: dict[str, int]) -> dict[str, int]:
    """Put what ran before what was lost, and that before what waited; otherwise as it came."""
    lost = [key for key in rows if key.startswith(LOST)]
    return {key: rows[key] for key in (WORK, "launch", *lost) if key in rows} | rows
