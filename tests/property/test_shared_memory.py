"""Tensors that share buffers, on random graphs: the engine, the referee and the orders against the definition."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from copy import deepcopy

import pytest

from simsched.analysis.check import check_trace
from simsched.analysis.liveness import sequence_liveness
from simsched.engine.memory import bytes_alone
from simsched.engine.residency import Residency
from simsched.engine.simulator import simulate
from simsched.errors import GraphError, OutOfMemoryError
from simsched.graph.builder import GraphBuilder
from simsched.graph.lifetimes import frugal_order, sequential_peak
from simsched.graph.model import Graph, TensorKind
from simsched.hardware import lanes, procs
from simsched.problem import Problem, make_problem
from simsched.schedulers.registry import make_scheduler
from simsched.trace import Trace
from tests.builders import problem_of, with_memory
from tests.property.test_reference_engine import engine_says, reference_says
from tests.reference.cases import MODES, SPECS, Case, drawn_hardware

SEEDS = range(40)


def sharing_graph(seed: int, operators: int = 9, durations: Sequence[int] = (1, 2, 3, 5, 7)) -> Graph:
    """A graph in which about every other operator makes a view or works in place, where that is allowed."""
    rng = random.Random(seed)
    rows: list[dict] = []
    sizes = {"w": 41, "i": 17}
    kinds = {"w": "parameter", "i": "input"}
    for op in range(operators):
        known = list(sizes)
        inputs = rng.sample(known, rng.randint(1, min(3, len(known))))
        row = {"name": f"v{op}", "duration": rng.choice(durations), "inputs": inputs, "outputs": []}
        for number in range(rng.randint(0, 2)):
            name = f"t{op}{'ab'[number]}"
            row["outputs"].append(name)
            sizes[name] = rng.choice((0, 2, 3, 11, 23))
            kinds[name] = rng.choice(("activation", "activation", "activation", "output"))
        if rng.random() < 0.3:
            row["workspace"] = rng.choice((5, 13))
        rows.append(row)
        if not builds(rows, sizes, kinds):
            row["inputs"] = inputs = [rng.choice(("w", "i"))]  # it would read what has been overwritten by then
        for name in row["outputs"]:
            choice = rng.choice(("alias", "inplace", "inplace", ""))
            if choice:
                source, before = rng.choice(inputs), sizes[name]
                sizes[name] = min(sizes[name], sizes[source])
                row[choice] = {**row.get(choice, {}), name: source}
                if not builds(rows, sizes, kinds):
                    del row[choice][name]
                    sizes[name] = before
    graph = builds(rows, sizes, kinds)
    assert graph is not None
    return graph


def builds(rows: list[dict], sizes: dict[str, int], kinds: dict[str, str]) -> Graph | None:
    """The graph of these operators, if it is one."""
    builder = GraphBuilder("sharing", time_unit="tick")
    made = {name for row in rows for name in row["outputs"]}
    for name, size in sizes.items():
        if name in made or name in ("w", "i"):
            builder.add_tensor(name, bytes=size, kind=kinds[name])
    for row in rows:
        builder.add_op(**row)
    try:
        return builder.build()
    except GraphError:
        return None


# --- the definition -------------------------------------------------------------------------------------------------


def live_bytes(problem: Problem, trace: Trace, device: int, time: int) -> int:
    """Bytes on a device just after an instant, from a look at every tensor."""
    graph = problem.graph
    where = [problem.stream_device[stream] for stream in trace.stream]

    def present(tensor: int) -> bool:
        readers, maker = graph.tensor_consumers[tensor], graph.tensor_producer[tensor]
        here = [op for op in readers if where[op] == device and trace.start[op] <= time]
        if graph.tensor_kinds[tensor].persistent:
            return len(problem.devices) == 1 or bool(here)
        if trace.start[maker] > time:
            return False
        unread = any(trace.end[op] > time for op in readers)
        if where[maker] == device:
            return unread or trace.end[maker] > time or graph.tensor_kinds[tensor] is TensorKind.OUTPUT
        return unread and bool(here)

    def owner(tensor: int) -> int:
        source = graph.aliases.get(tensor, graph.inplace.get(tensor, -1))
        return owner(source) if source >= 0 and where[graph.tensor_producer[tensor]] == device else tensor

    owners = {owner(tensor) for tensor in range(len(graph.tensor_names)) if present(tensor)}
    running = [op for op in range(len(graph)) if where[op] == device and trace.start[op] <= time < trace.end[op]]
    return sum(graph.tensor_bytes[one] for one in owners) + sum(problem.workspace(op, device) for op in running)


def agrees(problem: Problem, trace: Trace) -> None:
    assert check_trace(problem, trace) == []
    for device in range(len(problem.devices)):
        curve = dict(trace.memory.curve(device))
        said = 0
        for time in sorted({0, *trace.start, *trace.end}):
            said = curve.get(time, said)
            assert said == live_bytes(problem, trace, device, time), (device, time)
        assert set(curve) <= {0, *trace.start, *trace.end}


def test_the_graphs_have_something_to_show():
    graphs = [sharing_graph(seed) for seed in SEEDS]
    assert sum(len(graph.aliases) for graph in graphs) > 30
    assert sum(len(graph.inplace) for graph in graphs) > 30
    assert sum(len(graph.shares) > 0 for graph in graphs) > 30
    assert any(source in graph.shares for graph in graphs for source in graph.shares.values())


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("hardware", [lanes(1), lanes(3), procs(2), procs(3)], ids=["1", "3 lanes", "2", "3"])
def test_live_bytes_of_every_run_are_those_of_the_definition(seed, hardware):
    problem = problem_of(sharing_graph(seed), hardware)
    for spec in ("critical_path", "memory_aware", f"random:{seed}"):
        agrees(problem, simulate(problem, make_scheduler(spec)))


@pytest.mark.parametrize("seed", SEEDS)
def test_a_tight_memory_is_respected(seed):
    """With little more than any one operator needs alone, a run either fits or runs out of memory."""
    for hardware in (lanes(3), procs(2)):
        graph = sharing_graph(seed)
        enough = max(map(max, (bytes_alone(problem_of(graph, hardware), 0), [41 + 17])))
        problem = problem_of(graph, with_memory(hardware, enough + 9))
        for spec in ("memory_aware", "critical_path"):
            try:
                trace = simulate(problem, make_scheduler(spec), memory="block")
            except OutOfMemoryError:
                continue
            assert check_trace(problem, trace, memory="block") == []
            agrees(problem, trace)


@pytest.mark.parametrize("seed", SEEDS)
def test_orders_have_the_bytes_of_serial_runs(seed):
    graph = sharing_graph(seed)
    problem = problem_of(graph, lanes(1))
    trace = simulate(problem, make_scheduler("serial"))
    liveness = sequence_liveness(problem, trace.launch_order)
    assert liveness.live == tuple(live_bytes(problem, trace, 0, trace.start[op]) for op in trace.launch_order)
    assert liveness.final == live_bytes(problem, trace, 0, trace.makespan)
    workspace = [problem.workspace(op) for op in range(len(graph))]
    assert sequential_peak(graph, trace.launch_order, workspace) == liveness.peak
    order, peak = frugal_order(graph, workspace)
    assert sequence_liveness(problem, order).peak == peak <= sequence_liveness(problem).peak


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("devices", [2, 3])
def test_needs_and_deltas_are_what_starts_and_ends_do(seed, devices):
    """Operators run one at a time on random devices, now and then after a copy over links."""
    problem = problem_of(sharing_graph(seed), procs(devices))
    graph, rng, memory = problem.graph, random.Random(seed), Residency(problem)
    for op in range(len(graph)):
        device = rng.randrange(devices)
        for tensor in graph.inputs[op]:
            if graph.tensor_producer[tensor] >= 0 and rng.random() < 0.5:
                need, before = memory.copy_need(tensor, device), memory.live[device]
                memory.copy(tensor, device, op)
                assert memory.live[device] == before + need
                assert memory.copy_need(tensor, device) == 0
        for other in range(devices):
            trial, before = deepcopy(memory), memory.live[other]
            need, delta = trial.need(op, other), trial.delta(op, other)
            trial.start(op, other, op)
            assert trial.live[other] == before + need
            trial.finish(op, other, op)
            assert trial.live[other] == before + delta
        memory.start(op, device, op)
        memory.finish(op, device, op)
        for here in range(devices):
            assert memory.live[here] == sum(graph.tensor_bytes[tensor] for tensor in memory.alive(here, ()))
    returned = {tensor for tensor, kind in enumerate(graph.tensor_kinds) if kind is TensorKind.OUTPUT}
    kept = [tensor for here in range(devices) for tensor in memory.alive(here, ())]
    assert len(kept) >= len({*returned} - {*graph.shares})


@pytest.mark.parametrize("part", range(4))
def test_the_engine_agrees_with_the_reference_on_every_kind_of_hardware(part):
    """Devices of all models, joined by links or by nothing, with copies that take no time among them."""
    outcomes: Counter[str] = Counter()
    for seed in range(150 * part, 150 * (part + 1)):
        rng = random.Random(seed)
        graph = sharing_graph(seed, rng.randint(3, 9), rng.choice(((0, 1, 2, 3, 5), (8, 13, 21), (0,))))
        problem = make_problem(graph, drawn_hardware(rng))
        case = Case(problem, make_scheduler(rng.choice(SPECS)), rng.choice(MODES), None)
        expected = reference_says(case)
        assert engine_says(case) == expected, f"seed {seed}"
        outcomes[expected if isinstance(expected, str) else "run"] += 1
    assert outcomes["run"] > 40
    assert outcomes["OutOfMemoryError"] > 3
