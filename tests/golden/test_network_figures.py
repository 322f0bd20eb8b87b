"""The real networks in ``graphs/``: parameters and multiply-adds by hand, and as torchvision publishes them."""

from __future__ import annotations

import csv
import gzip
import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

from simsched.cost.totals import Totals, totals
from simsched.graph.dump import save_graph
from simsched.graph.io import load_graph
from simsched.graph.model import Graph
from tests import known_answers, networks

ROOT = Path(__file__).resolve().parents[2]
NAMES = ["inception_v1", "resnet50", "densenet121", "squeezenet", "shufflenet", "vgg19", "bert_base", "gpt2"]

# Weights of torchvision 0.29.1: parameters, and multiply-adds in billions at 224 x 224, both as published.
PUBLISHED = {
    "resnet50": ("ResNet50_Weights", 25_557_032, 4.089),
    "densenet121": ("DenseNet121_Weights", 7_978_856, 2.834),
    "squeezenet": ("SqueezeNet1_1_Weights", 1_235_496, 0.349),
    "vgg19": ("VGG19_Weights", 143_667_240, 19.632),
}


def figures(name: str) -> Totals:
    return totals(load_graph(name))


@pytest.mark.parametrize("name", NAMES)
def test_every_operator_is_known(name: str) -> None:
    assert figures(name).unknown == {}


# --- by hand ------------------------------------------------------------------------------------------------

# Of each channel of a batch normalisation these values are parameters in the file: scale, shift, mean and variance;
# DenseNet has its true scale and shift beside, as a product and a sum.
BY_HAND = [
    ("resnet50", networks.resnet50(), 4),
    ("densenet121", networks.densenet121(), 6),
    ("squeezenet", networks.squeezenet11(), 0),
    ("vgg19", networks.vgg19(), 0),
    ("inception_v1", networks.inception_v1((55, 27, 13, 6)), 0),
    ("shufflenet", networks.shufflenet(), 4),
]


@pytest.mark.parametrize(("name", "count", "values"), BY_HAND, ids=[name for name, *_ in BY_HAND])
def test_multiply_adds_and_parameters_equal_the_architecture(name: str, count: networks.Count, values: int) -> None:
    found = figures(name)
    assert found.matrix_flops == 2 * count.macs
    assert found.parameters == count.weights + values * count.normalised


def test_bert_base() -> None:
    tokens, hidden, vocabulary = 128, 768, 30_522
    embeddings = (vocabulary + 512 + 2) * hidden + 2 * hidden
    pooler = hidden * hidden + hidden
    assert figures("bert_base").parameters == embeddings + networks.transformer_parameters(12, hidden) + pooler
    assert figures("bert_base").parameters == 109_482_240
    macs = networks.transformer_macs(12, hidden, tokens, extra=hidden * hidden)
    assert figures("bert_base").matrix_flops == 2 * macs == 22_348_431_360


def test_gpt2() -> None:
    tokens, hidden, vocabulary = 128, 768, 50_257
    embeddings = (vocabulary + 1024) * hidden
    assert figures("gpt2").parameters == embeddings + networks.transformer_parameters(12, hidden) + 2 * hidden
    assert figures("gpt2").parameters == 124_439_808
    macs = networks.transformer_macs(12, hidden, tokens, extra=tokens * hidden * vocabulary)
    assert figures("gpt2").matrix_flops == 2 * macs == 32_228_179_968


# --- as published ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", PUBLISHED)
def test_multiply_adds_agree_with_torchvision(name: str) -> None:
    assert figures(name).matrix_flops / 2e9 == pytest.approx(PUBLISHED[name][2], rel=0.005)


@pytest.mark.parametrize("name", ["squeezenet", "vgg19"])
def test_parameters_are_those_of_torchvision(name: str) -> None:
    assert figures(name).parameters == PUBLISHED[name][1]


def test_resnet50_has_running_statistics_beside_the_parameters_of_torchvision() -> None:
    statistics = 2 * networks.resnet50().normalised
    assert statistics == 53_120
    assert figures("resnet50").parameters - statistics == PUBLISHED["resnet50"][1]
    assert figures("resnet50").parameters == pytest.approx(PUBLISHED["resnet50"][1], rel=0.005)


def test_resnet50_strides_on_its_3x3_convolutions_as_torchvision_does() -> None:
    graph = load_graph("resnet50")
    strides = {part: graph.operator(f"res3_0_branch{part}").attributes["strides"] for part in ("2a", "2b", "1")}
    assert strides == {"2a": [1, 1], "2b": [2, 2], "1": [2, 2]}


def test_densenet121_has_four_more_values_a_channel_than_torchvision() -> None:
    more = 4 * networks.densenet121().normalised
    assert more == 167_296
    assert figures("densenet121").parameters - more == PUBLISHED["densenet121"][1]


def test_inception_v1_is_the_original_network() -> None:
    graph = load_graph("inception_v1")
    assert graph.op_types.count("LRN") == 2
    assert graph.op_types.count("BatchNormalization") == 0
    kernels = [
        graph.operator(op).attributes["kernel_shape"] for op, kind in enumerate(graph.op_types) if kind == "Conv"
    ]
    assert kernels.count([5, 5]) == 9


def test_the_published_figures_are_those_of_the_known_answers() -> None:
    (path,) = known_answers.folder("torchvision_ops").glob("*.csv")
    with path.open(encoding="utf-8", newline="") as file:
        rows = {row["weights"]: row for row in csv.DictReader(file) if row["entry"] == "IMAGENET1K_V1"}
    for weights, parameters, gmacs in PUBLISHED.values():
        assert (int(rows[weights]["num_params"]), float(rows[weights]["gflops"])) == (parameters, gmacs)


# --- the files -------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def script() -> ModuleType:
    pytest.importorskip("onnx", reason="the networks are made from models inside the onnx package")
    spec = importlib.util.spec_from_file_location("make_networks", ROOT / "scripts" / "make_networks.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    path = list(sys.path)
    spec.loader.exec_module(module)
    sys.path[:] = path
    return module


@pytest.fixture(scope="module")
def made(script: ModuleType) -> dict[str, Graph]:
    found: dict[str, Graph] = script.networks()
    return found


def test_the_script_makes_the_files_that_are_stored(made: dict[str, Graph], tmp_path: Path) -> None:
    assert sorted(made) == sorted(NAMES)
    for name, graph in made.items():
        save_graph(graph, tmp_path / f"{name}.json.gz")
        again = gzip.decompress((tmp_path / f"{name}.json.gz").read_bytes())
        assert again == gzip.decompress((ROOT / "graphs" / f"{name}.json.gz").read_bytes()), name


def test_what_is_read_back_is_what_was_made(made: dict[str, Graph]) -> None:
    for name, graph in made.items():
        assert load_graph(name).content_hash == graph.content_hash, name


def test_the_files_are_small() -> None:
    sizes = {name: (ROOT / "graphs" / f"{name}.json.gz").stat().st_size for name in NAMES}
    assert max(sizes.values()) < 20_000


def test_the_table_of_the_readme_is_what_the_script_prints(script: ModuleType) -> None:
    readme = (ROOT / "graphs" / "README.md").read_text("utf-8")
    assert script.table({name: load_graph(name) for name in NAMES}) in readme


def test_operators_are_called_after_their_layers() -> None:
    names = set(load_graph("inception_v1").names)
    assert {"conv1/7x7_s2", "inception_3a/3x3/relu", "inception_3a/concat", "loss3/classifier/softmax"} <= names
    assert len(names) == 143
