"""Prediction by compiled code: errors are raised, every loss and link works, a loaded model gives the same bits."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import pellucid as pel
from pellucid import nn
from pellucid.nn.layers.layer import Parameter
from pellucid.nn.losses.table import LOSSES

X = np.random.default_rng(0).normal(size=(40, 3)).astype(np.float32)


@dataclass(frozen=True)
class Lookup(nn.Layer):
    """A layer of one's own: the first feature is a code into a table of four."""

    def output(self, features: Any) -> Any:
        return (2,)

    def parameters(self, features: Any, activation: Any = None) -> Any:
        return {"table": Parameter((4, 2), nn.initializer("standard_normal"), 4, 2)}

    def __call__(self, p: Any, x: Any, ctx: Any) -> Any:
        return p["table"][x[:, 0].astype(np.int64)]


def lookup(engine, threads=None):
    model = pel.Model(nn.Sequential(Lookup(), nn.Dense(1)), "squared_error", engine=engine, threads=threads)
    return model.initialize(1)


@pytest.mark.parametrize("engine", ["numpy", "native"])
@pytest.mark.parametrize("rows", [2, 5000])
def test_a_code_out_of_range_is_an_error_not_the_last_prediction(engine, rows):
    model = lookup(engine, threads=2)
    codes = np.resize([0.0, 3.0], (rows, 1))
    before = model.predict(codes)
    bad = codes.copy()
    bad[-1] = 7.0
    with pytest.raises(IndexError, match=r"out of (range|bounds)"):
        model.predict(bad)
    assert np.array_equal(model.predict(codes), before)


def test_a_code_out_of_range_in_training_is_an_error_too():
    model = lookup("native")
    with pytest.raises(IndexError, match="out of range"):
        model.fit(np.array([[0.0], [9.0]]), np.zeros(2), epochs=1, verbose=False)
    with pytest.raises(IndexError, match="out of range"):
        pel.compile(lambda v, i: v[i], engine="native")(np.ones(3), np.array([5]))


LINKS = {
    "quantiles": nn.loss("quantile", quantiles=(0.1, 0.5, 0.9)),
    "a link that asks for values": nn.Loss.from_function(
        lambda s, y: (s - y) ** 2, link=lambda s: s * 2.0 if float(np.max(s)) > 0 else s
    ),
    "a link that NumPy alone has": nn.Loss.from_function(lambda s, y: (s - y) ** 2, link=lambda s: np.unwrap(s)),
}


@pytest.mark.parametrize("name", [*LOSSES, *LINKS])
def test_every_loss_predicts_on_the_native_engine(name, recwarn):
    loss = LOSSES[name] if name in LOSSES else LINKS[name]
    outputs = 6  # a multiple of every loss's numbers for an output
    models = [pel.Model(nn.mlp((5,), outputs), loss, engine=engine, dtype=float) for engine in ("numpy", "native")]
    reference, compiled = (model.initialize(3) for model in models)
    np.testing.assert_allclose(compiled.predict(X), reference.predict(X), rtol=1e-12)
    np.testing.assert_allclose(compiled.scores(X), reference.scores(X), rtol=1e-12)
    assert not recwarn.list  # the network is compiled, whatever the link


def test_a_network_that_cannot_be_recorded_predicts_by_numpy_and_says_so():
    @dataclass(frozen=True)
    class Peek(nn.Layer):
        def output(self, features: Any) -> Any:
            return features

        def __call__(self, p: Any, x: Any, ctx: Any) -> Any:
            return x if float(np.sum(x)) > 0 else -x

    model = pel.Model(nn.Sequential(Peek(), nn.Dense(1)), "squared_error", engine="native").initialize(3)
    with pytest.warns(UserWarning, match="prediction runs on the NumPy executor"):
        predicted = model.predict(X)
    assert predicted.shape == (40, 1)


@pytest.mark.parametrize("threads", [None, 1])
def test_a_loaded_model_gives_the_same_bits(tmp_path, threads):
    rng = np.random.default_rng(1)
    data, target = rng.normal(size=(3000, 20)), rng.integers(0, 3, 3000)
    for engine in ("auto", "native", "numpy"):
        model = pel.Model(nn.mlp((64, 64), 3, activation="gelu"), "cross_entropy", engine=engine, threads=threads)
        model.pays = 0.0  # "auto" compiles
        model.fit(data, target, epochs=2, verbose=False)
        model.save(tmp_path / "model.pel")
        loaded = pel.load(tmp_path / "model.pel")
        assert (loaded.threads, loaded.compiled) == (model.threads, model.compiled)
        for rows in (1, 7, 3000):
            assert loaded.predict(data[:rows]).tobytes() == model.predict(data[:rows]).tobytes()
            assert loaded.scores(data[:rows]).tobytes() == model.scores(data[:rows]).tobytes()


def test_a_loaded_estimator_gives_the_same_bits(tmp_path):
    rng = np.random.default_rng(1)
    data, target = rng.normal(size=(500, 20)), rng.integers(0, 3, 500)
    for engine in ("native", "numpy"):
        clf = pel.MLPClassifier((64, 64), max_iter=3, engine=engine, random_state=0, n_iter_no_change=100)
        with pytest.warns(UserWarning, match="converge"):
            clf.fit(data, target)
        clf.save(tmp_path / "clf.pel")
        assert pel.load(tmp_path / "clf.pel").predict_proba(data).tobytes() == clf.predict_proba(data).tobytes()
