"""nn.CodedDense: what Dense is on columns of ones and zeros, which are never made."""

import warnings

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.linear_model import Ridge

import pellucid as pel
from pellucid import TabularMLPRegressor, nn, train
from pellucid.engine.native.runtime.fallback import FallbackWarning
from pellucid.errors import ShapeError
from pellucid.train import fit_lbfgs
from tests.both_engines import each_engine

rng = np.random.default_rng(0)
CODES = np.column_stack([rng.integers(0, 4, 60), rng.integers(0, 7, 60)])
X = np.column_stack([rng.normal(size=(60, 2)), CODES])
HOT = np.column_stack([X[:, :2], np.eye(4)[CODES[:, 0]], np.eye(7)[CODES[:, 1]]])


def test_it_is_a_dense_layer_of_one_hot_columns() -> None:
    layer = nn.CodedDense(3, (4, 7), bias=0.5, table="standard_normal")
    p = layer.initialize(4, seed=1).params
    assert {name: array.shape for name, array in p.items()} == {
        "weight": (2, 3),
        "bias": (3,),
        "table1": (4, 3),
        "table2": (7, 3),
    }
    whole = np.concatenate([p["weight"], p["table1"], p["table2"]])
    assert_allclose(layer.predict(p, X), HOT @ whole + p["bias"], rtol=1e-12)
    assert layer.output((4,)) == (3,)


def test_tables_start_at_nothing_and_codes_may_stand_alone() -> None:
    layer = nn.CodedDense(2, (4, 7))
    assert not any(layer.initialize(4).params[name].any() for name in ("table1", "table2"))
    alone = nn.CodedDense(2, (4, 7), table="standard_normal")
    p = alone.initialize(2).params
    assert p["weight"].shape == (0, 2)
    assert_array_equal(alone.predict(p, X[:, 2:]), p["bias"] + p["table1"][CODES[:, 0]] + p["table2"][CODES[:, 1]])


@pytest.mark.parametrize("strange", [-1.0, 4.0, 1e9, np.nan])
def test_what_is_no_code_is_code_0(strange: float) -> None:
    layer = nn.CodedDense(2, (4,), table="standard_normal")
    p = layer.initialize(2).params
    assert_array_equal(layer.predict(p, np.array([[5.0, strange]])), layer.predict(p, np.array([[5.0, 0.0]])))


@each_engine
def test_gradients_are_those_of_the_dense_layer(engine: str) -> None:
    layer = nn.CodedDense(3, (4, 7), table="standard_normal")
    p = layer.initialize(4, seed=1).params
    loss = lambda p: np.mean(np.tanh(layer.predict(p, X)) ** 2)
    dense = lambda weight, bias: np.mean(np.tanh(HOT @ weight + bias) ** 2)
    with warnings.catch_warnings():
        warnings.simplefilter("error", FallbackWarning)
        found = pel.compile(pel.grad(loss), engine=engine)(p)
    whole = np.concatenate([p["weight"], p["table1"], p["table2"]])
    weight, bias = pel.grad(dense, argnums=(0, 1))(whole, p["bias"])
    assert_allclose(np.concatenate([found["weight"], found["table1"], found["table2"]]), weight, atol=1e-12)
    assert_allclose(found["bias"], bias, atol=1e-12)


def test_with_a_penalty_on_its_tables_it_is_ridge_regression() -> None:
    y = HOT @ rng.normal(size=13) + 0.1 * rng.normal(size=60)
    net = nn.Sequential(("output", nn.CodedDense(1, (4, 7), init=0.0)))
    model = train.Model(net, "squared_error", penalty=nn.L2(2.0 / 60, on=("*.weight", "*.table*")), dtype="float64")
    fit_lbfgs(model, X, y[:, None], max_iter=500, tol=1e-12)
    assert_allclose(model.predict(X).ravel(), Ridge(1.0).fit(HOT, y).predict(HOT), atol=1e-4)


def test_errors_say_what_is_expected() -> None:
    with pytest.raises(ValueError, match="each size"):
        nn.CodedDense(2, (0,))
    with pytest.raises(ShapeError, match="2 columns of codes at least, got 1 features"):
        nn.CodedDense(2, (3, 3)).initialize(1)


def test_linear_networks_of_tables_learn_rare_categories_by_no_more_than_their_rows_tell() -> None:
    """Without a penalty on their tables 150 categories of four rows were learned by heart: 1.10 of ridge's error."""
    rng = np.random.default_rng(0)
    towns = rng.integers(0, 150, 900)
    numbers = rng.normal(size=900)
    frame = pd.DataFrame({"income": numbers, "town": [f"town{town}" for town in towns]})
    y = numbers + 0.3 * rng.normal(size=150)[towns] + rng.normal(size=900)
    net = TabularMLPRegressor(numbers="linear", early_stopping=False, random_state=0).fit(frame[:600], y[:600])
    hot = np.column_stack([numbers, np.eye(150)[towns]])
    ridge = Ridge(1.0).fit(hot[:600], y[:600])
    missed = [np.mean((y[600:] - one) ** 2) for one in (net.predict(frame[600:]), ridge.predict(hot[600:]))]
    assert missed[0] < 1.03 * missed[1]
