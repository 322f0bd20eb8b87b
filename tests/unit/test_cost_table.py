"""Measured durations: which row decides, what is missing, and malformed tables."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from simsched.cost.base import KernelCost
from simsched.cost.roofline import Roofline
from simsched.cost.table import Key, Table
from simsched.cost.table_file import load_table, parse_table
from simsched.errors import ConfigError, CostError
from simsched.graph.builder import GraphBuilder
from simsched.graph.model import Graph, OpId
from simsched.hardware import Device, procs
from simsched.problem import make_problem
from simsched.profiles import load_hardware
from simsched.scenario import load_cost_model

NETWORK = """\
op_type, shape, device, duration_us, operator
Conv, 1x64x56x56, , 12.5,
Conv, , , 31,
Conv, 1x64x56x56, p1, 7,
Relu, , , 0.003,
, , , 41, conv2
, , p1, 43, conv2
"""


def network() -> Graph:
    builder = GraphBuilder("net")
    size = {"x": 56, "a": 56, "b": 28, "c": 28, "d": 28}
    for name, side in size.items():
        builder.add_tensor(name, shape=(1, 64, side, side), dtype="fp32")
    builder.add_op("conv1", "Conv", inputs=["x"], outputs=["a"])
    builder.add_op("conv2", "Conv", inputs=["a"], outputs=["b"])
    builder.add_op("conv3", "Conv", inputs=["b"], outputs=["c"])
    builder.add_op("relu", "Relu", inputs=["c"], outputs=["d"])
    return builder.build()


def test_the_row_that_says_most_decides() -> None:
    problem = make_problem(network(), procs(2), parse_table(NETWORK))
    # type and shape; name; type alone; type alone
    assert list(problem.durations(0)) == [12_500, 41_000, 31_000, 3]
    # the same, with a row for this device where there is one
    assert list(problem.durations(1)) == [7_000, 43_000, 31_000, 3]
    assert {problem.cost(op).bound for op in range(4)} == {"measured"}


def test_a_measured_kernel_keeps_its_work_and_fills_sms() -> None:
    device = load_hardware("toy_4sm").devices[0]
    cost = Table({Key(op_type="Relu"): 17})(network(), 3, device)
    # 64 x 28 x 28 = 50,176 elements, 49 blocks, on four SMs; fp32 in and out
    # of which comparisons are 50.176 ns, at 1,000 a ns
    assert cost == KernelCost(17, flops=50_176, bytes=2 * 4 * 50_176, sms=4, bound="measured", peak_ns=50.176)


def test_a_measured_kernel_has_the_grid_of_a_computed_one() -> None:
    builder = GraphBuilder("product")
    for name, shape in (("x", (1600, 640)), ("w", (640, 704)), ("y", (1600, 704))):
        builder.add_tensor(name, shape=shape, dtype="fp32")
    builder.add_op("mm", "MatMul", inputs=["x", "w"], outputs=["y"])
    graph, v100 = builder.build(), load_hardware("v100_sxm2_16gb").devices[0]
    computed, cost = Roofline()(graph, 0, v100), Table({Key("mm"): 999_999})(graph, 0, v100)
    assert (cost.grid, cost.block, cost.peak_ns) == (computed.grid, computed.block, computed.peak_ns)
    # 1,441,792,000 FLOP are 114,792 ns of the whole device: 9.2 of 80 SMs' worth of 999,999 ns; but its 143 blocks of
    # 128 x 64 need 36 SMs of four each
    assert (computed.grid, cost.sms) == (143, 36)
    assert cost.launch_ns == 0


def test_missing_rows_are_listed_all_at_once_before_the_run() -> None:
    with pytest.raises(CostError) as caught:
        make_problem(network(), procs(1), parse_table("op_type,duration\nRelu,3 ns\n", "relu.csv"))
    assert str(caught.value) == (
        "relu.csv: no duration for 3 of 4 operators on device 'p0'; add rows for them, "
        "or fall back to another cost model\n"
        "  3 Conv: 'conv1' (1x64x56x56), 'conv2' (1x64x28x28), 'conv3' (1x64x28x28)"
    )


def test_a_long_list_is_cut_and_counted() -> None:
    builder = GraphBuilder("wide")
    for number in range(23):
        builder.add_op(f"n{number}", "Wobble")
    builder.add_op("other", "Wiggle")
    with pytest.raises(CostError) as caught:
        make_problem(builder.build(), procs(1), Table({}))
    first, wobbles, wiggles = str(caught.value).splitlines()
    assert first.startswith("table: no duration for 24 of 24 operators")
    assert wobbles.startswith("  23 Wobble: 'n0', 'n1', ")
    assert wobbles.endswith("'n19' and 3 more")
    assert wiggles == "  1 Wiggle: 'other'"


def test_views_need_no_row() -> None:
    builder = GraphBuilder("view")
    builder.add_tensor("x", shape=(6,), dtype="fp32")
    builder.add_tensor("y", shape=(2, 3), dtype="fp32")
    builder.add_op("v", "Reshape", inputs=["x"], outputs=["y"])
    device = load_hardware("toy_4sm").devices[0]
    assert Table({})(builder.build(), 0, device) == KernelCost(0, bound="none")
    assert Table({Key(op_type="Reshape"): 19})(builder.build(), 0, device).duration == 19


def test_another_model_stands_in_only_where_it_is_asked_to() -> None:
    device = load_hardware("toy_4sm").devices[0]
    table = Table({Key("conv2"): 13}, fallback=Roofline())
    assert table(network(), 1, device).duration == 13
    assert table(network(), 3, device) == Roofline()(network(), 3, device)


def test_tables_and_tf32_by_the_names_of_the_command_line(tmp_path: Path) -> None:
    path = tmp_path / "times.csv"
    path.write_text("operator,duration\nconv2,13 ns\n")
    device = load_hardware("toy_4sm").devices[0]
    strict, lenient = load_cost_model(f"table:{path}"), load_cost_model(f"table+roofline:{path}")
    assert strict is not None
    assert lenient is not None
    assert lenient(network(), 3, device) == Roofline()(network(), 3, device)
    with pytest.raises(CostError):
        strict(network(), 3, device)
    assert load_cost_model("roofline:tf32") == Roofline(fp32_math="tf32")
    assert load_cost_model("roofline") is None


def test_a_function_is_a_cost_model() -> None:
    def by_length(graph: Graph, op: OpId, device: Device) -> KernelCost:
        return KernelCost(len(graph.names[op]) * 11)

    assert list(make_problem(network(), procs(1), by_length).durations()) == [55, 55, 55, 44]


def test_json_says_the_same_as_csv(tmp_path: Path) -> None:
    rows = [
        {"op_type": "Conv", "shape": [1, 64, 56, 56], "duration": "12.5 us"},
        {"op_type": "Conv", "duration_ns": 31_000},
        {"op_type": "Conv", "shape": "1, 64, 56, 56", "device": "p1", "duration_ms": 0.007},
        {"op_type": "Relu", "duration_us": 0.003},
        {"operator": "conv2", "duration_s": 41e-6},
        {"operator": "conv2", "device": "p1", "duration": "43us"},
    ]
    (tmp_path / "times.json").write_text(json.dumps(rows))
    (tmp_path / "times.csv").write_text(NETWORK)
    assert load_table(tmp_path / "times.json").durations == load_table(tmp_path / "times.csv").durations


FAULTS = [
    ("", "t.csv: expected a header line, e.g. 'op_type,shape,duration_us'; columns: "
     "operator, op_type, shape, device, duration, duration_ns, duration_us, duration_ms, duration_s"),
    ("op_type,duration\n", "t.csv:1:1: the table has no rows"),
    ("op_tpe,duration\nConv,3 us\n", "t.csv:1:1: unknown column 'op_tpe'; did you mean 'op_type'?"),
    ("op_type,op_type,duration\nConv,Conv,3 us\n", "t.csv:1:1: column 'op_type' is given twice"),
    ("op_type,duration\nConv,3\n", "t.csv:2:1: [0].duration: '3' has no unit; write '3 us' or '3 ms'"),
    ("op_type,duration_us\nConv,3 us\n", "t.csv:2:1: [0].duration_us: expected a bare number of us, got '3 us'"),
    ("op_type,duration_us\nConv,-3\n", "t.csv:2:1: [0].duration_us: a duration cannot be negative: -3"),
    ("op_type,duration_us\nConv,.nan\n",
     "t.csv:2:1: [0].duration_us: .nan is not a finite number; quote it if it is text"),
    ("op_type,duration\nConv,\n",
     "t.csv:2:1: [0]: no duration; give 'duration' with a unit, or 'duration_us' as a bare number"),
    ("op_type,duration,duration_us\nConv,3 us,3\n",
     "t.csv:2:1: [0]: two durations; give 'duration' with a unit, or 'duration_us' as a bare number"),
    ("op_type,shape,duration\nConv,1x?x3,3 us\n",
     "t.csv:2:1: [0].shape: expected the shape of an output, such as '1x64x56x56', got '1x?x3'"),
    ("operator,op_type,duration\na,Conv,3 us\n",
     "t.csv:2:1: [0]: a row is about one 'operator', by name, or about an 'op_type': give one of them"),
    ("operator,shape,duration\na,1x2,3 us\n",
     "t.csv:2:1: [0].shape: a shape goes with an 'op_type'; an operator's name says all"),
    ("op_type,duration\nConv,3 us\n\nConv,5 us\n", "t.csv:4:1: [1]: the same as row in line 2; keep one of them"),
    ("op_type,shape,duration\nConv,1,2,3 us\n",
     "t.csv:2:1: 4 cells, but the header has 3 columns; quote cells that hold a comma"),
    ('op_type,duration\n"Conv,3 us\n', "t.csv:2:1: not well-formed CSV: unexpected end of data"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "expected"), FAULTS, ids=range(len(FAULTS)))
def test_malformed_tables(text: str, expected: str) -> None:
    with pytest.raises(ConfigError) as caught:
        parse_table(text, "t.csv")
    assert str(caught.value) == expected


def test_all_faults_of_a_table_at_once() -> None:
    with pytest.raises(ConfigError) as caught:
        parse_table("op_type,duration\nConv,3\nRelu,fast\n,7 us\n", "t.csv")
    assert str(caught.value) == (
        "t.csv: 3 problems\n"
        "  2:1  [0].duration: '3' has no unit; write '3 us' or '3 ms'\n"
        "  3:1  [1].duration: 'fast' is not a number with a unit\n"
        "  4:1  [2]: a row is about one 'operator', by name, or about an 'op_type': give one of them"
    )


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        ({"op_type": "Conv"}, "1:1: expected a list of rows, such as [{'op_type': 'Conv', 'duration': '12.5 us'}]"),
        ([7], "1:2: [0]: expected a row, such as {'op_type': 'Conv', 'duration': '12.5 us'}"),
        ([{"op_type": 7, "duration": "3 us"}], "1:14: [0].op_type: expected a name, got 7"),
        ([{"op_type": "Conv", "duration_us": True}], "1:37: [0].duration_us: expected a bare number of us, got True"),
        ([{"op_type": "Conv", "durration": "3 us"}], None),
    ],
)
def test_malformed_json_tables(tmp_path: Path, data: object, expected: str | None) -> None:
    path = tmp_path / "t.json"
    path.write_text(json.dumps(data))
    with pytest.raises(ConfigError) as caught:
        load_table(path)
    if expected is None:
        assert "unknown column 'durration'; did you mean 'duration'?" in str(caught.value)
    else:
        assert str(caught.value) == f"{path}:{expected}"


def test_tables_of_other_kinds(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"unknown kind of table; expected a name that ends in \.csv"):
        load_table(tmp_path / "times.xlsx")
    with pytest.raises(ConfigError, match="cannot be read"):
        load_table(tmp_path / "absent.csv")
