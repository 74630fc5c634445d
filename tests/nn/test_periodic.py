"""nn.Periodic: learned waves beside numbers, on both engines."""

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
X = rng.normal(size=(40, 3))
y = np.sin(3 * X[:, 0]) + X[:, 2]


def test_it_is_its_formula():
    layer = nn.Periodic(2, frequencies=4, dims=3)
    p = layer.initialize(3, seed=1).params
    made = layer.predict(p, X)
    assert made.shape == (40, 2 + 6 + 1)
    assert layer.output((3,)) == (9,)
    assert_array_equal(made[:, :2], X[:, :2])
    assert_array_equal(made[:, -1], X[:, 2])
    for j in range(2):
        waves = np.cos(2 * np.pi * X[:, [j]] * p["frequency"][j] + p["phase"][j])
        assert_allclose(made[:, 2 + 3 * j : 5 + 3 * j], waves @ p["mix"][j] + p["shift"][j], rtol=1e-12)


def test_first_values():
    p = nn.Periodic(200, frequencies=16, sigma=0.1).initialize(200).params
    assert_allclose(p["frequency"].std(), 0.1, rtol=0.05)
    assert_allclose(np.abs(p["phase"]).max(), np.pi, rtol=0.01)
    assert_allclose(np.abs(p["mix"]).max(), 0.25, rtol=0.01)


@each_engine
def test_gradients_agree_with_differences(engine):
    net = nn.Sequential(nn.Periodic(2, 3, 2, sigma=0.5), nn.Dense(1))
    vector, back = nn.flatten_parameters(net.initialize(3, seed=1).params)
    f = lambda v: np.mean((net.predict(back(v), X) - y[:, None]) ** 2)
    with warnings.catch_warnings():
        warnings.simplefilter("error", FallbackWarning)
        g = pel.compile(pel.grad(f), engine=engine)(vector)
    for i in range(len(vector)):
        e = np.zeros_like(vector)
        e[i] = 1e-6
        assert_allclose(g[i], (f(vector + e) - f(vector - e)) / 2e-6, rtol=1e-5, atol=1e-9)


def test_both_engines_train_alike_and_files_keep_it(tmp_path):
    net = nn.Sequential(("waves", nn.Periodic(3)), ("output", nn.Dense(1)))
    models = [Model(net, dtype="float64", engine=engine) for engine in ("numpy", "native")]
    for model in models:
        model.fit(X, y, epochs=5, batch_size=16, verbose=False)
    for name, value in models[0].params.items():
        assert_allclose(models[1].params[name], value, rtol=1e-10)
    models[0].save(tmp_path / "m.pel")
    assert_array_equal(load(tmp_path / "m.pel").predict(X), models[0].predict(X))


def test_a_wave_is_learned_that_a_line_cannot_follow():
    wave = np.sin(6 * X[:, 0])
    fits = []
    for net in (nn.Sequential(nn.Dense(1)), nn.Sequential(nn.Periodic(1, sigma=1.0), nn.Dense(1))):
        model = Model(net, optimizer=pel.optim.Adam(0.02))
        model.fit(X[:, :1], wave, epochs=300, batch_size=40, verbose=False)
        fits.append(model.evaluate(X[:, :1], wave)["loss"])
    assert fits[1] < 0.2 * fits[0]


def test_too_few_columns_are_refused():
    with pytest.raises(ShapeError, match="expects 4 features at least, got 3"):
        nn.Periodic(4).initialize(3)
    with pytest.raises(ValueError, match="sigma is a number above 0"):
        nn.Periodic(2, sigma=0.0)
