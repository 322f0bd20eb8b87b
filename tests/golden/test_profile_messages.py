"""What malformed profiles and short forms are answered with, to the letter."""

from __future__ import annotations

import pytest

from simsched.errors import ConfigError
from simsched.profiles import load_hardware, new_profile_text, parse_profile, with_memory, with_streams
from tests.builders import random_graph

BASE = """\
description: a test
sources:
  sheet: {kind: datasheet, cite: "a sheet"}
devices:
  - name: gpu
    kind: gpu
    model: sm_share
    streams: 8
    sms: 7 @sheet
    memory:
      capacity: 16 GiB @sheet
      bandwidth: 320 GB/s
"""
MEMORY_BYTES = "B, kB, KB, MB, GB, TB, KiB, MiB, GiB, TiB"
DTYPES = "fp64, fp32, tf32, fp16, bf16, fp8, fp4, int32, int16, int8, int4"

# What is replaced in (or, without "old", appended to) the profile above, and the whole message.
CHANGED = [
    (
        "capacity: 16 GiB",
        "capacty: 16 GiB",
        "my.yaml:11:7: devices[0].memory.capacty: unknown key; did you mean 'capacity'?",
    ),
    ("16 GiB", "80", "my.yaml:11:17: devices[0].memory.capacity: '80' has no unit; write '80 GiB' or '80 GB'"),
    (
        "16 GiB",
        "16 GHz",
        f"my.yaml:11:17: devices[0].memory.capacity: unknown unit 'GHz' in '16 GHz'; expected one of: {MEMORY_BYTES}",
    ),
    (
        "16 GiB",
        "0 GiB",
        "my.yaml:11:17: devices[0].memory.capacity: expected a positive quantity such as '80 GiB', got '0 GiB'",
    ),
    ("16 GiB", "1e999999999 GiB", "my.yaml:11:17: devices[0].memory.capacity: '1e999999999 GiB' is out of range"),
    ("streams: 8", "streams: 8\n    streams: 9", "my.yaml:9:5: devices[0].streams: given twice (first on line 8)"),
    (
        "16 GiB @sheet",
        "16 GiB @shet",
        "my.yaml:11:17: devices[0].memory.capacity: source 'shet' is not listed under 'sources'; did you mean 'sheet'?",
    ),
    (
        "16 GiB @sheet",
        "16 GiB @",
        "my.yaml:11:17: devices[0].memory.capacity: '16 GiB @' names no source behind the @; "
        "write for example '80 GiB @datasheet'",
    ),
    ("streams: 8", "streams: 0", "my.yaml:8:14: devices[0].streams: expected at least 1, got 0"),
    ("streams: 8", "streams: many", "my.yaml:8:14: devices[0].streams: expected a whole number, got 'many'"),
    (
        "sm_share",
        "sm-share",
        "my.yaml:7:12: devices[0].model: 'sm-share' is not a choice here; did you mean 'sm_share'?",
    ),
    (
        "kind: gpu",
        "kind: graphics",
        "my.yaml:6:11: devices[0].kind: 'graphics' is not a choice here; expected one of: gpu, cpu, npu, tpu, ideal",
    ),
    (
        "kind: datasheet",
        "kind: data sheet",
        "my.yaml:3:17: sources.sheet.kind: 'data sheet' is not a choice here; did you mean 'datasheet'?",
    ),
    ("7 @sheet", "7.5 @sheet", "my.yaml:9:10: devices[0].sms: expected a whole number of at least 1, got '7.5'"),
    ("    sms: 7 @sheet\n", "", "my.yaml:5:5: devices[0]: model 'sm_share' needs the number of 'sms' (or 'cores')"),
    ("7 @sheet", "unknown", "my.yaml:5:5: devices[0]: model 'sm_share' needs the number of 'sms' (or 'cores')"),
    (
        "sms: 7 @sheet",
        "sms: 7 @sheet\n    cores: 7",
        "my.yaml:10:12: devices[0].cores: 'sms' and 'cores' mean the same; give one of them",
    ),
    (
        "320 GB/s",
        "-320 GB/s",
        "my.yaml:12:18: devices[0].memory.bandwidth: expected a positive quantity such as '2039 GB/s', got '-320 GB/s'",
    ),
    (
        "320 GB/s",
        "",
        "my.yaml:12:17: devices[0].memory.bandwidth: nothing is written here; "
        "write for example '2039 GB/s', or 'unknown'",
    ),
    ("name: gpu", "name: 4090", "my.yaml:5:11: devices[0].name: expected text, got 4090; write '4090' in quotes"),
    (
        "name: gpu",
        "name: my gpu",
        "my.yaml:5:11: devices[0].name: 'my gpu' cannot be a name here; "
        "use letters, digits, '_', '-' and '.', a letter first",
    ),
    (
        "description: a test",
        "descriptoin: a test",
        "my.yaml:1:1: descriptoin: unknown key; did you mean 'description'?",
    ),
]
APPENDED = [
    (
        "    efficiency: {matrix: 87}\n",
        "my.yaml:13:26: devices[0].efficiency.matrix: expected a fraction above 0 and up to 1, "
        "such as 0.8 or '80 %', got 87",
    ),
    (
        "    peaks: {vector: {float32: 7 TFLOP/s}}\n",
        f"my.yaml:13:22: devices[0].peaks.vector.float32: unknown key; expected one of: {DTYPES}",
    ),
    ("      bus: 256\n", "my.yaml:13:12: devices[0].memory.bus: expected a width such as '5120 bit', got 256"),
    ("    launch: -1 us\n", "my.yaml:13:13: devices[0].launch: a duration cannot be negative: '-1 us'"),
    ("    launch: 2.6\n", "my.yaml:13:13: devices[0].launch: '2.6' has no unit; write '2.6 us' or '2.6 ms'"),
    (
        "    resources: {sms: 4}\n",
        "my.yaml:13:22: devices[0].resources.sms: SMs are given as 'sms' of the device, not among its resources",
    ),
    (
        "  - {name: gpu, kind: cpu, model: lanes, streams: 2}\n",
        "my.yaml:13:12: devices[1].name: device 'gpu' is given twice (first as devices[0])",
    ),
    (
        "links:\n  - {between: [gpu, cpu], bandwidth: 32 GB/s}\n",
        "my.yaml:14:21: links[0].between[1]: no device is called 'cpu'; did you mean 'gpu'?",
    ),
    (
        "links:\n  - {between: [gpu, gpu], bandwidth: 32 GB/s}\n",
        "my.yaml:14:15: links[0].between: a link joins two devices, not 'gpu' with itself",
    ),
    (
        "links:\n  - {between: [gpu], bandwidth: 32 GB/s}\n",
        "my.yaml:14:15: links[0].between: expected at least 2 items, got 1",
    ),
]
WHOLE = [
    ("", "my.yaml: the file is empty"),
    ("- gpu\n", "my.yaml:1:1: expected a mapping, got a list"),
    ("description: nothing else\n", "my.yaml:1:1: devices: this key is missing"),
    ("devices: []\n", "my.yaml:1:10: devices: expected at least 1 items, got 0"),
]
SHORT_FORMS = [
    ("lanes:0", "lanes:0: expected from 1 to 100000 lanes, got 0; write for example 'lanes:4'"),
    ("lanes:x", "lanes:x: 'x' is not a number of lanes; write for example 'lanes:4'"),
    ("lanes:-1", "lanes:-1: '-1' is not a number of lanes; write for example 'lanes:4'"),
    ("lanes", "lanes: how many lanes? write for example 'lanes:4'"),
    ("procs:", "procs:: how many processors? write for example 'procs:4'"),
    ("procs:2.5", "procs:2.5: '2.5' is not a number of processors; write for example 'procs:4'"),
    ("procs:100001", "procs:100001: expected from 1 to 100000 processors, got 100001; write for example 'procs:4'"),
    ("gpus:4", "gpus:4: unknown short form 'gpus'; expected 'lanes' or 'procs', as in 'lanes:4'"),
    (
        "native",
        "native: these are the capacities that a graph file carries, so it needs a graph; write for example 'lanes:4'",
    ),
]


def message(text: str) -> str:
    with pytest.raises(ConfigError) as caught:
        parse_profile(text, source="my.yaml")
    return str(caught.value)


def test_the_unchanged_profile_loads() -> None:
    assert parse_profile(BASE).devices[0].sms == 7


@pytest.mark.parametrize(("old", "new", "expected"), CHANGED, ids=[new[:30] or old[:30] for old, new, _ in CHANGED])
def test_a_changed_profile(old: str, new: str, expected: str) -> None:
    assert BASE.count(old) == 1
    assert message(BASE.replace(old, new)) == expected


@pytest.mark.parametrize(("addition", "expected"), APPENDED, ids=[text.strip()[:40] for text, _ in APPENDED])
def test_an_extended_profile(addition: str, expected: str) -> None:
    assert message(BASE + addition) == expected


@pytest.mark.parametrize(("text", "expected"), WHOLE, ids=["empty", "list", "no devices", "empty devices"])
def test_a_profile_of_the_wrong_form(text: str, expected: str) -> None:
    assert message(text) == expected


def test_all_faults_are_told_at_once_whatever_finds_them() -> None:
    text = (
        BASE.replace("capacity: 16 GiB @sheet", "capacty: 16 GiB @shet")
        .replace("320 GB/s", "320")
        .replace("streams: 8", "streams: 0")
        + "  - {name: gpu, kind: cpu, model: lanes, streams: 2}\n"
    )
    assert message(text) == (
        "my.yaml: 5 problems\n"
        "  8:14  devices[0].streams: expected at least 1, got 0\n"
        "  11:7  devices[0].memory.capacty: unknown key; did you mean 'capacity'?\n"
        "  11:16  devices[0].memory.capacty: source 'shet' is not listed under 'sources'; did you mean 'sheet'?\n"
        "  12:18  devices[0].memory.bandwidth: '320' has no unit; write '320 GB/s' or '320 TB/s'\n"
        "  13:12  devices[1].name: device 'gpu' is given twice (first as devices[0])"
    )


def test_a_tag_without_any_sources() -> None:
    text = BASE.replace('sources:\n  sheet: {kind: datasheet, cite: "a sheet"}\n', "").replace(
        "16 GiB @sheet", "16 GiB"
    )
    expected = "my.yaml:7:10: devices[0].sms: source 'sheet' is not listed under 'sources'; add it under 'sources'"
    assert message(text) == expected


@pytest.mark.parametrize(("form", "expected"), SHORT_FORMS, ids=[form for form, _ in SHORT_FORMS])
def test_a_short_form(form: str, expected: str) -> None:
    with pytest.raises(ConfigError) as caught:
        load_hardware(form)
    assert str(caught.value) == expected


def test_native_hardware_of_a_graph_without_capacities() -> None:
    with pytest.raises(ConfigError) as caught:
        load_hardware("native", random_graph(1, 3))
    assert str(caught.value) == (
        "native: graph 'random1' carries no capacities of its own (files in .sm and .rcp format do); "
        "write for example 'lanes:4', or the name of a profile"
    )


def test_overrides_that_cannot_be() -> None:
    profile = load_hardware("lanes:3")
    with pytest.raises(ConfigError, match=r"^lanes:3: expected a number of streams from 1 to 100000, got 0$"):
        with_streams(profile, 0)
    with pytest.raises(ConfigError, match=r"^lanes:3: '24' has no unit; write '24 GiB' or '24 GB'$"):
        with_memory(profile, "24")
    with pytest.raises(ConfigError, match=r"^lanes:3: expected a positive size such as '24 GiB', got '0 GiB'$"):
        with_memory(profile, "0 GiB")
    with pytest.raises(ConfigError, match=r"^lanes:3: no device is called 'gpu'; expected one of: d0$"):
        with_memory(profile, "24 GiB", device="gpu")


def test_a_new_profile_needs_a_name_that_can_be_one() -> None:
    with pytest.raises(ConfigError) as caught:
        new_profile_text("my gpu")
    assert str(caught.value) == (
        "profile: 'my gpu' cannot be a name here; use letters, digits, '_', '-' and '.', a letter first"
    )
