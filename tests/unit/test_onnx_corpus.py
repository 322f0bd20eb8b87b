"""Every model that onnx ships for its own tests: imported, or refused with one of our own errors."""

from __future__ import annotations

import warnings
from pathlib import Path

import onnx
import onnx.backend.test
import pytest

from simsched.cost.registry import work_of
from simsched.cost.totals import totals
from simsched.errors import InputError
from simsched.graph.model import Graph
from simsched.graph.onnx_import import load_onnx

DATA = Path(onnx.backend.test.__file__).parent / "data"

# Operator types whose work depends on data, or is too rare to have a rule: they cost their bytes, and are listed.
WITHOUT_RULE = {
    "AffineGrid", "BlackmanWindow", "CausalConvWithState", "DFT", "Det", "HammingWindow", "HannWindow", "ImageDecoder",
    "LinearAttention", "MelWeightMatrix", "NonMaxSuppression", "NonZero", "RoiAlign", "STFT", "StringConcat",
    "StringNormalizer", "StringSplit", "RegexFullMatch", "TfIdfVectorizer", "Unique", "If", "Loop", "Scan",
}  # fmt: skip


def attempt(path: Path) -> Graph | InputError:
    try:
        return load_onnx(path)
    except InputError as error:
        return error


def standard(unknown: set[str]) -> set[str]:
    """Those of ONNX's own domain."""
    return {name for name in unknown if "." not in name}


@pytest.mark.parametrize("path", sorted(DATA.glob("light/*.onnx")), ids=lambda path: path.stem)
def test_networks_without_weights(path: Path) -> None:
    graph = load_onnx(path, strict=True)
    assert totals(graph).parameters > 10**6
    assert all(size > 0 for size in graph.tensor_bytes)


def test_models_that_onnx_stores() -> None:
    paths = [
        path
        for folder in ("pytorch-converted", "pytorch-operator", "simple")
        for path in (DATA / folder).glob("*/model.onnx")
    ]
    found = {path.parent.name: attempt(path) for path in sorted(paths)}
    refused = {name for name, outcome in found.items() if isinstance(outcome, InputError)}
    # Sequences, strings, and operators of training, whose results have no shape to be inferred.
    assert all(name.startswith(("test_sequence_model", "test_strnorm_model", "test_gradient_of")) for name in refused)
    graphs = [outcome for outcome in found.values() if isinstance(outcome, Graph)]
    assert len(graphs) > 100
    assert standard({name for graph in graphs for name in totals(graph).unknown}) <= WITHOUT_RULE


@pytest.mark.slow
def test_every_node_test_of_onnx(tmp_path: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the cases are computed when they are collected, overflows and all
        from onnx.backend.test.case.node import collect_testcases

        models = [case.model for case in collect_testcases(None) if case.model is not None]
    imported, unknown = 0, set[str]()
    for model in models:
        path = tmp_path / "m.onnx"
        path.write_bytes(model.SerializeToString())
        outcome = attempt(path)
        if isinstance(outcome, Graph):
            imported += 1
            unknown |= set(totals(outcome).unknown)
            for op in range(len(outcome)):
                work = work_of(outcome, op)
                assert work.flops >= 0
                assert work.known or work.reason
    assert imported > 0.9 * len(models) > 1000
    assert standard(unknown) <= WITHOUT_RULE
