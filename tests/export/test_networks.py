"""Every activation, layer and link in every format; batch normalisation is gone from the graph."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import pellucid as pel
from pellucid import nn, train
from pellucid.errors import ExportError
from pellucid.export.program import program_of
from pellucid.nn.layers.context import Context
from tests.export.formats import check

NETWORKS = {
    **{name: nn.Sequential(nn.Dense(5), name, nn.Dense(2)) for name in nn.ACTIVATIONS},
    "batch norm": nn.mlp((6, 5), 2, norm="batch", dropout=0.2),
    "layer norm": nn.mlp((6, 5), 2, norm="layer"),
    "rms norm": nn.mlp((6,), 2, norm="rms"),
    "members": nn.mlp((6,), 2, members=3),
    "maxout": nn.Sequential(nn.Maxout(4, 3), nn.Dense(2)),
    "glu": nn.Sequential(nn.GLU(4, "silu"), nn.Dense(2)),
    "scale": nn.Sequential(nn.Scale(0.5), nn.Dense(3, scaling="ntk"), "tanh", nn.Dense(2)),
    "periodic": nn.Sequential(nn.Periodic(2, frequencies=4), nn.Dense(2)),
    "pieces": nn.Sequential(nn.PiecewiseLinear(2, bins=5, init="standard_normal"), nn.Dense(2)),
    "embedding": nn.Sequential(nn.Embed((3, 4), dims=2), nn.Dense(2)),
    "codes": nn.Sequential(nn.CodedDense(4, (3, 4), table="standard_normal"), "tanh", nn.Dense(2)),
}


def model(net: nn.Layer, loss: str = "squared_error", features: Any = 4) -> train.Model:
    """A network with weights of all kinds, and batch statistics that are not the first."""
    made = train.Model(net, loss)
    made.initialize(features)
    rng = np.random.default_rng(0)
    made.params = {k: rng.normal(0.0, 0.7, np.shape(v)).astype(np.float32) for k, v in made.params.items()}
    norms = {
        k: np.abs(rng.normal(1.0, 0.3, np.shape(v))).astype(np.float32)
        for k, v in made.state.items()
        if ".mean" in k or ".var" in k
    }
    made.state = {**made.state, **norms}
    return made


@pytest.mark.parametrize("name", NETWORKS)
def test_network(name, tmp_path):
    X = np.random.default_rng(1).normal(size=(20, 4))
    if name == "embedding":
        X[:, 2:] = np.random.default_rng(2).integers(-1, 5, (20, 2))
    check(model(NETWORKS[name]), X.astype(np.float32), tmp_path)


@pytest.mark.parametrize(
    "loss", ["binary_cross_entropy", "cross_entropy", "multilabel", "poisson", "hinge", "gaussian"]
)
def test_links(loss, tmp_path):
    outputs = {"binary_cross_entropy": 1, "gaussian": 2}.get(loss, 3)
    X = np.random.default_rng(1).normal(size=(20, 4)).astype(np.float32)
    check(model(nn.mlp((5,), outputs), loss), X, tmp_path)


def test_samples_of_any_shape_are_rows(tmp_path):
    X = np.random.default_rng(1).normal(size=(20, 2, 3)).astype(np.float32)
    check(model(nn.Sequential(nn.Flatten(), nn.Dense(4), "tanh", nn.Dense(2)), features=(2, 3)), X, tmp_path)


def test_batch_norm_is_folded():
    plain, normed = (program_of(model(nn.mlp((6, 5), 2, norm=norm))).graph.count() for norm in (None, "batch"))
    assert plain == normed


def test_batch_norm_behind_an_activation_stays(tmp_path):
    net = nn.Sequential(nn.Dense(5), "relu", nn.BatchNorm(), nn.Dense(2))
    X = np.random.default_rng(1).normal(size=(20, 4)).astype(np.float32)
    check(model(net), X, tmp_path)


def test_dropout_is_gone():
    counts = program_of(model(nn.mlp((6,), 2, dropout=0.5))).graph.count()
    assert not any(name.startswith("random") for name in counts)


def test_many_rows_by_one_graph():
    made = model(nn.mlp((6,), 2, members=3))
    graph = program_of(made).graph
    for rows in (1, 7):
        X = np.random.default_rng(1).normal(size=(rows, 4)).astype(np.float32)
        np.testing.assert_allclose(pel.run(graph, X)[0], made.predict(X), atol=1e-5)


@dataclass(frozen=True)
class Added(nn.Layer):
    """Adds up along each row: an operation that some formats have no words for."""

    def parameters(self, features, activation=None):
        return {}

    def __call__(self, p, x, ctx: Context):
        return np.cumsum(x, axis=1)


@pytest.mark.parametrize("ending", [".onnx", ".c"])
def test_an_operation_without_words_is_named(ending, tmp_path):
    made = model(nn.Sequential(nn.Dense(3), Added(), nn.Dense(1)))
    with pytest.raises(ExportError, match=r"'cumsum'.*network1.*has no translation"):
        pel.export.write(made, tmp_path / f"model{ending}")
