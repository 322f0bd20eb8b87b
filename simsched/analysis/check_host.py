"""Rule of the referee on the host: when each launch came through, from dispatches and the host's costs alone."""

from __future__ import annotations

from simsched.analysis.findings import Facts


def check_launches(facts: Facts) -> None:
    """Check the recorded launches, and note when each should have come through.

    Threads launch one operator after the other, in launch order; a graph is launched once; where the host is free,
    operators are launched when they are dispatched, and none is recorded.
    """
    host, trace = facts.problem.hardware.host, facts.trace
    if host.mode == "free":
        facts.launched = facts.dispatch
        if trace.launched:
            facts.findings.add("launch", f"{len(trace.launched)} launches are recorded; the host is free in this run")
        return
    facts.launched = _launches(facts)
    if len(trace.launched) != len(facts.start):
        text = f"column 'launched' has {len(trace.launched)} rows for {len(facts.start)} operators"
        facts.findings.add("launch", text)
        return
    for op, (said, right) in enumerate(zip(trace.launched, facts.launched, strict=True)):
        if said != right:
            text = f"{facts.name(op)} is recorded as launched at {facts.at(said)}; the host is through at"
            facts.findings.add("launch", f"{text} {facts.at(right)}")
    for op, through in enumerate(facts.launched):
        if facts.start[op] < through:
            text = f"{facts.name(op)} starts at {facts.at(facts.start[op])}, before it is launched at"
            facts.findings.add("launch", f"{text} {facts.at(through)}")


def _launches(facts: Facts) -> list[int]:
    host, dispatch, stream = facts.problem.hardware.host, facts.dispatch, facts.stream
    if host.mode == "graph":
        return [max(time, host.graph_ns) for time in dispatch]
    free = [0] * host.threads
    launched = [0] * len(dispatch)
    for op in facts.trace.launch_order:
        thread = stream[op] % host.threads
        # The host has to learn of what it reacts to; at time 0 there is nothing to learn of.
        begin = dispatch[op] + host.sync_ns if dispatch[op] > 0 else 0
        if free[thread] > begin:
            begin = free[thread]
        launched[op] = free[thread] = begin + host.launch_ns
    return launched
