"""Hosts, links, routes and variants of profiles: what a machine is beside its devices."""

from __future__ import annotations

import dataclasses
import itertools
import random
from pathlib import Path

import networkx as nx
import pytest

from simsched.cli import main
from simsched.hardware import Device, HardwareProfile, Hop, Link, SmLimits, Threads, lanes, procs
from simsched.output.recorded import read_run
from simsched.problem import make_problem
from simsched.profiles import (
    DEVICE_MODELS,
    LAUNCH_MODES,
    check_profile,
    host_text,
    link_rows,
    load_hardware,
    parse_profile,
    with_launch,
    with_model,
    with_streams,
)
from simsched.run import run
from tests.cli import invoke, objects
from tests.one_op import one_op

TWO_SOCKETS = HardwareProfile(
    "two",
    (Device("cpu"), Device("g0"), Device("g1"), Device("g2"), Device("alone")),
    (
        Link("g0", "left"),
        Link("left", "g1"),
        Link("left", "root"),
        Link("root", "cpu"),
        Link("right", "root"),
        Link("g2", "right"),
        Link("g0", "g2"),
        Link("cpu", "right"),
    ),
    switches=("left", "right", "root"),
)


def path(profile: HardwareProfile, a: str, b: str) -> list[str]:
    """Places on a route, which must join on to each other."""
    places = [a]
    for hop in profile.route(a, b):
        link = profile.links[hop.link]
        start, end = (link.a, link.b) if hop.forward else (link.b, link.a)
        assert start == places[-1]
        places.append(end)
    return places


def test_routes_have_the_fewest_hops_and_of_equal_ones_the_links_listed_first() -> None:
    assert TWO_SOCKETS.route("g0", "g1") == (Hop(0, True), Hop(1, True))
    assert TWO_SOCKETS.route("g1", "g0") == (Hop(1, False), Hop(0, False))
    assert TWO_SOCKETS.route("g0", "g2") == (Hop(6, True),), "the direct link, though listed late"
    assert path(TWO_SOCKETS, "g0", "cpu") == ["g0", "left", "root", "cpu"]
    assert path(TWO_SOCKETS, "g2", "cpu") == ["g2", "right", "cpu"]
    # Both ways from the CPU to 'right' cross two links after it; over 'root' would be three.
    assert path(TWO_SOCKETS, "cpu", "g2") == ["cpu", "right", "g2"]


def test_copies_pass_through_switches_but_not_through_devices() -> None:
    # g1 reaches g2 over switches alone; over g0, which has a link to g2, it would be shorter.
    assert path(TWO_SOCKETS, "g1", "g2") == ["g1", "left", "root", "right", "g2"]
    chain = HardwareProfile("chain", (Device("a"), Device("b"), Device("c")), (Link("a", "b"), Link("b", "c")))
    assert chain.route("a", "b") == (Hop(0, True),)
    assert chain.route("a", "c") == ()


def test_where_no_links_lead_there_is_no_route() -> None:
    assert TWO_SOCKETS.route("g0", "alone") == ()
    assert TWO_SOCKETS.route("alone", "g0") == ()
    assert TWO_SOCKETS.route("g0", "g0") == ()
    assert procs(3).route("p0", "p2") == ()


@pytest.mark.parametrize("seed", range(40))
def test_routes_against_all_shortest_paths_of_networkx(seed: int) -> None:
    draw = random.Random(seed)
    devices, switches = [f"d{number}" for number in range(4)], [f"s{number}" for number in range(4)]
    pairs = draw.sample(list(itertools.combinations([*devices, *switches], 2)), draw.randint(4, 14))
    links = tuple(Link(*(pair if draw.random() < 0.5 else pair[::-1])) for pair in pairs)
    profile = HardwareProfile("random", tuple(map(Device, devices)), links, switches=tuple(switches))
    number_of = {frozenset((link.a, link.b)): number for number, link in enumerate(links)}
    for a, b in itertools.permutations(devices, 2):
        graph = nx.Graph([(link.a, link.b) for link in links])
        graph.remove_nodes_from([device for device in devices if device not in (a, b)])
        connected = a in graph and b in graph and nx.has_path(graph, a, b)
        shortest = nx.all_shortest_paths(graph, a, b) if connected else ()
        routes = [[number_of[frozenset(step)] for step in itertools.pairwise(places)] for places in shortest]
        assert [hop.link for hop in profile.route(a, b)] == min(routes, default=[])
        path(profile, a, b)


def test_every_field_of_a_profile_is_in_its_content_hash() -> None:
    """A change of any field, of any part, changes the hash; names and texts beside the figures do not."""
    device = Device("d", streams=2, sm_limits=SmLimits(), threads=Threads(1), resources={"sms": 2})
    profile = HardwareProfile("p", (device,), (Link("d", "s"),), switches=("s",))
    changed: list[HardwareProfile] = [dataclasses.replace(profile, switches=("s", "t"))]
    other: dict[str, object] = {
        "stream_priorities": (0, 1), "table": ((2, 1.5),), "kind": "cpu", "model": "blocks", "law": "amdahl",
        "mode": "graph", "sharing": "unshared", "efficiency": dataclasses.replace(device.efficiency, matrix=0.5),
        "units": dataclasses.replace(device.units, vector_lanes=3), "sm_limits": None, "threads": None,
    }  # fmt: skip

    def variants(value: object) -> list[object]:
        found = []
        for item in dataclasses.fields(value):  # type: ignore[arg-type]
            now = getattr(value, item.name)
            new = other.get(item.name, f"{now}x" if isinstance(now, str) else {"x": 1} if isinstance(now, dict) else 97)
            new = 97 if new == now else new
            found.append(dataclasses.replace(value, **{item.name: new}))  # type: ignore[type-var]
        return found

    changed += [dataclasses.replace(profile, devices=(each,)) for each in variants(device)]  # type: ignore[arg-type]
    for part in ("threads", "sm_limits", "efficiency", "units"):
        inner = [dataclasses.replace(device, **{part: each}) for each in variants(getattr(device, part))]  # type: ignore[arg-type]
        changed += [dataclasses.replace(profile, devices=(each,)) for each in inner]
    changed += [dataclasses.replace(profile, links=(each,)) for each in variants(profile.links[0])]  # type: ignore[arg-type]
    changed += [dataclasses.replace(profile, host=each) for each in variants(profile.host)]  # type: ignore[arg-type]
    hashes = {profile.content_hash, *(each.content_hash for each in changed)}
    doubled = 3  # a device's units, limits and threads that are gone, and so on, may be reached in two ways
    assert len(hashes) > len(changed) - doubled
    assert profile.content_hash not in {each.content_hash for each in changed}
    assert dataclasses.replace(profile, name="q", description="other").content_hash == profile.content_hash


# --- variants ------------------------------------------------------------------------------------------------------


def test_streams_that_stay_keep_their_priorities_and_added_ones_have_the_default() -> None:
    profile = HardwareProfile("p", (Device("a", streams=3, stream_priorities=(-1, 2, -3)), Device("b", streams=3)))
    assert [each.stream_priorities for each in with_streams(profile, 2).devices] == [(-1, 2), ()]
    assert [each.stream_priorities for each in with_streams(profile, 5).devices] == [(-1, 2, -3, 0, 0), ()]
    assert with_streams(profile, 4, "b").devices[0] == profile.devices[0]


def test_a_launch_mode_changes_the_host_alone() -> None:
    profile = load_hardware("a100_sxm_80gb")
    for mode in LAUNCH_MODES:
        changed = with_launch(profile, mode)
        assert changed.host == dataclasses.replace(profile.host, mode=mode)
        assert changed.devices == profile.devices
        assert with_launch(changed, "free").content_hash == profile.content_hash
    zero = parse_profile(
        "devices: [{name: d, kind: gpu, model: lanes, streams: 1}]\nhost: {launch: 0 us, graph_launch: 0 us}"
    )
    assert with_launch(zero, "serial").host.mode == "serial", "nothing, if the profile says so, is a cost too"
    assert with_launch(zero, "graph").host.mode == "graph"


def test_a_device_model_changes_the_devices_that_can_have_it() -> None:
    box = dataclasses.replace(load_hardware("box_epyc7763_a100"))
    mixed = dataclasses.replace(box, devices=(*box.devices, Device("npu")))
    for model in DEVICE_MODELS:
        changed = with_model(mixed, model)
        assert [each.model for each in changed.devices] == [model, model, "lanes"]
        assert with_model(changed, "sm_share").content_hash == mixed.content_hash
    assert [each.model for each in with_model(mixed, "blocks", "gpu").devices] == ["sm_share", "blocks", "lanes"]
    assert with_model(lanes(3), "lanes").content_hash == lanes(3).content_hash


def test_a_kernel_in_a_graph_costs_the_device_less_where_that_is_known() -> None:
    profile = load_hardware("a100_sxm_80gb")
    graph = one_op("Relu", [(1, 64)], (1, 64))
    costs = [make_problem(graph, with_launch(profile, mode)).cost(0) for mode in LAUNCH_MODES]
    assert [cost.launch_ns for cost in costs] == [2600, 2600, 1340]
    assert costs[0].duration - costs[2].duration == 1260
    unknown = dataclasses.replace(profile.devices[0], graph_launch_ns=None)
    again = with_launch(dataclasses.replace(profile, devices=(unknown,)), "graph")
    assert make_problem(graph, again).cost(0).launch_ns == 2600


# --- what is shown and checked -------------------------------------------------------------------------------------

SMALL = """\
description: a small machine
devices:
  - {name: cpu, kind: cpu, model: sm_share, streams: 1, cores: 7, memory: {bandwidth: 40 GB/s},
     threads: {per_operator: 3, law: amdahl, serial: 0.1, core_bandwidth: 11 GB/s}}
  - {name: gpu, kind: gpu, model: blocks, streams: 1, sms: 3, launch: 3 us, launch_in_graph: 2 us}
switches: [hub]
links:
  - {between: [cpu, hub], latency: 2 us, bandwidth: 13 GB/s, sharing: half_duplex}
  - {between: [hub, gpu], bandwidth: 17 GB/s}
host: {launch: 5 us, mode: serial, threads: 2, sync: 7 us, event: 300 ns}
"""


def test_links_and_host_are_shown() -> None:
    profile = parse_profile(SMALL, "small")
    assert [(row.link, row.latency, row.bandwidth, row.sharing) for row in link_rows(profile)] == [
        ("cpu - hub", "2 us", "13 GB/s", "half duplex"),
        ("hub - gpu", "-", "17 GB/s", "full duplex"),
    ]
    assert (
        host_text(profile) == "launches one after the other (serial), 5 us each, on 2 threads; sync 7 us; event 300 ns"
    )
    graph = dataclasses.replace(profile, host=dataclasses.replace(profile.host, mode="graph", graph_ns=2500))
    assert host_text(graph) == "launches everything as one graph, 2.5 us; event 300 ns"
    assert host_text(lanes(2)) == "launches cost the host nothing"


def test_profile_show_tells_links_switches_and_host(tmp_path: Path) -> None:
    file = tmp_path / "small.yaml"
    file.write_text(SMALL)
    text = invoke("profile", "show", str(file)).output
    assert "cpu - hub     2 us    13 GB/s  half duplex" in text
    assert "switches: hub" in text
    assert "host: launches one after the other (serial), 5 us each, on 2 threads" in text
    (shown,) = objects("profile", "show", str(file))
    assert shown["links"][1] == {"link": "hub - gpu", "latency": "-", "bandwidth": "17 GB/s", "sharing": "full duplex"}
    assert shown["switches"] == ["hub"]
    assert shown["host"] == {
        "launch_ns": 5000, "mode": "serial", "threads": 2, "graph_ns": 0, "sync_ns": 7000, "event_ns": 300,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("old", "new", "found"),
    [
        ("launch_in_graph: 2 us", "launch_in_graph: 4 us",
         ["gpu.launch_in_graph: 4 us must be at most the launch outside of one, 3 us"]),
        ("core_bandwidth: 11 GB/s", "core_bandwidth: 41 GB/s",
         ["cpu.threads.core_bandwidth: 41 GB/s must be at most that of all cores, 40 GB/s"]),
        ("switches: [hub]", "switches: [hub, spare]",
         ["switches.spare: 0 of the links end here, so that it joins nothing; remove it"]),
        ("description: a small machine", "description: unchanged", []),
    ],
)  # fmt: skip
def test_what_cannot_be_right_is_found(old: str, new: str, found: list[str]) -> None:
    assert SMALL.count(old) == 1
    assert check_profile(parse_profile(SMALL.replace(old, new), "small")) == found


# --- the way to runs -------------------------------------------------------------------------------------------------


def test_options_reach_the_problem_and_the_record(tmp_path: Path) -> None:
    out = tmp_path / "out"
    words = ["run", "residual", "-H", "box_epyc7763_a100", "--place", "Add=cpu; *=gpu", "--device-model", "lanes"]
    done = invoke(*words, "--no-check", "--output", str(out))
    assert done.exit_code == 0, done.output
    found = read_run(next(out.glob("*/*/run.json")).parent).problem
    assert [device.model for device in found.devices] == ["lanes", "lanes"]
    graph = found.graph
    kinds = {graph.op_types[op]: found.devices[devices[0]].name for op, devices in sorted(found.allowed.items())}
    assert set(kinds.values()) == {"cpu", "gpu"}
    assert all((name == "cpu") == (kind == "Add") for kind, name in kinds.items())
    manifest = (out / "manifest.json").read_text()
    assert '"place": "Add=cpu; *=gpu"' in manifest
    assert '"device_model": "lanes"' in manifest


def test_all_values_of_a_machine_survive_recording(tmp_path: Path) -> None:
    profile = parse_profile(SMALL, "small")
    devices = (
        dataclasses.replace(profile.devices[0], stream_priorities=(-4,), model="lanes"),
        dataclasses.replace(profile.devices[1], model="lanes"),
    )
    table = Threads(2, "table", table=((2, 1.5), (7, 3.0)))
    profile = dataclasses.replace(
        profile,
        devices=(*devices, dataclasses.replace(devices[0], name="other", threads=table)),
        host=dataclasses.replace(profile.host, mode="free"),
    )
    from simsched.output.export import write_comparisons
    from simsched.result import Comparison
    from simsched.scenario import Scenario

    result = run("residual", "serial", profile, check=False)
    comparison = Comparison(result.problem, (result,), (), result.memory, result.actual, ("serial",))
    write_comparisons(tmp_path / "out", [("residual", comparison)], Scenario("small"))
    again = read_run(next((tmp_path / "out").glob("*/*/run.json")).parent).problem.hardware
    assert again.content_hash == profile.content_hash
    assert (again.devices, again.links, again.host, again.switches) == (
        profile.devices, profile.links, profile.host, profile.switches,
    )  # fmt: skip


@pytest.mark.parametrize("command", ["run", "compare", "explain", "plot"])
def test_commands_that_simulate_have_the_options(command: str) -> None:
    text = invoke(command, "--help").output
    assert all(option in text for option in ("--launch", "--device-model", "--place")), text


def test_the_command_line_answers_what_cannot_be() -> None:
    assert main is not None
    cases = [
        (("--launch", "grap"), "--launch: 'grap' is not a choice; did you mean 'graph'?"),
        (("--device-model", "blocs"), "--device-model: 'blocs' is not a choice; did you mean 'blocks'?"),
        (("--place", "fastst"), "--place: 'fastst': 'fastst' is not a rule; did you mean 'fastest'?"),
        (("--place", "*=gpu"), "placement rule: '*=gpu': 'lanes:2' has no device 'gpu'; expected one of: d0"),
        (("--launch", "serial"), "lanes:2: launch mode 'serial' needs to know what a launch costs the host"),
        (("--device-model", "blocks"), "lanes:2: device model 'blocks' shares SMs, and the device has none"),
    ]
    for words, message in cases:
        done = invoke("run", "residual", "-H", "lanes:2", *words)
        assert done.exit_code == 2
        assert message in " ".join(done.output.split()), done.output
