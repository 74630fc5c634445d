"""Prediction by compiled code: errors are raised, every loss and link works, a loaded model gives the same bits."""

import copy
import pickle
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import pellucid as pel
from pellucid import Model, nn, optim
from pellucid.nn.layers.layer import Parameter
from pellucid.nn.losses.table import LOSSES
from tests.both_engines import X, Y, both, each_engine, fitted, same

NARROW = np.random.default_rng(0).normal(size=(40, 3)).astype(np.float32)


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


@each_engine
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
    assert_allclose(compiled.predict(NARROW), reference.predict(NARROW), rtol=1e-12)
    assert_allclose(compiled.scores(NARROW), reference.scores(NARROW), rtol=1e-12)
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
        predicted = model.predict(NARROW)
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


# parameters that change between predictions


def expected(model):
    """The prediction of the same parameters, by NumPy."""
    return model.loss.link(model.net.predict(model.params, X, model.state))


def shared_slope():
    return nn.Sequential(nn.Dense(8), nn.PReLU(shared=True), nn.Dense(2))


def test_a_parameter_without_axes_is_validated_as_it_is():
    held = X[:20], X[:20, :2]
    native, numpy = both(shared_slope(), optim.Adam(0.05), y=X[:, :2], epochs=8, validation=held)
    same(native, numpy)
    for a, b in zip(native.history.epochs, numpy.history.epochs, strict=True):
        assert_allclose(a["val_loss"], b["val_loss"], rtol=1e-9)


def test_predictions_follow_a_parameter_without_axes():
    model = Model(shared_slope(), engine="native", threads=1).initialize(5)
    (name,) = [name for name, value in model.params.items() if np.ndim(value) == 0]
    first = model.predict(X)
    for slope in (np.float32(5), np.array(-3, np.float32), np.float32(5)):
        model.params[name] = slope
        assert np.abs(model.predict(X) - first).max() > 0.01
        assert_allclose(model.predict(X), expected(model), rtol=1e-4, atol=1e-5)
    model.params[name] = held = np.array(2, np.float32)
    model.predict(X)
    held[...] = -7  # in place
    assert_allclose(model.predict(X), expected(model), rtol=1e-4, atol=1e-5)


def test_predictions_follow_what_is_changed_in_place():
    model = fitted("native", nn.mlp((8, 6), 1))
    before = model.predict(X)
    (name,) = [name for name, value in model.params.items() if value.shape == (1,)]
    model.params[name][...] = 5  # one element: contiguous in every order
    assert np.abs(model.predict(X) - before).max() > 1
    assert_allclose(model.predict(X), expected(model), rtol=1e-10)
    (name,) = [name for name, value in model.params.items() if value.shape == (8, 6)]
    model.params[name] = np.asfortranarray(model.params[name])
    before = model.predict(X)
    model.params[name][...] = np.random.default_rng(1).normal(size=(8, 6))
    assert np.abs(model.predict(X) - before).max() > 0.01
    assert_allclose(model.predict(X), expected(model), rtol=1e-10)


@pytest.mark.parametrize("again", [copy.deepcopy, lambda model: pickle.loads(pickle.dumps(model))])
def test_a_copy_predicts_the_same_and_is_a_model_of_its_own(again):
    model = fitted("native", nn.mlp((8,), 2), loss="cross_entropy", y=Y)
    prediction = model.predict(X)
    other = again(model)
    assert_array_equal(other.predict(X), prediction)
    for value in other.params.values():
        value[...] = 0
    assert_array_equal(model.predict(X), prediction)
    assert_allclose(other.predict(X), 0.5)
    model.fit(X, Y, epochs=1, verbose=False)
    assert_allclose(other.predict(X), 0.5)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_what_is_not_a_number_is_not_predicted(dtype, bad):
    model = Model(nn.mlp((8,), 1), dtype=dtype, engine="native", threads=1).initialize(5)
    for given in (np.float32, np.float64):
        wrong = X.astype(given)
        wrong[3, 2] = bad
        for method in (model.predict, model.scores):
            with pytest.raises(ValueError, match="NaN or infinity"):
                method(wrong)
        assert np.isfinite(model.predict(X.astype(given))).all()
