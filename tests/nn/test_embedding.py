"""nn.Embed: learned vectors for categories, on both engines."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import pellucid as pel
from pellucid import nn
from pellucid.engine.native.runtime.fallback import FallbackWarning
from pellucid.errors import ShapeError
from pellucid.train import Model, load
from tests.both_engines import each_engine

rng = np.random.default_rng(0)
X = np.column_stack([rng.normal(size=(60, 2)), rng.integers(0, 4, 60), rng.integers(0, 7, 60)])
y = X[:, 0] + (X[:, 2] == 1) - (X[:, 3] > 4)


def test_columns_pass_and_codes_become_their_rows():
    layer = nn.Embed((4, 7), dims=(2, 3))
    p = layer.initialize(4).params
    assert [p[k].shape for k in ("table1", "table2")] == [(4, 2), (7, 3)]
    made = layer.predict(p, X)
    codes = X[:, 2:].astype(int)
    assert_array_equal(made, np.column_stack([X[:, :2], p["table1"][codes[:, 0]], p["table2"][codes[:, 1]]]))
    assert layer.output((4,)) == (7,)


@pytest.mark.parametrize("strange", [-1.0, 4.0, 1e9, np.nan])
def test_what_is_no_code_is_unknown(strange):
    layer = nn.Embed((4,), dims=2)
    p = layer.initialize(2).params
    p["table1"] = p["table1"] + 1.0
    assert_array_equal(layer.predict(p, np.array([[5.0, strange]])), layer.predict(p, np.array([[5.0, 0.0]])))


def test_the_unknown_starts_at_zero_and_the_others_do_not():
    p = nn.Embed((50,), dims=8).initialize(1).params
    assert not p["table1"][0].any()
    assert p["table1"][1:].all()
    assert_allclose(p["table1"][1:].std(), 1.0, atol=0.15)


@each_engine
def test_some_codes_are_taken_for_unknown_in_training_and_none_in_prediction(engine):
    net = nn.Sequential(("embed", nn.Embed((4, 7), 3, unknown=0.4)), ("out", nn.Dense(1)))
    model = Model(net, "squared_error", "sgd", engine=engine, dtype=np.float64)
    rows = np.column_stack([X[:, :2], np.ones((60, 2))])
    model.fit(rows, y[:, None], epochs=3, batch_size=60, verbose=False)
    assert model.params["embed.table1"][0].any()  # it learned, though no row is unknown
    without = nn.Sequential(("embed", nn.Embed((4, 7), 3)), ("out", nn.Dense(1)))
    assert_allclose(model.predict(rows), without.predict(model.params, rows), rtol=1e-12)


@each_engine
def test_gradients_agree_with_differences(engine):
    net = nn.Sequential(nn.Embed((4, 7), 3), "tanh", nn.Dense(1))
    params = net.initialize(4, seed=1).params
    vector, back = nn.flatten_parameters(params)
    target = y[:, None]
    f = lambda v: np.mean((net.predict(back(v), X) - target) ** 2)
    with warnings.catch_warnings():
        warnings.simplefilter("error", FallbackWarning)
        g = pel.compile(pel.grad(f), engine=engine)(vector)
    step = 1e-6
    for i in rng.choice(len(vector), 25, replace=False):
        e = np.zeros_like(vector)
        e[i] = step
        assert_allclose(g[i], (f(vector + e) - f(vector - e)) / (2 * step), rtol=1e-6, atol=1e-9)
    assert np.count_nonzero(g) > 30


def test_both_engines_train_alike_and_nothing_falls_back():
    net = nn.Sequential(("embed", nn.Embed((4, 7), 3)), *nn.mlp((8,), 1).children)
    losses = {}
    with warnings.catch_warnings():
        warnings.simplefilter("error", FallbackWarning)
        for engine in ("numpy", "native"):
            model = Model(net, "squared_error", engine=engine, dtype="float64")
            losses[engine] = model.fit(X, y, epochs=15, batch_size=16, seed=3, verbose=False)["loss"]
    assert_allclose(losses["native"], losses["numpy"], rtol=1e-9)
    assert losses["numpy"][-1] < 0.9 * losses["numpy"][0]


def test_a_model_with_it_is_saved_and_loaded(tmp_path):
    net = nn.Sequential(("embed", nn.Embed((4, 7), (2, 3))), *nn.mlp((8,), 1).children)
    model = Model(net, "squared_error").initialize(4, seed=5)
    model.save(tmp_path / "model.pel")
    again = load(tmp_path / "model.pel")
    assert again.net == net
    assert_array_equal(again.predict(X), model.predict(X))


def test_errors_name_what_is_wrong():
    with pytest.raises(ValueError, match="dims has 2 entries for 1 columns"):
        nn.Embed((3,), dims=(2, 2))
    with pytest.raises(ValueError, match="each size is a whole number from 1, got 0"):
        nn.Embed((0,))
    with pytest.raises(ShapeError, match="2 columns of codes at least, got 1"):
        nn.Embed((3, 3)).initialize(1)
    with pytest.raises(ShapeError, match="expects 2 features"):
        nn.Embed((3, 3)).predict(nn.Embed((3, 3)).initialize(2).params, np.zeros((4, 1)))
