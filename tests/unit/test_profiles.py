from __future__ import annotations

import json
from pathlib import Path

import pytest

from simsched.errors import ConfigError, UnknownNameError
from simsched.graph.builder import GraphBuilder
from simsched.hardware import ComputeUnits, Device, Efficiency, Figure, Host, Link, SmLimits, Source, Threads
from simsched.profiles import (
    check_profile,
    checks,
    figure_rows,
    load_hardware,
    markdown_table,
    new_profile_text,
    parse_profile,
    profile_names,
    profile_row,
    unsourced_figures,
    with_memory,
    with_streams,
)
from simsched.profiles.figures import bits, fraction, whole
from simsched.profiles.schema import ADAPTER

EVERYTHING = """\
name: made_up
description: every key once
sources:
  sheet: {kind: datasheet, cite: a sheet}
  guess: {kind: derived, cite: from the sheet}
devices:
  - name: gpu
    kind: gpu
    model: sm_share
    streams: 3
    sms: 5 @sheet
    units: {vector_lanes: 7 @sheet, matrix_units: 2 @sheet, matrix_fma: {fp16: 11 @guess}}
    clocks: {vector: 1300 MHz @sheet, matrix: 1.7 GHz @sheet}
    peaks:
      vector: {fp32: 19 GFLOP/s @sheet}
      matrix: {fp16: 23 GFLOP/s @sheet, int8: unknown}
    efficiency: {matrix: 0.29 @guess, vector: 31 % @guess, bandwidth: 0.37 @guess}
    memory:
      capacity: 41 MiB @sheet
      usable: 43_000_000 B
      bandwidth: 47 GB/s @sheet
      clock: 53 MHz @sheet
      bus: 59 bit @sheet
    l2: 61 KiB @sheet
    sm_limits:
      warps: 67 @sheet
      threads: 71 @sheet
      blocks: 73 @sheet
      registers: 79 @sheet
      shared_memory: 83 KiB @sheet
      shared_memory_block: 89 KiB @sheet
      warp_size: 97 @sheet
    max_resident_kernels: 101 @sheet
    copy_engines: 103 @sheet
    launch: 1.07 us @sheet
    launch_in_graph: 1.03 us @sheet
    resources: {tensor_units: 109 @sheet}
    stream_priorities: [0, -2, 1]
  - {name: cpu, kind: cpu, model: lanes, streams: 2, cores: unknown}
  - name: many
    kind: cpu
    model: blocks
    streams: 1
    cores: 151
    threads: {per_operator: 6, law: table, table: {8: 5.5 @guess, 2: 1.75 @guess}, core_bandwidth: 157 MB/s @guess}
switches: [hub]
links:
  - {between: [cpu, gpu], latency: 113 ns @sheet, bandwidth: 127 MB/s @sheet}
  - {between: [hub, many], sharing: half_duplex}
host: {launch: 131 ns @sheet, mode: serial, threads: 3, graph_launch: 137 ns @sheet, sync: 139 ns, event: 149 ns}
"""


def test_every_key_reaches_its_field() -> None:
    profile = parse_profile(EVERYTHING)
    gpu, cpu, many = profile.devices
    assert gpu == Device(
        "gpu",
        kind="gpu",
        model="sm_share",
        streams=3,
        resources={"sms": 5, "tensor_units": 109},
        memory_capacity=41 * 2**20,
        memory_usable=43_000_000,
        memory_bandwidth=47e9,
        memory_clock=53e6,
        memory_bus=59,
        peaks={"vector": {"fp32": 19e9}, "matrix": {"fp16": 23e9}},
        efficiency=Efficiency(0.29, 0.31, 0.37),
        launch_ns=1070,
        clocks={"vector": 1.3e9, "matrix": 1.7e9},
        copy_engines=103,
        max_resident_kernels=101,
        l2_bytes=61 * 2**10,
        sm_limits=SmLimits(67, 71, 73, 79, 83 * 2**10, 89 * 2**10, 97),
        units=ComputeUnits(7, 2, {"fp16": 11}),
        graph_launch_ns=1030,
        stream_priorities=(0, -2, 1),
    )
    assert cpu == Device("cpu", kind="cpu", model="lanes", streams=2)
    threads = Threads(6, "table", table=((2, 1.75), (8, 5.5)), core_bandwidth=157e6)
    assert many == Device("many", kind="cpu", model="blocks", resources={"sms": 151}, threads=threads)
    assert profile.links == (Link("cpu", "gpu", 113, 127e6), Link("hub", "many", sharing="half_duplex"))
    assert profile.switches == ("hub",)
    assert profile.host == Host(131, "serial", 3, 137, 139, 149)
    assert (profile.name, profile.description) == ("made_up", "every key once")


def test_figures_keep_what_is_written_and_the_tag_of_their_source() -> None:
    profile = parse_profile(EVERYTHING)
    assert profile.sources == {"sheet": Source("datasheet", "a sheet"), "guess": Source("derived", "from the sheet")}
    assert profile.figures["devices[0].memory.capacity"] == Figure("41 MiB", "sheet")
    assert profile.figures["devices[0].efficiency.vector"] == Figure("31 %", "guess")
    assert profile.figures["links[0].latency"] == Figure("113 ns", "sheet")
    assert profile.figures["devices[2].threads.table.8"] == Figure("5.5", "guess")
    assert unsourced_figures(profile) == [
        "devices[0].memory.usable", "devices[2].cores", "host.sync", "host.event",
    ]  # fmt: skip
    assert not any("int8" in path or path == "devices[1].cores" for path in profile.figures), "unknown is not a figure"
    # 39 quantities with a value: what is unknown, and choices such as streams, are not among them.
    assert len(profile.figures) == 39


def test_yaml_and_json_say_the_same(tmp_path: Path) -> None:
    data = {"devices": [{"name": "d", "kind": "npu", "model": "lanes", "streams": 2, "launch": "3 us"}]}
    (tmp_path / "thing.json").write_text(json.dumps(data))
    profile = load_hardware(tmp_path / "thing.json")
    assert profile.name == "thing"
    assert profile.devices == (Device("d", kind="npu", streams=2, launch_ns=3000),)


def test_profiles_are_found_by_name_along_the_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "hardware_profiles"
    folder.mkdir()
    (folder / "mine.yaml").write_text(new_profile_text("mine"))
    monkeypatch.setenv("SIMSCHED_PATH", str(tmp_path))
    assert "mine" in profile_names()
    assert load_hardware("mine").name == "mine"
    with pytest.raises(UnknownNameError, match="did you mean 'mine'"):
        load_hardware("mime")


def test_short_forms() -> None:
    four, two = load_hardware("lanes:4"), load_hardware("procs:2")
    assert [(each.name, each.streams, each.launch_ns, each.capacity) for each in four.devices] == [("d0", 4, 0, None)]
    assert [(each.name, each.streams) for each in two.devices] == [("p0", 1), ("p1", 1)]
    assert two.link("p0", "p1") is None


def test_native_hardware_has_the_files_capacities_and_a_stream_for_each_operator() -> None:
    builder = GraphBuilder("resources", time_unit="tick")
    for name in ("a", "b", "c"):
        builder.add_op(name, duration=2)
    builder.native = {"R1": 13, "R2": 17}
    profile = load_hardware("native", builder.build())
    assert [(each.name, each.streams, each.resources) for each in profile.devices] == [("d0", 3, {"R1": 13, "R2": 17})]


def test_overrides_change_all_devices_or_one_and_the_hash() -> None:
    profile = load_hardware("procs:2")
    assert [each.streams for each in with_streams(profile, 5).devices] == [5, 5]
    assert [each.streams for each in with_streams(profile, 5, "p1").devices] == [1, 5]
    assert [each.capacity for each in with_memory(profile, "3 MiB").devices] == [3 * 2**20] * 2
    assert [each.capacity for each in with_memory(profile, 7, "p0").devices] == [7, None]
    assert with_memory(profile, 7).content_hash != profile.content_hash
    assert profile.devices[0].capacity is None, "the profile itself is a value"


def test_the_template_loads_and_passes_its_checks() -> None:
    profile = parse_profile(new_profile_text("box"), "box")
    assert check_profile(profile) == []
    assert unsourced_figures(profile) == []
    # fp32, fp16, int8, bandwidth, usable, threads, shared memory, launch in a graph
    assert [check.passed for check in checks(profile)] == [True] * 8
    commented = [
        line.strip("# ") for line in new_profile_text("box").splitlines() if line.startswith("    # resources")
    ]
    extended = new_profile_text("box").replace(f"    # {commented[0]}", f"    {commented[0]}")
    assert parse_profile(extended).devices[0].resources == {"sms": 40, "tensor_units": 160}


def test_rows_show_what_a_reader_compares() -> None:
    row, other, _ = profile_row(parse_profile(EVERYTHING))
    assert (row.profile, row.device, row.sms, row.fp32, row.half) == ("made_up", "gpu", "5", "19 GFLOP/s", "23 GFLOP/s")
    assert (row.memory, row.bandwidth, row.launch) == ("41 MiB", "47 GB/s", "1.07 us")
    assert row.sources == "datasheet, derived, none"
    assert (other.sms, other.memory, other.sources) == ("-", "-", "-")
    lines = markdown_table([row, other]).splitlines()
    assert lines[0].startswith("| profile | device | kind |")
    assert {line.count("|") for line in lines} == {15}


def test_figure_rows_name_devices_and_sources() -> None:
    rows = {row.path: row for row in figure_rows(parse_profile(EVERYTHING))}
    assert (rows["gpu.launch"].value, rows["gpu.launch"].source) == ("1.07 us", "datasheet")
    assert (rows["gpu.memory.usable"].source, rows["gpu.memory.usable"].cite) == ("none", "")
    assert rows["links[0].bandwidth"].value == "127 MB/s"
    assert rows["host.launch"].cite == "a sheet"


@pytest.mark.parametrize(
    ("parse", "value"),
    [
        (whole, 0),
        (whole, True),
        (whole, "7.0"),
        (whole, "seven"),
        (whole, [7]),
        (fraction, 0),
        (fraction, "101 %"),
        (fraction, "half"),
        (fraction, True),
        (bits, "64 B"),
        (bits, "0 bit"),
        (bits, "6.4 bit"),
        (bits, 64),
    ],
)
def test_quantities_that_are_none(parse: object, value: object) -> None:
    with pytest.raises(ValueError, match=r"^expected "):
        parse(value)  # type: ignore[operator]


def test_the_schema_can_be_exported_for_editors() -> None:
    schema = ADAPTER.json_schema()
    assert {"sources", "devices", "links", "host"} <= schema["properties"].keys()
    assert schema["additionalProperties"] is False


def test_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="no such file"):
        load_hardware(tmp_path / "absent.yaml")
