"""preflight: what would keep a model from learning, seen before it is trained."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from pellucid import Model, inspect, nn, optim


def data(rows: int = 120) -> tuple[Any, Any]:
    X = np.random.default_rng(0).normal(size=(rows, 4))
    return X, X[:, 0] * X[:, 1] + X[:, 2]


def looked(net: Any = None, rule: Any = None, X: Any = None, y: Any = None, loss: Any = "squared_error") -> Any:
    own_X, own_y = data()
    model = Model(nn.mlp((32,), 1) if net is None else net, loss, rule or optim.Adam(0.01))
    return inspect.preflight(model, own_X if X is None else X, own_y if y is None else y)


def test_nothing_to_say_of_a_sound_start():
    assert looked().worse_than("note") == ()
    labels = (data()[1] > 0).astype(int)
    assert looked(nn.mlp((32, 16), 2, norm="batch"), y=labels, loss="cross_entropy").worse_than("note") == ()
    assert looked(nn.mlp((32,), 1, dropout=0.3)).worse_than("note") == ()


def test_output_weights_of_zero_are_a_sound_start():
    assert looked(nn.mlp((32,), 1, output_init=0.0)).worse_than("note") == ()


@pytest.mark.parametrize(
    ("code", "options"),
    [
        ("symmetric-units", {"net": nn.mlp((8,), 1, init=0.1, output_init=0.1)}),
        ("vanishing-gradient", {"net": nn.mlp((16,) * 8, 1, activation="sigmoid")}),
        ("exploding-gradient", {"net": nn.mlp((64,) * 5, 1, init=nn.normal(2.0))}),
        ("dead-units", {"net": nn.mlp((16,), 1, bias=-30.0)}),
        ("saturated-units", {"net": nn.mlp((16, 16), 1, activation="tanh", init=nn.normal(20.0))}),
        ("rate-too-high", {"rule": optim.SGD(100.0)}),
        ("rate-too-low", {"rule": optim.SGD(1e-7)}),
        ("dropout-too-high", {"net": nn.mlp((8,), 1, dropout=0.97)}),
        ("missing-activation", {"net": nn.Sequential(nn.Dense(8), nn.Dense(1))}),
        ("input-scale", {"X": data()[0] * 1e4}),
        ("target-scale", {"y": data()[1] * 1e6}),
        ("input-constant", {"X": np.ones((120, 4))}),
        ("target-domain", {"loss": "poisson"}),
        ("loss-output-mismatch", {"net": nn.Sequential(nn.Dense(8), "relu", nn.Dense(1), "sigmoid")}),
    ],
)
def test_what_would_keep_it_from_learning(code, options):
    assert code in [finding.code for finding in looked(**options).worse_than("note")][:3]


def test_missing_values_are_the_first_thing():
    X, y = data()
    X[0, 2] = np.inf
    assert looked(X=X, y=y).codes[0] == "input-nan"


def test_a_model_with_parameters_keeps_them():
    X, y = data()
    model = Model(nn.mlp((8,), 1)).initialize(X)
    before = {name: array.copy() for name, array in model.params.items()}
    inspect.preflight(model, X, y)
    assert all(np.array_equal(before[name], model.params[name]) for name in before)
    assert not Model(nn.mlp((8,), 1)).params
