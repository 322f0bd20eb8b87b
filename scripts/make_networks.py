"""Make the real networks in ``graphs/``: six from the models inside the onnx package, two written down here.

Usage: ``python scripts/make_networks.py [FOLDER]``. The same onnx models give the same bytes, so that
``git diff graphs/`` after a run shows whether an import has changed. ``--table`` prints the table of
``graphs/README.md`` instead.
"""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

from simsched.cost.totals import totals
from simsched.graph.io import save_graph
from simsched.graph.model import Graph

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from scripts.language_models import bert_base, gpt2
from scripts.layer_names import with_layer_names

ROOT = Path(__file__).resolve().parent.parent

LIGHT_MODELS = {
    "inception_v1": "light_inception_v1.onnx",
    "resnet50": "light_resnet50.onnx",
    "densenet121": "light_densenet121.onnx",
    "squeezenet": "light_squeezenet.onnx",
    "shufflenet": "light_shufflenet.onnx",
    "vgg19": "light_vgg19.onnx",
}
DESCRIPTIONS = {
    "inception_v1": "Inception v1 (GoogLeNet)",
    "resnet50": "ResNet-50",
    "densenet121": "DenseNet-121",
    "squeezenet": "SqueezeNet 1.1",
    "shufflenet": "ShuffleNet v1, four groups, 136 to 544 channels",
    "vgg19": "VGG-19",
}
WRITTEN_DOWN: Mapping[str, Callable[[], Graph]] = {"bert_base": bert_base, "gpt2": gpt2}


def light_model(name: str) -> Graph:
    """Import one of the models without weights that onnx ships for its own tests."""
    import onnx.backend.test

    from simsched.graph.onnx_import import load_onnx

    folder = Path(onnx.backend.test.__file__).parent / "data" / "light"
    graph = with_layer_names(load_onnx(folder / LIGHT_MODELS[name], strict=True, name=name))
    return dataclasses.replace(
        graph,
        description=f"{DESCRIPTIONS[name]}, inference, batch 1, 224 x 224, fp32",
        origin=f"{LIGHT_MODELS[name]} of the Python package onnx (Apache-2.0), imported by scripts/make_networks.py",
    )


def networks() -> dict[str, Graph]:
    """Make all networks, by name."""
    made = {name: light_model(name) for name in LIGHT_MODELS}
    return made | {name: write() for name, write in WRITTEN_DOWN.items()}


def table(graphs: Mapping[str, Graph]) -> str:
    """Return the figures of all networks as a Markdown table."""
    lines = ["| graph | operators | edges | parameters | GMACs | GFLOPs | MB moved |", "| --- " * 7 + "|"]
    for name, graph in graphs.items():
        found = totals(graph)
        lines.append(
            f"| `{name}` | {len(graph)} | {graph.edge_count} | {found.parameters:,} | {found.matrix_flops / 2e9:.3f} "
            f"| {found.flops / 1e9:.3f} | {found.bytes / 1e6:.1f} |"
        )
    return "\n".join(lines)


def main(arguments: list[str]) -> None:
    """Write every network to a folder, ``graphs/`` by default."""
    made = networks()
    if arguments == ["--table"]:
        print(table(made))
        return
    folder = Path(arguments[0]) if arguments else ROOT / "graphs"
    folder.mkdir(parents=True, exist_ok=True)
    for name, graph in made.items():
        path = folder / f"{name}.json.gz"
        save_graph(graph, path)
        print(f"{path.name}: {len(graph)} operators, {path.stat().st_size} bytes")


if __name__ == "__main__":
    main(sys.argv[1:])
