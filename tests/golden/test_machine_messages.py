"""What malformed hosts, links, switches, priorities and threads are answered with, to the letter; variants too."""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

import pytest

from simsched.errors import ConfigError
from simsched.hardware import Device, DeviceModelName, HardwareProfile, LaunchMode
from simsched.profiles import load_hardware, parse_profile, with_launch, with_model
from tests.golden.test_profile_messages import BASE, message

# What is appended to the profile, and the whole message.
APPENDED = [
    (
        "links:\n  - {between: [gpu, hub]}\n  - {between: [hub, gpu]}\nswitches: [hub]\n",
        "my.yaml:15:15: links[1].between: these two are linked already by links[0]",
    ),
    (
        "switches: [hub]\nlinks:\n  - {between: [gpu, hubb]}\n",
        "my.yaml:15:21: links[0].between[1]: no device or switch is called 'hubb'; did you mean 'hub'?",
    ),
    (
        "switches: [gpu]\n",
        "my.yaml:13:12: switches[0]: 'gpu' is a device; give the switch another name",
    ),
    (
        "switches: [hub, left, hub]\n",
        "my.yaml:13:23: switches[2]: switch 'hub' is given twice (first as switches[0])",
    ),
    (
        "switches: hub\n",
        "my.yaml:13:11: switches: expected a list, got 'hub'; write [hub]",
    ),
    (
        "switches: [hub]\nlinks:\n  - {between: [gpu, hub], sharing: duplex}\n",
        "my.yaml:15:36: links[0].sharing: 'duplex' is not a choice here; did you mean 'half_duplex'?",
    ),
    (
        "host: {mode: serail}\n",
        "my.yaml:13:14: host.mode: 'serail' is not a choice here; did you mean 'serial'?",
    ),
    (
        "host: {threads: 0}\n",
        "my.yaml:13:17: host.threads: expected at least 1, got 0",
    ),
    (
        "host: {graph_lunch: 5 us}\n",
        "my.yaml:13:8: host.graph_lunch: unknown key; did you mean 'graph_launch'?",
    ),
    (
        "host: {sync: 5}\n",
        "my.yaml:13:14: host.sync: '5' has no unit; write '5 us' or '5 ms'",
    ),
    (
        "    stream_priorities: [0, -1]\n",
        "my.yaml:13:24: devices[0].stream_priorities: expected a priority for each of the 8 streams, got 2",
    ),
    (
        "    stream_priorities: [0, 0, 0, 0, 0, 0, 0, -5000]\n",
        "my.yaml:13:46: devices[0].stream_priorities[7]: expected at least -1000, got -5000",
    ),
    (
        "    threads: {per_operator: 8, law: linear}\n",
        "my.yaml:13:29: devices[0].threads.per_operator: an operator cannot take 8 of 7 cores",
    ),
    (
        "    sm_limits: {warps: 4}\n    threads: {per_operator: 2, law: linear}\n",
        "my.yaml:14:14: devices[0].threads: 'threads' are of a CPU and 'sm_limits' of a GPU; a device has one of them",
    ),
    (
        "    threads: {law: linear}\n",
        "my.yaml:13:14: devices[0].threads.per_operator: this key is missing",
    ),
    (
        "    threads: {per_operator: 2, law: amdal}\n",
        "my.yaml:13:37: devices[0].threads.law: 'amdal' is not a choice here; did you mean 'amdahl'?",
    ),
    (
        "    threads: {per_operator: 2, law: amdahl}\n",
        "my.yaml:13:14: devices[0].threads: law 'amdahl' needs 'serial'",
    ),
    (
        "    threads: {per_operator: 2, law: amdahl, serial: 105 %}\n",
        "my.yaml:13:53: devices[0].threads.serial: expected a fraction from 0 to 1, such as 0.05 or '5 %', got '105 %'",
    ),
    (
        "    threads: {per_operator: 2, law: linear, serial: 0.1}\n",
        "my.yaml:13:53: devices[0].threads.serial: 'serial' belongs to law 'amdahl', not to 'linear'",
    ),
    (
        "    threads: {per_operator: 5, law: table, table: {2: 1.9, 4: 3.1}}\n",
        "my.yaml:13:51: devices[0].threads.table: the table ends at 4 cores, and nothing is extrapolated; "
        "measure 5, or take fewer",
    ),
    (
        "    threads: {per_operator: 2, law: table, table: {1: 1.1, 2: 1.9}}\n",
        "my.yaml:13:55: devices[0].threads.table.1: one core is as fast as one core; write 1, or leave it out",
    ),
    (
        "    threads: {per_operator: 2, law: table, table: {2: 0}}\n",
        "my.yaml:13:55: devices[0].threads.table.2: expected how many times as fast, such as 3.6, got 0",
    ),
    (
        "    threads: {per_operator: 2, law: table, table: {2: unknown}}\n",
        "my.yaml:13:55: devices[0].threads.table.2: a measured speed-up cannot be unknown; leave it out",
    ),
    (
        "    threads: {per_operator: 2, law: table, table: {two: 1.9, 2: 1.9}}\n",
        "my.yaml:13:57: devices[0].threads.table.two: 'two' is not a number of cores; write for example 4: 3.6",
    ),
    (
        "    threads: {per_operator: 2, law: table, table: {2: 1.9, 02: 1.8}}\n",
        "my.yaml:13:64: devices[0].threads.table.02: 2 cores are given twice (first as '2')",
    ),
    (
        "  - {name: cpu, kind: cpu, model: lanes, streams: 2, threads: {per_operator: 2, law: linear}}\n",
        "my.yaml:13:63: devices[1].threads: threads need the number of 'cores' (or 'sms')",
    ),
    (
        "  - {name: cpu, kind: cpu, model: blocks, streams: 2}\n",
        "my.yaml:13:5: devices[1]: model 'blocks' needs the number of 'sms' (or 'cores')",
    ),
    (
        "    launch_in_graph: soon\n",
        "my.yaml:13:22: devices[0].launch_in_graph: 'soon' is not a number with a unit",
    ),
]


@pytest.mark.parametrize(("addition", "expected"), APPENDED, ids=[text.strip()[:50] for text, _ in APPENDED])
def test_an_extended_profile(addition: str, expected: str) -> None:
    assert message(BASE + addition) == expected


def test_variants_that_cannot_be() -> None:
    profile, theory = parse_profile(BASE, "small"), load_hardware("lanes:3")
    cases: list[tuple[Callable[[], HardwareProfile], str]] = [
        (
            lambda: with_launch(theory, "serial"),
            "lanes:3: launch mode 'serial' needs to know what a launch costs the host; "
            "add it to the profile, for example 'host: {launch: 5 us}'",
        ),
        (
            lambda: with_launch(profile, "graph"),
            "small: launch mode 'graph' needs to know what a launch costs the host; "
            "add it to the profile, for example 'host: {graph_launch: 5 us}'",
        ),
        (
            lambda: with_launch(profile, cast("LaunchMode", "grap")),
            "small: 'grap' is not a way to launch; did you mean 'graph'?",
        ),
        (
            lambda: with_model(theory, "blocks"),
            "lanes:3: device model 'blocks' shares SMs, and the device has none; "
            "choose hardware with 'sms' or 'cores', or 'lanes'",
        ),
        (
            lambda: with_model(load_hardware("procs:2"), "sm_share"),
            "procs:2: device model 'sm_share' shares SMs, and no device has any; "
            "choose hardware with 'sms' or 'cores', or 'lanes'",
        ),
        (
            lambda: with_model(profile, cast("DeviceModelName", "block")),
            "small: 'block' is not a device model; did you mean 'blocks'?",
        ),
        (lambda: with_model(profile, "lanes", "cpu"), "small: no device is called 'cpu'; did you mean 'gpu'?"),
    ]
    for make, expected in cases:
        with pytest.raises(ConfigError) as caught:
            make()
        assert str(caught.value) == expected


def test_a_device_has_a_priority_for_each_stream_or_none() -> None:
    with pytest.raises(ConfigError) as caught:
        Device("gpu", streams=3, stream_priorities=(0, 1))
    assert str(caught.value) == "device 'gpu': 2 stream priorities for 3 streams; give one for each"
