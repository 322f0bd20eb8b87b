"""The profiles that come with simsched, against figures typed in from their sources a second time."""

from __future__ import annotations

import dataclasses
import itertools
from pathlib import Path

import pytest

from simsched.config import read_yaml
from simsched.cost.speedup import speedup
from simsched.errors import UnknownNameError
from simsched.hardware import Device, Hop, Link
from simsched.profiles import check_profile, checks, load_hardware, unsourced_figures

FOLDER = Path(__file__).resolve().parents[2] / "hardware_profiles"
NAMES = sorted(path.stem for path in FOLDER.glob("*.yaml"))
TOYS = {"toy_1sm", "toy_4sm", "toy_box", "toy_npu_phone"}
BOXES = {"box_4t4_switch", "box_epyc7763_4a100", "box_epyc7763_a100"}
GB, T = 1e9, 1e12

# Published, dense: SMs; vector and matrix clock in MHz; TFLOP/s in fp32 (vector), tf32, fp16, bf16, int8 (matrix);
# bandwidth in GB/s; nominal GiB; threads per SM; KiB of shared memory per SM.
PUBLISHED = {
    "v100_sxm2_16gb": (80, 1530, 1530, 15.7, None, 125, None, None, 900, 16, 2048, 96),
    "v100_sxm2_32gb": (80, 1530, 1530, 15.7, None, 125, None, None, 900, 32, 2048, 96),
    "t4": (40, 1590, 1590, 8.1, None, 65, None, 130, 320, 16, 1024, 64),
    "a100_sxm_40gb": (108, 1410, 1410, 19.5, 156, 312, 312, 624, 1555, 40, 2048, 164),
    "a100_sxm_80gb": (108, 1410, 1410, 19.5, 156, 312, 312, 624, 2039, 80, 2048, 164),
    "h100_sxm": (132, 1980, 1830, 67, 494.5, 989, 989, 1979, 3350, 80, 2048, 228),
    "h100_pcie": (114, 1755, 1620, 51, 378, 756, 756, 1513, 2039, 80, 2048, 228),
    "h200_sxm": (132, 1980, 1830, 67, 494.5, 989, 989, 1979, 4800, 141, 2048, 228),
    "l4": (58, 2040, 2040, 30.3, 60, 121, 121, 242, 300, 24, 1536, 100),
    "l40s": (142, 2520, 2520, 91.6, 183, 362, 362, 733, 864, 48, 1536, 100),
    "rtx_3090": (82, 1695, 1695, 35.6, 35.6, 71, 71, 284, 936, 24, 1536, 100),
    "rtx_4090": (128, 2520, 2520, 82.6, 82.6, 165.2, 165.2, 660.6, 1008, 24, 1536, 100),
    "orin_agx_64gb": (16, 1300, 1300, 5.3, None, 42.5, 42.5, 85, 204.8, 64, 1536, 164),
    "mi250x_gcd": (110, 1700, 1700, 23.95, None, 191.5, 191.5, 191.5, 1638, 64, None, 64),
    "mi300x": (304, 2100, 2100, 163.4, 653.7, 1307.4, 1307.4, 2614.9, 5300, 192, None, 64),
}
# What programs were given, in bytes: less than the nominal size.
USABLE = {
    "v100_sxm2_16gb": 16_945_512_448,
    "v100_sxm2_32gb": 34_089_730_048,
    "t4": 15_642_329_088,
    "a100_sxm_40gb": 42_331_013_120,
    "a100_sxm_80gb": 85_100_068_864,
    "h100_sxm": 85_045_477_376,
    "h100_pcie": 85_045_477_376,
    "l4": 23_612_293_120,
    "l40s": 47_576_711_168,
    "rtx_3090": 25_286_672_384,
    "rtx_4090": 25_250_627_584,
}
# Nanoseconds on the device between small dependent kernels: in a stream, and in a graph where that was measured.
LAUNCHES = {
    "a100_sxm_40gb": (2600, 1340), "a100_sxm_80gb": (2600, 1340), "h200_sxm": (2400, 1260), "h100_sxm": (2400, 1260),
    "h100_pcie": (2400, 1260), "l4": (1640, 940), "l40s": (1640, 940), "rtx_4090": (1640, 940),
    "rtx_3090": (2050, 1090), "mi250x_gcd": (2050, 2050), "mi300x": (2200, None), "orin_agx_64gb": (2200, None),
    "t4": (2200, None), "v100_sxm2_16gb": (2200, None), "v100_sxm2_32gb": (2200, None),
}  # fmt: skip
# How many times the matrix peak may exceed the vector peak of fp32 on parts whose table rows are often sparse.
MOST_HALF_TO_FP32 = 16.1


@pytest.fixture(scope="module")
def devices() -> dict[str, Device]:
    return {name: load_hardware(FOLDER / f"{name}.yaml").devices[0] for name in NAMES}


def test_the_list_of_profiles() -> None:
    assert set(NAMES) == PUBLISHED.keys() | {"epyc_7763", "tpu_v5e"} | BOXES | TOYS


@pytest.mark.parametrize("name", NAMES)
def test_a_shipped_profile_passes_its_checks_and_sources_every_figure(name: str) -> None:
    profile = load_hardware(FOLDER / f"{name}.yaml")
    assert check_profile(profile) == []
    assert unsourced_figures(profile) == []
    assert profile.name == name
    assert profile.description


@pytest.mark.parametrize("name", sorted(PUBLISHED))
def test_a_profile_has_the_published_figures(name: str, devices: dict[str, Device]) -> None:
    device = devices[name]
    sms, vector_clock, matrix_clock, fp32, tf32, fp16, bf16, int8, bandwidth, gib, threads, shared = PUBLISHED[name]
    assert (device.kind, device.model) == ("gpu", "sm_share")
    assert device.sms == sms
    assert device.clocks == {"vector": vector_clock * 1e6, "matrix": matrix_clock * 1e6}
    assert device.peaks["vector"]["fp32"] == pytest.approx(fp32 * T)
    stated = {"tf32": tf32, "fp16": fp16, "bf16": bf16, "int8": int8}
    matrix = {key: value for key, value in device.peaks["matrix"].items() if key != "fp32"}
    assert matrix == pytest.approx({key: value * T for key, value in stated.items() if value is not None})
    assert device.memory_bandwidth == pytest.approx(bandwidth * GB)
    assert device.memory_capacity == gib * 2**30
    assert device.memory_usable == USABLE.get(name)
    limits = device.sm_limits
    assert limits is not None
    assert (limits.threads, limits.shared_memory) == (threads, shared * 2**10)


@pytest.mark.parametrize("name", sorted(PUBLISHED))
def test_the_arithmetic_of_a_profile_by_hand(name: str, devices: dict[str, Device]) -> None:
    """The same rules as :mod:`simsched.profiles.check`, written out again."""
    device, units = devices[name], devices[name].units
    assert units.vector_lanes is not None
    assert units.matrix_units is not None
    vector = device.sms * units.vector_lanes * 2 * device.clocks["vector"]
    assert device.peaks["vector"]["fp32"] == pytest.approx(vector, rel=0.013)
    for dtype, rate in device.peaks["matrix"].items():
        per_clock = units.matrix_fma[dtype]
        assert per_clock.bit_count() == 1, "units do a power of two a clock"
        assert rate == pytest.approx(
            device.sms * units.matrix_units * per_clock * 2 * device.clocks["matrix"], rel=0.013
        )
    if device.memory_clock is not None and device.memory_bus is not None:
        assert device.memory_bandwidth == pytest.approx(device.memory_clock * device.memory_bus / 8 * 2, rel=0.013)
    assert device.peaks["matrix"]["fp16"] / device.peaks["vector"]["fp32"] <= MOST_HALF_TO_FP32


def test_most_bandwidths_follow_from_clock_and_bus() -> None:
    compared = {
        name
        for name in NAMES
        for check in checks(load_hardware(FOLDER / f"{name}.yaml"))
        if check.where.endswith("memory.bandwidth") and check.passed
    }
    unknown = {"h200_sxm", "mi250x_gcd", "mi300x", "orin_agx_64gb", "tpu_v5e"} | TOYS
    assert compared == set(NAMES) - unknown


@pytest.mark.parametrize("name", sorted(LAUNCHES))
def test_measured_launches(name: str, devices: dict[str, Device]) -> None:
    assert (devices[name].launch_ns, devices[name].graph_launch_ns) == LAUNCHES[name]


def test_what_launches_cost_the_host() -> None:
    """5 us a kernel, and 2.5 us a graph where it is NVIDIA's; nothing reliable is public on synchronisation."""
    hosts = {name: load_hardware(FOLDER / f"{name}.yaml").host for name in NAMES}
    assert all(host.mode == "free" for host in hosts.values()), "until a run asks for it, launches cost nothing"
    graphs = {name for name, host in hosts.items() if host.graph_ns} - TOYS
    assert graphs == (PUBLISHED.keys() | BOXES) - {"mi250x_gcd", "mi300x", "orin_agx_64gb"}
    assert {hosts[name].graph_ns for name in graphs} == {2500}
    assert {(hosts[name].sync_ns, hosts[name].event_ns) for name in set(NAMES) - TOYS} == {(0, 0)}


def test_other_devices(devices: dict[str, Device]) -> None:
    cpu, tpu = devices["epyc_7763"], devices["tpu_v5e"]
    assert cpu.sms * 32 * cpu.clocks["vector"] == pytest.approx(cpu.peaks["vector"]["fp32"], rel=0.001)
    assert cpu.memory_bandwidth == 8 * 3200e6 * 8, "eight channels of eight bytes"
    assert (tpu.peaks, tpu.memory_bandwidth) == ({"matrix": {"bf16": 197e12, "int8": 394e12}}, 819e9)


def test_the_box_holds_the_devices_of_their_own_profiles(devices: dict[str, Device]) -> None:
    box = load_hardware(FOLDER / "box_epyc7763_a100.yaml")
    with pytest.raises(UnknownNameError, match="unknown device of 'box_epyc7763_a100' 'gpus'; did you mean 'gpu'"):
        box.device("gpus")
    assert box.device("gpu") == devices["a100_sxm_40gb"]
    assert dataclasses.replace(box.device("cpu"), memory_capacity=None) == devices["epyc_7763"]
    link = box.link("gpu", "cpu")
    assert link is not None
    assert (link.latency_ns, link.bandwidth) == (10_000, pytest.approx(0.77 * 32e9, rel=0.002))


def test_the_box_of_four_has_nvlink_between_all_of_them(devices: dict[str, Device]) -> None:
    box = load_hardware(FOLDER / "box_epyc7763_4a100.yaml")
    gpus = [f"gpu{number}" for number in range(4)]
    assert [device.name for device in box.devices] == ["cpu", *gpus]
    assert dataclasses.replace(box.device("cpu"), memory_capacity=None) == devices["epyc_7763"]
    for name in gpus:
        assert dataclasses.replace(box.device(name), name="gpu") == devices["a100_sxm_40gb"]
        assert box.link("cpu", name) == Link("cpu", name, 10_000, 24.6e9)
    for a, b in itertools.combinations(gpus, 2):
        (hop,) = box.route(a, b)
        assert box.links[hop.link] == Link(a, b, 2_000, 90e9), "90 % of four links of 25 GB/s"
    assert len(box.links) == 4 + 6


def test_the_box_with_a_switch_shares_the_way_to_the_cpu(devices: dict[str, Device]) -> None:
    box = load_hardware(FOLDER / "box_4t4_switch.yaml")
    gpus = [f"gpu{number}" for number in range(4)]
    assert (box.switches, [device.name for device in box.devices]) == (("switch",), ["cpu", *gpus])
    assert box.device("cpu") == devices["epyc_7763"]
    assert all(dataclasses.replace(box.device(name), name="gpu") == devices["t4"] for name in gpus)
    uplinks = {box.route(name, "cpu")[-1] for name in gpus}
    assert len(uplinks) == 1, "all ways to the CPU end with the same link"
    for a, b in itertools.permutations(["cpu", *gpus], 2):
        route = box.route(a, b)
        assert sum(box.links[hop.link].latency_ns for hop in route) == 10_000
        assert {box.links[hop.link].bandwidth for hop in route} == {12.35e9}
        assert not {hop.link for hop in route} & {hop.link for hop in uplinks} or "cpu" in (a, b)


def test_the_toy_box_by_hand() -> None:
    box = load_hardware(FOLDER / "toy_box.yaml")
    toy = load_hardware(FOLDER / "toy_4sm.yaml").devices[0]
    assert dataclasses.replace(box.device("gpu1"), name="gpu", copy_engines=None) == toy
    assert box.route("gpu0", "gpu1") == (Hop(1, False), Hop(2, True))
    assert box.route("gpu0", "cpu") == (Hop(1, False), Hop(0, False))
    cpu = box.device("cpu")
    assert cpu.threads is not None
    assert speedup(cpu.threads, 2) == 1.6


@pytest.mark.parametrize("name", sorted(TOYS))
def test_toys_say_that_they_are_invented(name: str) -> None:
    profile = load_hardware(FOLDER / f"{name}.yaml")
    assert {source.kind for source in profile.sources.values()} == {"illustrative"}
    assert "illustrative" in profile.description


@pytest.mark.parametrize("name", sorted(set(NAMES) - TOYS))
def test_no_other_profile_has_invented_figures(name: str) -> None:
    profile = load_hardware(FOLDER / f"{name}.yaml")
    assert {source.kind for source in profile.sources.values()} <= {"measured", "datasheet", "derived"}


@pytest.mark.parametrize("name", sorted(PUBLISHED))
@pytest.mark.parametrize("factor", [2.0, 0.5, 1.07])
def test_a_wrong_peak_in_a_shipped_profile_is_found(name: str, factor: float) -> None:
    """Sparse for dense, one half for another, and GiB for GB, in each peak and the bandwidth."""
    profile = load_hardware(FOLDER / f"{name}.yaml")
    device = profile.devices[0]
    for unit, rates in device.peaks.items():
        for dtype, rate in rates.items():
            if (unit, dtype) == ("vector", "fp64"):
                continue  # derived from the SMs and the clock; nothing else depends on it
            peaks = {**device.peaks, unit: {**rates, dtype: rate * factor}}
            wrong = dataclasses.replace(profile, devices=(dataclasses.replace(device, peaks=peaks),))
            assert any(f"peaks.{unit}.{dtype}" in text for text in check_profile(wrong)), (unit, dtype)
    if device.memory_clock is not None:
        assert device.memory_bandwidth is not None
        changed = dataclasses.replace(device, memory_bandwidth=device.memory_bandwidth * factor)
        assert check_profile(dataclasses.replace(profile, devices=(changed,)))


def test_files_survive_a_reader_of_another_kind() -> None:
    """Each file is one plain YAML mapping whose devices have the number of streams that the profile has."""
    for name in NAMES:
        data = read_yaml((FOLDER / f"{name}.yaml").read_text("utf-8"), name).data
        assert [each["streams"] for each in data["devices"]] == [
            device.streams for device in load_hardware(FOLDER / f"{name}.yaml").devices
        ]
