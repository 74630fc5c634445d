"""Training and prediction on JAX: the numbers of the other engines, whole epochs at once, watched, saved, resumed."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import pellucid as pel
from pellucid import MLPClassifier, MLPRegressor, Model, inspect, nn, optim, train
from pellucid.engine.native.runtime.fallback import FallbackWarning

pytest.importorskip("jax")
pytestmark = pytest.mark.usefixtures("quick_xla")

rng = np.random.default_rng(0)
X = rng.normal(size=(90, 4))
Y = (X[:, 0] * X[:, 1] > 0).astype(int)


def model(engine="jax", *, dtype=np.float64, precision="full", **network):
    net = nn.mlp((8, 6), 2, **network)
    return Model(net, "cross_entropy", optim.Adam(0.01), ["accuracy"], dtype=dtype, engine=engine, precision=precision)


def fitted(engine="jax", *, network=None, dtype=np.float64, precision="full", **fit):
    made = model(engine, dtype=dtype, precision=precision, **(network or {}))
    made.fit(X, Y, **{"epochs": 4, "batch_size": 16, "verbose": False, **fit})
    return made


def same(a, b, rtol=1e-7, atol=1e-8):
    assert a.params.keys() == b.params.keys()
    for arrays, others in ((a.params, b.params), (a.state, b.state)):
        for name in arrays:
            assert_allclose(arrays[name], others[name], rtol=rtol, atol=atol, err_msg=name)


def test_the_history_is_that_of_the_numpy_engine():
    network = {"dropout": 0.3, "norm": "batch"}  # the same masks are drawn
    one, two = (fitted(engine, network=network, validation=0.2) for engine in ("jax", "numpy"))
    same(one, two)
    for a, b in zip(one.history.epochs, two.history.epochs, strict=True):
        assert a.keys() == b.keys()
        for name in a:
            assert_allclose(a[name], b[name], rtol=1e-9)
    assert_allclose(one.predict(X), two.predict(X), rtol=1e-7)


def test_the_same_call_gives_the_same_bits_and_compiles_nothing_anew():
    one = fitted()
    before = compiled()
    two = fitted()
    assert compiled() == before > 0
    for name in one.params:
        assert_array_equal(one.params[name], two.params[name])


def compiled():
    """How many programs the steps of all graphs have."""
    from pellucid.engine.jax.stepper import StepProgram
    from pellucid.train import shared_graphs

    programs = [p for graph in shared_graphs._known.values() for p in graph.kept.get(StepProgram, [])]
    return sum(p.epoch._cache_size() + p.part._cache_size() for p in programs)


def test_epochs_at_once_batch_by_batch_and_watched():
    class EachBatch(train.Callback):
        def __init__(self):
            self.losses = []

        def on_batch_end(self, run):
            self.losses.append(run.loss)

    each, watch = EachBatch(), inspect.Watch(every=4)
    plain, listened, watched = fitted(), fitted(callbacks=[each]), fitted(callbacks=[watch])
    assert len(each.losses) == 24
    same(plain, listened)
    same(plain, watched)
    other = inspect.Watch(every=4)
    fitted("numpy", callbacks=[other])
    assert_array_equal(watch.looks.steps, other.looks.steps)
    for ours, theirs in zip(watch.looks.raws, other.looks.raws, strict=True):
        for name in theirs:
            summary = slice(6) if np.ndim(theirs[name]) == 1 else ...  # rounding may move a number to the next bin
            assert_allclose(ours[name][summary], theirs[name][summary], rtol=1e-6, atol=1e-9, err_msg=name)


def test_callbacks_that_change_gradients():
    class Halved(train.Callback):
        def on_gradients(self, run, gradients):
            return {name: 0.5 * g for name, g in gradients.items()}

    same(fitted(callbacks=[Halved()]), fitted("numpy", callbacks=[Halved()]))


@pytest.mark.parametrize("first", ["jax", "numpy", "native"])
def test_a_run_goes_on_on_another_engine(tmp_path, first):
    whole = fitted("numpy", epochs=5)
    fitted(first, epochs=2, callbacks=[train.Checkpoint(tmp_path / "run.ckpt")])
    then = "numpy" if first == "jax" else "jax"
    resumed = fitted(then, epochs=5, callbacks=[train.Checkpoint(tmp_path / "run.ckpt")], resume=tmp_path)
    same(resumed, whole)
    assert [row["epoch"] for row in resumed.history.epochs] == [1, 2, 3, 4, 5]


def test_resumed_inside_an_epoch(tmp_path):
    fitted(epochs=None, steps=9, callbacks=[train.Checkpoint(tmp_path / "run.ckpt", every_steps=4)])
    resumed = fitted(epochs=3, callbacks=[train.Checkpoint(tmp_path / "run.ckpt", every_steps=4)], resume=tmp_path)
    same(resumed, fitted("numpy", epochs=3))


def test_precisions():
    exact = fitted()
    single = fitted(dtype=np.float32)
    short = fitted(dtype=np.float32, precision="bfloat16")
    assert single.params["hidden1.weight"].dtype == np.float32
    same(single, exact, rtol=1e-3, atol=1e-4)
    same(short, exact, rtol=0.2, atol=0.1)
    differences = [np.abs(short.params[name] - single.params[name]).max() for name in short.params]
    assert max(differences) > 1e-5  # it does round
    reference = fitted("numpy", dtype=np.float32, precision="bfloat16")
    same(short, reference, rtol=1e-2, atol=1e-3)


def test_divergence_is_found_where_it_happens():
    def diverged(engine):
        made = Model(nn.mlp((8,), 1), "squared_error", optim.SGD(50.0), engine=engine, dtype=np.float64)
        with pytest.raises(train.Diverged) as caught:
            made.fit(X, X[:, 0], epochs=50, batch_size=16, verbose=False)
        return caught.value.trouble, made

    (one, a), (two, b) = diverged("jax"), diverged("numpy")
    assert abs(one.step - two.step) <= 1
    assert one.operation == two.operation
    assert np.isfinite(a.predict(X)).all() == np.isfinite(b.predict(X)).all()


def test_streams():
    batches = [(X[i : i + 20], Y[i : i + 20]) for i in range(0, 90, 20)]
    one, two = model(), model("numpy")
    for each in (one, two):
        each.fit(batches, epochs=3, verbose=False)
    same(one, two)


def test_what_cannot_be_lowered_is_trained_by_numpy():
    from scipy import sparse

    made = Model(nn.mlp((8,), 2), "cross_entropy", optim.Adam(0.01), dtype=np.float64, engine="jax")
    with pytest.warns(FallbackWarning, match="the training step runs on the NumPy executor"):
        made.fit(sparse.csr_array(X), Y, epochs=1, verbose=False)
    assert made.history.epochs[-1]["loss"] > 0


def test_files(tmp_path, monkeypatch):
    made = fitted()
    made.save(tmp_path / "model.pel")
    again = pel.load(tmp_path / "model.pel")
    assert again.engine == "jax"
    assert_array_equal(again.predict(X), made.predict(X))
    monkeypatch.setattr("pellucid.engine.jax.library.find_spec", lambda name: None)
    with pytest.warns(FallbackWarning, match="pip install"):
        assert_allclose(pel.load(tmp_path / "model.pel").predict(X), made.predict(X), rtol=1e-9)
    with pytest.raises(ImportError, match="pip install"):
        again.fit(X, Y, epochs=1, verbose=False)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_estimators():
    settings = {"max_iter": 3, "random_state": 0, "hidden_layer_sizes": (8,)}
    one, two = (MLPClassifier(engine=engine, **settings).fit(X, Y) for engine in ("jax", "numpy"))
    assert_allclose(one.predict_proba(X), two.predict_proba(X), rtol=1e-3, atol=1e-5)
    one, two = (MLPRegressor(engine=engine, **settings).fit(X, X[:, 0]) for engine in ("jax", "numpy"))
    assert_allclose(one.predict(X), two.predict(X), rtol=1e-3, atol=1e-5)
