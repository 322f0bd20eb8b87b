"""Whatever is done to a profile's text, it loads or is refused with a located message; nothing else comes out."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from simsched.cost.speedup import speedup
from simsched.errors import ConfigError, InputError, UnknownNameError
from simsched.hardware import Device, HardwareProfile
from simsched.profiles import (
    check_profile,
    checks,
    figure_rows,
    host_text,
    link_rows,
    load_hardware,
    parse_profile,
    profile_row,
    with_launch,
    with_model,
    with_streams,
)

FOLDER = Path(__file__).resolve().parents[2] / "hardware_profiles"
TEXTS = [path.read_text("utf-8") for path in sorted(FOLDER.glob("*.yaml"))]

SNIPPETS = st.sampled_from(
    [
        "", " ", "\n", "\t", ":", ": ", "- ", "{", "}", "[", "]", ",", "@", " @", "@@", "#", '"', "'", "&a ", "*a",
        "---\n", "...", "|", ">-", "?", "%", "unknown", "null", "~", "true", ".nan", ".inf", "-0", "0", "-1", "1e400",
        "1e-400", "1e9999999999", "0x10", "9" * 400, "80 GiB", "GB", "80", "2.6 us", "\x00", "\x85", "\u2028", "é",
        "!!int ", "💥", "<<: ", "devices:\n", "sources: {}\n", "links:\n  - {between: [gpu, gpu]}\n", "sms: 7\n",
        "    sms: 1\n", "switches: [gpu, hub]\n", "sharing: unshared", "mode: graph", "blocks", "table", "{1: 2, 0: 1}",
        "    threads: {per_operator: 2, law: amdahl, serial: 0.5}\n", "    stream_priorities: [0, -1]\n", "[-1, 1]",
    ]
)  # fmt: skip


@st.composite
def mutated(draw: st.DrawFn) -> str:
    text = draw(st.sampled_from(TEXTS))
    for _ in range(draw(st.integers(1, 4))):
        start = draw(st.integers(0, len(text)))
        length = draw(st.integers(0, 40))
        new = draw(st.one_of(SNIPPETS, st.text(max_size=12)))
        text = text[:start] + new + text[start + length :]
    return text


@st.composite
def with_a_line_changed(draw: st.DrawFn) -> str:
    lines = draw(st.sampled_from(TEXTS)).splitlines(keepends=True)
    number = draw(st.integers(0, len(lines) - 1))
    change = draw(st.sampled_from(["drop", "double", "indent", "outdent", "value", "swap"]))
    line = lines[number]
    if change == "drop":
        lines[number] = ""
    elif change == "double":
        lines[number] = line * 2
    elif change == "indent":
        lines[number] = "  " + line
    elif change == "outdent":
        lines[number] = line[1:]
    elif change == "value":
        lines[number] = line.partition(":")[0] + ": " + draw(SNIPPETS) + "\n"
    else:
        other = draw(st.integers(0, len(lines) - 1))
        lines[number], lines[other] = lines[other], lines[number]
    return "".join(lines)


def outcome(load: Callable[[str], HardwareProfile], text: str) -> HardwareProfile | InputError | UnknownNameError:
    try:
        return load(text)
    except (InputError, UnknownNameError) as error:
        return error


def judge(text: str) -> None:
    profile = outcome(parse_profile, text)
    if not isinstance(profile, HardwareProfile):
        assert isinstance(profile, ConfigError)
        assert profile.faults
        assert all(fault.message for fault in profile.faults)
        assert "Traceback" not in str(profile)
        return
    # What loads can be checked, shown and hashed.
    check_profile(profile)
    checks(profile)
    figure_rows(profile)
    profile_row(profile)
    link_rows(profile)
    host_text(profile)
    assert len(profile.content_hash) == 64
    for a in profile.devices:
        for b in profile.devices:
            assert all(0 <= hop.link < len(profile.links) for hop in profile.route(a.name, b.name))
        cost_of_cores(a)
    for change in (lambda: with_launch(profile, "serial"), lambda: with_model(profile, "blocks")):
        assert isinstance(outcome_of(change), (HardwareProfile, ConfigError))
    assert [device.streams for device in with_streams(profile, 3).devices] == [3] * len(profile.devices)


def cost_of_cores(device: Device) -> None:
    """Whatever loads gives a speed-up for every number of cores that an operator may take."""
    if device.threads is not None:
        for cores in range(1, min(device.threads.per_operator, 50) + 1):
            assert 0 < speedup(device.threads, cores) <= cores


def outcome_of(make: Callable[[], HardwareProfile]) -> HardwareProfile | ConfigError:
    try:
        return make()
    except ConfigError as error:
        return error


@given(mutated())
@settings(max_examples=200, deadline=None)
def test_mutated_text(text: str) -> None:
    judge(text)


@given(with_a_line_changed())
@settings(max_examples=200, deadline=None)
def test_changed_lines(text: str) -> None:
    judge(text)


ODD = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 12),
    st.integers(10**300, 10**310),
    st.floats(allow_nan=True),
    st.sampled_from(["", "gpu", "hub", "unknown", "5 us", "0 us", "12 GB/s", "0.5", "3 @a", "linear", "table", "free"]),
    st.lists(st.integers(-2, 2), max_size=3),
    st.just({}),
)


def seldom_odd(value: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.integers(0, 24).flatmap(lambda number: ODD if number == 24 else value)


def section(**keys: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """A mapping with some of these keys, or all, most values sensible; seldom something else."""
    likely = {key: seldom_odd(value) for key, value in keys.items()}
    some, every = st.fixed_dictionaries({}, optional=likely), st.fixed_dictionaries(likely)
    return seldom_odd(st.one_of(every, some))


def law(name: str, **keys: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return section(per_operator=st.integers(1, 7), law=st.just(name), core_bandwidth=st.just("3 GB/s"), **keys)


CORES = st.sampled_from(["1", "2", "3", "4", "5", "6", "08", "x"])
TABLE = st.dictionaries(CORES, seldom_odd(st.sampled_from([1, 1.5, 2, 3.9, "2.5 @a"])), max_size=4)
ANY_LAW = st.sampled_from(["linear", "amdahl", "table"])
THREADS = st.one_of(
    law("linear"),
    law("amdahl", serial=st.sampled_from([0, 0.25, "5 %"])),
    law("table", table=TABLE),
    law("table", table=st.just({"3": 2.5, "7": "3.9 @a"})),
    section(per_operator=st.integers(1, 9), law=ANY_LAW, serial=st.just(0.5), table=TABLE),
)
NEAR = st.sampled_from([["gpu", "hub"], ["hub", "cpu"], ["cpu", "gpu"]])
FAR = st.sampled_from([["hub", "spare"], ["gpu", "nowhere"], ["cpu", "cpu"], ["gpu"]])
SHARING = st.sampled_from(["full_duplex", "half_duplex", "unshared"])
LINK = seldom_odd(
    st.fixed_dictionaries(
        {"between": st.one_of(NEAR, NEAR, NEAR, NEAR, FAR)},
        optional={"latency": seldom_odd(st.just("1 us")), "bandwidth": st.just("9 GB/s"), "sharing": SHARING},
    )
)
HOST = section(
    launch=st.just("5 us"),
    mode=st.sampled_from(["free", "serial", "graph"]),
    threads=st.integers(1, 3),
    graph_launch=st.just("3 us"),
    sync=st.just("0 us"),
    event=st.just("unknown"),
)
MACHINE = st.fixed_dictionaries(
    {
        "devices": st.just([{"name": "gpu", "kind": "gpu", "model": "blocks", "streams": 2, "sms": 4}]),
        "host": HOST,
        "switches": seldom_odd(st.sampled_from([["hub"], ["hub", "spare"], ["hub", "cpu"]])),
        "links": st.lists(LINK, max_size=3, unique_by=str),
    },
)


@given(MACHINE, section(threads=THREADS, stream_priorities=st.lists(st.integers(-2, 2), min_size=2, max_size=2)))
@settings(max_examples=300, deadline=None)
def test_odd_machines(data: dict[str, Any], more: Any) -> None:
    device = {"name": "cpu", "kind": "cpu", "model": "sm_share", "streams": 2, "cores": 6}
    if isinstance(more, dict):
        device.update(more)
    whole = {"sources": {"a": {"kind": "derived", "cite": "b"}}, **data, "devices": [*data["devices"], device]}
    judge(json.dumps(whole))


@given(st.text(max_size=60))
@settings(max_examples=100, deadline=None)
def test_arbitrary_text(text: str) -> None:
    judge(text)


SHORT_FORMS = st.one_of(
    st.builds("{}:{}".format, st.sampled_from(["lanes", "procs", "lane", "gpus", "native"]), st.text(max_size=8)),
    st.builds("{}:{}".format, st.sampled_from(["lanes", "procs"]), st.integers(-5, 300)),
)


@given(SHORT_FORMS)
@settings(max_examples=200, deadline=None)
def test_short_forms(form: str) -> None:
    kind, _, count = form.partition(":")
    profile = outcome(load_hardware, form)
    if not isinstance(profile, HardwareProfile):
        assert str(profile).startswith(form) or (isinstance(profile, UnknownNameError) and profile.name == form)
        assert isinstance(profile, InputError) or kind not in ("lanes", "procs")
        return
    assert kind in ("lanes", "procs")
    assert sum(device.streams for device in profile.devices) == int(count)
