# ruff: noqa: E501 - messages are written whole, as users read them
"""Views and operators in place: what graphs say, what is refused, the orders that follow, the bytes that are saved."""

from __future__ import annotations

import re

import pytest

from simsched.analysis.check import check_trace
from simsched.analysis.liveness import sequence_liveness
from simsched.config.yaml_reader import read_yaml
from simsched.engine.memory import bytes_alone
from simsched.engine.residency import Residency
from simsched.engine.simulator import simulate
from simsched.errors import GraphError, OutOfMemoryError
from simsched.graph.builder import GraphBuilder
from simsched.graph.dump import dump_graph
from simsched.graph.io import graph_from_document
from simsched.graph.lifetimes import frugal_order, sequential_peak
from simsched.graph.model import DependencyKind, Graph
from simsched.graph.nx import from_networkx, to_networkx
from simsched.graph.pipeline import microbatched
from simsched.hardware import lanes, procs
from simsched.run import run
from simsched.schedulers.serial import Serial
from simsched.schedulers.topological import Topological
from tests.builders import problem_of, with_memory

CHAIN = """
name: chain
time_unit: tick
operators:
  - {name: conv, duration: 5, outputs: [x]}
  - {name: reshape, duration: 1, inputs: [x], outputs: [flat], alias: {flat: x}}
  - {name: norm, duration: 3, inputs: [flat], outputs: [y]}
  - {name: relu, duration: 2, inputs: [x], outputs: [z], inplace: {z: x}}
  - {name: last, duration: 7, inputs: [z, y], outputs: [out]}
tensors:
  - {name: x, bytes: 11}
  - {name: flat, bytes: 11}
  - {name: z, bytes: 11}
  - {name: y, bytes: 3}
  - {name: out, bytes: 2, kind: output}
"""


def graph_of(text: str) -> Graph:
    return graph_from_document(read_yaml(text, "f.yaml"))


def wars(graph: Graph) -> list[tuple[str, str, str]]:
    rows = [row for row in graph.dependencies() if row.kind is DependencyKind.WAR]
    return [(graph.names[row.source], graph.names[row.target], row.via) for row in rows]


# --- orders ---------------------------------------------------------------------------------------------------------


def test_who_overwrites_waits_for_the_readers_of_the_old_value_and_its_views():
    assert wars(graph_of(CHAIN)) == [("reshape", "relu", "x"), ("norm", "relu", "x")]


def test_the_orders_do_not_depend_on_the_order_of_the_file():
    head, rows, tail = re.split("operators:\n|tensors:\n", CHAIN)
    back = "".join(reversed([line + "\n" for line in rows.splitlines()]))
    graph = graph_of(f"{head}operators:\n{back}tensors:\n{tail}")
    assert sorted(wars(graph)) == [("norm", "relu", "x"), ("reshape", "relu", "x")]


def test_a_chain_in_place_orders_only_the_readers_of_each_value():
    builder = GraphBuilder("chain", time_unit="tick")
    for name in ("t", "u", "v"):
        builder.add_tensor(name, bytes=7)
    builder.add_op("make", duration=1, outputs=["t"])
    builder.add_op("read_t", duration=1, inputs=["t"])
    builder.add_op("one", duration=1, inputs=["t"], outputs=["u"], inplace={"u": "t"})
    builder.add_op("read_u", duration=1, inputs=["u"])
    builder.add_op("two", duration=1, inputs=["u"], outputs=["v"], inplace={"v": "u"})
    assert wars(builder.build()) == [("read_t", "one", "t"), ("read_u", "two", "u")]


def test_a_graph_without_sharing_has_the_hash_that_it_had():
    plain, shared = GraphBuilder("g", time_unit="tick"), GraphBuilder("g", time_unit="tick")
    for builder, alias in ((plain, None), (shared, {"u": "t"})):
        builder.add_op("a", duration=1, outputs=["t"])
        builder.add_op("b", duration=1, inputs=["t"], outputs=["u"], alias=alias)
    assert plain.build().content_hash != shared.build().content_hash
    assert plain.build().content_hash == "19f37428c348370264a11e9b8d9dd525bf135715972c4b6e8e3bf7ac13425b19"
    assert plain.build().shares == {}


# --- what is refused ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("{flat: x}", "{flt: x}", "6:77: operators[1].alias.flt: operator 'reshape' has no output 'flt'; did you mean 'flat'?"),
        ("{flat: x}", "{flat: y}", "6:78: operators[1].alias.flat: operator 'reshape' has no input 'y'; expected one of: x"),
        ("{z: x}", "{z: x}, alias: {z: x}", "8:71: operators[3].inplace.z: 'z' is stated under 'alias' too; a view overwrites nothing"),
        ("{name: z, bytes: 11}", "{name: z, bytes: 13}", "8:71: operators[3].inplace.z: 'z' has 13 B and cannot share the buffer of 'x', which has 11 B"),
        ("{name: flat, bytes: 11}", "{name: flat, bytes: 11, kind: output}", "8:71: operators[3].inplace.z: 'flat' is an output of the graph and cannot be overwritten in place"),
        ("outputs: [y]}", "outputs: [y], inplace: {y: flat}}", "8:71: operators[3].inplace.z: 'x' is overwritten by 'norm' and again by 'relu'; the second can only overwrite what the first has made"),
        ("inputs: [flat]", "inputs: [flat, z]", "8:71  operators[3].inplace.z: norm -> relu, which overwrites 'x' in place"),
    ],
)  # fmt: skip
def test_what_cannot_share_is_refused_with_its_place(old: str, new: str, message: str):
    assert CHAIN.count(old) == 1
    with pytest.raises(GraphError) as caught:
        graph_of(CHAIN.replace(old, new))
    assert message in str(caught.value)


def test_views_of_each_other_are_a_cycle_like_any_other():
    builder = GraphBuilder("loop", time_unit="tick")
    builder.add_op("a", duration=1, inputs=["y"], outputs=["x"], alias={"x": "y"})
    builder.add_op("b", duration=1, inputs=["x"], outputs=["y"], inplace={"y": "x"})
    with pytest.raises(GraphError, match="the graph has a cycle: a -> b -> a"):
        builder.build()


def test_a_parameter_may_be_overwritten_and_stays_resident():
    builder = GraphBuilder("step", time_unit="tick")
    builder.add_tensor("w", bytes=101, kind="parameter")
    builder.add_tensor("new", bytes=101)
    builder.add_op("forward", duration=2, inputs=["w"])
    builder.add_op("update", duration=3, inputs=["w"], outputs=["new"], inplace={"new": "w"})
    graph = builder.build()
    assert wars(graph) == [("forward", "update", "w")]
    trace = run(graph, hardware=lanes(2), scheduler="topological").trace
    assert trace.memory.curve(0) == [(0, 101)]
    assert trace.start[1] == 2


# --- other forms ----------------------------------------------------------------------------------------------------


def test_networkx_and_plain_data_keep_what_is_shared():
    graph = graph_of(CHAIN)
    for again in (from_networkx(to_networkx(graph)), graph_from_document(read_yaml(str(dump_graph(graph)), "f.yaml"))):
        assert again.content_hash == graph.content_hash
        assert wars(again) == wars(graph)
        assert (again.aliases, again.inplace) == ({1: 0}, {2: 0})


def test_each_microbatch_has_its_own_buffers():
    graph = microbatched(graph_of(CHAIN), 2)
    assert wars(graph)[2:] == [("mb1/reshape", "mb1/relu", "mb1/x"), ("mb1/norm", "mb1/relu", "mb1/x")]
    assert len(graph.shares) == 4


# --- bytes ----------------------------------------------------------------------------------------------------------


def test_bytes_of_a_run_by_hand():
    """The 11 B of x serve as flat and z too, to the end of last at 18; y takes 3 B from 6 on, the output 2 B from 11."""
    graph = graph_of(CHAIN)
    done = run(graph, hardware=lanes(1), scheduler="topological", memory="block")
    assert done.trace.memory.curve(0) == [(0, 11), (6, 14), (11, 16), (18, 2)]
    assert done.valid
    liveness = sequence_liveness(done.problem)
    assert (liveness.live, liveness.final) == ((11, 11, 14, 14, 16), 2)
    workspace = [0] * 5
    assert sequential_peak(graph, range(5), workspace) == 16
    assert frugal_order(graph, workspace)[1] == 16


def test_the_smallest_memory_that_does():
    graph = graph_of(CHAIN)
    problem = problem_of(graph, lanes(1))
    assert bytes_alone(problem, 0) == [11, 11, 14, 11, 16]
    assert run(graph, hardware=with_memory(lanes(1), 16), scheduler="memory_aware", memory="strict").valid
    with pytest.raises(OutOfMemoryError, match=r"'last'.*needs 16 B"):
        run(graph, hardware=with_memory(lanes(1), 15), scheduler="topological", memory="block")


def test_the_referee_wants_shared_bytes_counted_once():
    problem = problem_of(graph_of(CHAIN), lanes(1))
    trace = simulate(problem, Topological())
    assert check_trace(problem, trace) == []
    trace.memory.live[1] += 11
    assert check_trace(problem, trace)[0].startswith("memory: ")


def test_a_returned_view_keeps_its_buffer():
    builder = GraphBuilder("view", time_unit="tick")
    builder.add_tensor("t", bytes=7)
    builder.add_tensor("part", bytes=5, kind="output")
    builder.add_op("a", duration=2, outputs=["t"])
    builder.add_op("b", duration=3, inputs=["t"], outputs=["part"], alias={"part": "t"})
    done = run(builder.build(), hardware=lanes(1), scheduler=Serial())
    assert done.trace.memory.curve(0) == [(0, 7)]
    assert sequence_liveness(done.problem).final == 7


def test_a_view_made_elsewhere_shares_the_copy():
    """a makes 7 B on p0; b on p1 makes a view of 5 B of its copy, which c reads on p1 and d on p2."""
    builder = GraphBuilder("elsewhere", time_unit="tick")
    builder.add_tensor("t", bytes=7)
    builder.add_tensor("v", bytes=5)
    builder.add_op("a", duration=2, outputs=["t"], device="p0")
    builder.add_op("b", duration=3, inputs=["t"], outputs=["v"], alias={"v": "t"}, device="p1")
    builder.add_op("c", duration=5, inputs=["v"], device="p1")
    builder.add_op("d", duration=11, inputs=["v"], device="p2")
    problem = problem_of(builder.build(), procs(3))
    memory = Residency(problem)
    memory.start(0, 0, 0)
    memory.finish(0, 0, 2)
    assert (memory.need(1, 1), memory.delta(1, 1), memory.delta(1, 0)) == (7, 7, 0)
    memory.start(1, 1, 2)
    memory.finish(1, 1, 5)
    assert memory.live == [0, 7, 0], "nobody reads t any more, but its copy holds v"
    assert memory.alive(1, ()) == [0]
    assert (memory.need(2, 1), memory.delta(2, 1), memory.need(3, 2)) == (0, 0, 5)
    memory.start(2, 1, 5)
    memory.finish(2, 1, 10)
    assert memory.live == [0, 7, 0]
    memory.start(3, 2, 10)
    assert memory.live == [0, 7, 5]
    memory.finish(3, 2, 21)
    assert memory.live == [0, 0, 0]
    assert bytes_alone(problem, 2) == [7, 7, 5, 5]
