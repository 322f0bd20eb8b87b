"""The engine in a browser's Python: what the page answers is what CPython answers, to the byte, floats included."""

from __future__ import annotations

import json
import shutil
import subprocess
import tarfile
from pathlib import Path
from typing import Any

import pytest

from simsched.config.plain import to_plain
from simsched.graph.io import dump_graph, load_graph
from simsched.page.bundle import bundle
from simsched.page.live import answer
from simsched.page.site import ARCHIVE, MEMBERS, live_schedulers
from simsched.profiles import load_hardware
from simsched.run import compare

RUNNER = Path(__file__).with_name("pyodide_run.mjs")
FIVE = ("topological", "critical_path", "greedy_ready", "memory_aware", "pipeline")
FOREIGN = {"pydantic", "numpy", "click", "matplotlib", "networkx", "rich", "onnx", "ortools"}

CODE = """
class Longest:
    def start(self, problem):
        times = problem.durations()
        free = list(range(len(problem.stream_device)))

        def policy(view):
            ready = sorted(view.ready, key=lambda op: (-times[op], op))
            for op, stream in zip(ready, view.idle_streams):
                yield op, stream, f"takes {times[op] / 7:.3f}"

        return policy
"""

# Graph, hardware, memory, edits: every device model, bandwidth and links shared, copies, launches, full memory.
CASES: dict[str, tuple[str, str, str, dict[str, Any]]] = {
    "lanes": ("residual", "lanes:2", "unbounded", {}),
    "edited": (
        "residual", "lanes:3", "unbounded",
        {"durations": {"Conv1": "x3", "BN": "9"}, "add_operators": [{"name": "新", "duration": "4", "after": ["BN"]}]},
    ),
    "sm_share": ("inception_v1", "a100_sxm_80gb", "unbounded", {}),
    "blocks": ("inception_v1", "a100_sxm_80gb", "unbounded", {"hardware": {"model": "blocks", "streams": "6"}}),
    "bandwidth": ("bert_base", "h100_sxm", "unbounded", {"hardware": {"memory_bandwidth": "x0.3", "streams": "4"}}),
    "copies": ("inception_v1", "toy_box", "unbounded", {}),
    "links": ("squeezenet", "box_epyc7763_a100", "unbounded", {}),
    "delays": ("heft_topcuoglu", "procs:3", "unbounded", {}),
    "block": ("inception_v1", "t4", "block", {"hardware": {"memory_capacity": "60 MiB", "streams": "6"}}),
    "strict": ("shufflenet", "rtx_3090", "strict", {"hardware": {"memory_capacity": "9200 kB"}}),
    "launches": ("shufflenet", "rtx_3090", "unbounded", {"hardware": {"host.mode": "serial"}}),
    "scaled": ("squeezenet", "v100_sxm2_16gb", "unbounded", {"durations": {"conv1": "123456 ns"}}),
    "written": (
        "fork_join", "lanes:3", "unbounded", {"schedulers": [{"spec": "", "code": CODE}, {"spec": "critical_path"}]},
    ),
    "wrong": ("diamond", "lanes:2", "unbounded", {"add_edges": [["d", "a"]]}),
}  # fmt: skip


def request(graph_name: str, hardware_name: str, memory: str, edits: Any, schedulers: Any = FIVE) -> str:
    graph = load_graph(graph_name)
    hardware = load_hardware(hardware_name, graph)
    problem = {
        "graph": dump_graph(graph),
        "hardware": to_plain(hardware),
        "schedulers": [{"spec": spec} for spec in schedulers],
        "memory": memory,
        "seed": 3,
    }
    return json.dumps({"kind": "run", "problem": problem, "edits": edits})


def every_scheduler() -> str:
    names = [each["name"] for each in live_schedulers()]
    return request("fork_join", "lanes:2", "unbounded", {}, names)


@pytest.fixture(scope="module")
def in_pyodide(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Answers of Pyodide to all requests, by the name of the case, and what it had to load for them."""
    node = shutil.which("node")
    if node is None:
        pytest.skip("node is not here; it runs Pyodide without a browser")
    folder = tmp_path_factory.mktemp("pyodide")
    with tarfile.open(ARCHIVE) as archive:
        for name in MEMBERS:
            archive.extract(f"package/{name}", folder, filter="data")
    (folder / "bundle.zip").write_bytes(bundle())
    requests = {name: request(*case) for name, case in CASES.items()} | {"schedulers": every_scheduler()}
    (folder / "requests.json").write_text(json.dumps(list(requests.values())))
    paths = [str(folder / name) for name in ("package", "bundle.zip", "requests.json", "responses.json")]
    done = subprocess.run([node, str(RUNNER), *paths], capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr[-2000:]  # before it, Node shows a line of Pyodide: a million characters
    found: dict[str, Any] = json.loads((folder / "responses.json").read_text())
    texts = [each["response"] for each in found["answers"]]
    return {**found, "requests": requests, "responses": dict(zip(requests, texts, strict=True))}


@pytest.mark.parametrize("name", [*CASES, "schedulers"])
def test_pyodide_answers_byte_for_byte_as_cpython_does(name: str, in_pyodide: dict[str, Any]) -> None:
    theirs, ours = in_pyodide["responses"][name], answer(in_pyodide["requests"][name])
    assert json.loads(ours)["ok"] is (name != "wrong")
    assert theirs == ours


def test_the_makespans_are_those_of_the_library(in_pyodide: dict[str, Any]) -> None:
    for name in ("lanes", "sm_share", "copies", "links", "delays"):
        graph, hardware, _, _ = CASES[name]
        found = {run["label"]: run["makespan"] for run in json.loads(in_pyodide["responses"][name])["document"]["runs"]}
        expected = compare(graph, FIVE, hardware, seed=3)
        assert found == {result.label: result.makespan for result in expected.results}
        assert len(found) == len(FIVE)


def test_the_cases_share_and_wait_and_copy(in_pyodide: dict[str, Any]) -> None:
    """Otherwise equal answers would say nothing about the arithmetic of sharing."""
    first = {name: json.loads(text) for name, text in in_pyodide["responses"].items()}
    runs = {name: found["document"]["runs"][1] for name, found in first.items() if found["ok"]}
    assert runs["copies"]["transfers"]
    assert runs["blocks"]["cohorts"]
    assert runs["launches"]["launched"]
    reasons = {part["reason"] for row in runs["block"]["parts"] for part in row}
    assert "memory" in reasons, reasons
    slowed = [part for row in runs["bandwidth"]["parts"] for part in row if part.get("speed", 1) < 1]
    assert slowed
    assert first["strict"]["document"]["failures"], "9200 kB must be too little for some of the five"


def test_all_schedulers_of_the_page_run_in_a_browser(in_pyodide: dict[str, Any]) -> None:
    document = json.loads(in_pyodide["responses"]["schedulers"])["document"]
    failed = {each["label"]: each["message"] for each in document["failures"]}
    # Two need what the graph does not have: levels of unit tasks.
    assert {name for name in failed if name not in ("hu", "coffman_graham")} == set()
    assert all(run["valid"] for run in document["runs"])


def test_nothing_but_the_standard_library_simpy_and_yaml_is_loaded(in_pyodide: dict[str, Any]) -> None:
    loaded = set(in_pyodide["modules"])
    assert {"simsched", "simpy"} <= loaded
    assert loaded.isdisjoint(FOREIGN)
    assert in_pyodide["version"] == ARCHIVE.stem.removeprefix("pyodide-")
