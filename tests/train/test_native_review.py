"""What a review of the native engine found in training and prediction: each case against the NumPy engine."""

from __future__ import annotations

import copy
import os
import pickle
import subprocess
import sys
import tempfile
import threading
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import pellucid as pel
from pellucid import Model, nn, optim, train
from pellucid.nn.losses.loss import Loss
from pellucid.optim import Schedule
from pellucid.optim.rules.rule import Rule

rng = np.random.default_rng(0)
X = rng.normal(size=(70, 5))
Y = (X[:, 0] > 0).astype(int)


@pytest.fixture(autouse=True, scope="module")
def kernels():
    """Not the user's cache."""
    before = os.environ.get("PELLUCID_CACHE_DIR")
    os.environ["PELLUCID_CACHE_DIR"] = os.path.join(tempfile.gettempdir(), f"pellucid-test-kernels-{os.getuid()}")
    yield
    os.environ.pop("PELLUCID_CACHE_DIR") if before is None else os.environ.update(PELLUCID_CACHE_DIR=before)


@pytest.fixture
def split(monkeypatch):
    """Graphs of every size are split over all threads they are given."""
    monkeypatch.setattr("pellucid.engine.native.work.PER_THREAD", 1)


def fitted(engine, net=None, rule=None, loss="squared_error", y=X[:, 0], *, dtype=np.float64, threads=1, **fit):
    made = Model(net or nn.mlp((8,), 1), loss, rule or optim.Adam(0.01), dtype=dtype, engine=engine, threads=threads)
    made.fit(X[: len(y)], y, **{"epochs": 4, "batch_size": 32, "verbose": False, **fit})
    return made


def both(*args, **kwargs):
    return [fitted(engine, *args, **kwargs) for engine in ("native", "numpy")]


def same(native, numpy, rtol=1e-8):
    assert native.params.keys() == numpy.params.keys()
    for name in native.params:
        assert_allclose(native.params[name], numpy.params[name], rtol=rtol, atol=1e-11, err_msg=name)
    for name in native.state:
        assert_allclose(native.state[name], numpy.state[name], rtol=rtol, atol=1e-11, err_msg=name)


# rows wider than one block


@pytest.mark.parametrize("rule", [optim.SGD(0.01), optim.Momentum(0.01)], ids=lambda rule: type(rule).__name__)
@pytest.mark.parametrize("norm", [nn.RMSNorm, nn.LayerNorm, nn.BatchNorm])
@pytest.mark.parametrize("activation", ["relu", "softmax", "gelu"])
def test_wide_residual_blocks(norm, activation, rule):
    block = nn.Sequential(norm(), nn.Dense(64), activation)
    same(*both(nn.Sequential(nn.Dense(64), nn.Residual(block), nn.Dense(1)), rule))


def test_wide_blocks_with_the_norm_behind():
    block = nn.Sequential(nn.Dense(64), nn.RMSNorm())
    same(*both(nn.Sequential(nn.Dense(64), "relu", nn.Residual(block), nn.Dense(1)), optim.SGD(0.01)))


@dataclass(frozen=True)
class ShortRows(Rule):
    """Momentum, with rows of norm 1 at most."""

    def init(self, w):
        return {"v": np.zeros_like(w)}

    def step(self, w, g, s, lr, t):
        v = 0.9 * s["v"] + g
        w1 = w - lr * v
        norm = np.sqrt(np.sum(w1 * w1, axis=-1, keepdims=True) + 1e-6)
        return w1 * np.minimum(1.0, 1.0 / norm), {"v": v}


def test_a_rule_that_reads_its_rows_twice():
    native, numpy = both(nn.mlp((64, 64), 1), ShortRows(lr=0.05))
    same(native, numpy)
    longest = max(float(np.linalg.norm(w, axis=-1).max()) for w in native.params.values())
    assert_allclose(longest, 1, atol=1e-6)


# rules that pass their arrays on


@dataclass(frozen=True)
class Previous(Rule):
    """The state is the old parameters."""

    def init(self, w):
        return {"prev": np.array(w)}

    def step(self, w, g, s, lr, t):
        return w - lr * g + 0.5 * (w - s["prev"]), {"prev": w}


@dataclass(frozen=True)
class Swap(Rule):
    """Two states change places."""

    def init(self, w):
        return {"a": np.zeros_like(w), "b": np.ones_like(w)}

    def step(self, w, g, s, lr, t):
        return w - lr * (g + s["a"]), {"a": s["b"], "b": s["a"]}


@dataclass(frozen=True)
class Circle(Rule):
    """Three states and the parameters go round."""

    def init(self, w):
        return {"a": np.zeros_like(w), "b": np.ones_like(w), "c": np.full_like(w, -1.0)}

    def step(self, w, g, s, lr, t):
        return w - lr * (g + s["a"]), {"a": s["b"], "b": s["c"], "c": s["a"] + 0.0 * w}


@dataclass(frozen=True)
class Delayed(Rule):
    """Each of the two new arrays needs the other's old one."""

    def init(self, w):
        return {"v": np.zeros_like(w)}

    def step(self, w, g, s, lr, t):
        return w - lr * s["v"], {"v": 0.9 * s["v"] + g + 0.01 * w}


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("rule", [Previous, Swap, Circle, Delayed])
def test_rules_that_pass_their_arrays_on(rule, threads, split):
    same(*both(nn.mlp((40, 8), 1), rule(lr=0.01), threads=threads))


@pytest.mark.parametrize("threads", [1, 2])
def test_large_arrays_that_wait_for_each_other(threads):
    same(*both(nn.mlp((256, 256), 1), Delayed(lr=0.01), threads=threads, epochs=2))


# memory used again


def test_last_batches_of_many_sizes():
    for rest in range(1, 14):
        same(*both(nn.mlp((8,), 2), loss="cross_entropy", y=Y[: 32 + rest], epochs=3))


# Ctrl-C, in a process of its own

INTERRUPTED = """
import signal
signal.signal(signal.SIGINT, signal.default_int_handler)  # whatever started the tests may ignore it
import os, signal, threading
import numpy as np
from pellucid import Model, nn, optim, train
from pellucid.engine.native import run, work

work.PER_THREAD = 1
rng = np.random.default_rng(0)
X = rng.normal(size=(2000, 20))
y = (X[:, 0] > 0).astype(int)


class Keep(train.Callback):
    def on_fit_end(self, run):
        self.step = run.step


def fit(threads, **call):
    net, rule = nn.mlp((64,), 2), optim.Adam(0.001)
    made = Model(net, "cross_entropy", rule, dtype=np.float64, engine="native", threads=threads)
    made.fit(X, y, batch_size=256, verbose=False, **call)
    return made


def equal(a, b):
    return all(np.array_equal(a.params[name], b.params[name]) for name in a.params)


reference = fit(2, epochs=3)
for threads, delay in ((1, 0.4), (2, 0.4), (2, 0.57)):
    keep = Keep()
    threading.Timer(delay, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
    one = fit(threads, epochs=10**7, callbacks=[keep])
    again = fit(threads, steps=max(1, keep.step))
    noted = keep.step // 8 == len(one.history.epochs)
    print(one.history.stopped, noted, equal(one, again), equal(fit(2, epochs=3), reference), flush=True)
print("no answer left over:", [crew.done.empty() for crew in run._free])
"""


def test_after_ctrl_c_step_parameters_and_threads_agree():
    """The parameters are those after `run.step` steps, and what follows in the process waits for all its threads."""
    source = str(Path(__file__).parents[2] / "src")
    environment = {**os.environ, "PYTHONPATH": source + os.pathsep + os.environ.get("PYTHONPATH", "")}
    child = [sys.executable, "-c", INTERRUPTED]
    done = subprocess.run(child, capture_output=True, text=True, env=environment, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == ["interrupted by the user (Ctrl-C) True True True"] * 3 + [
        "no answer left over: [True]"
    ]


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
    model.params[name][...] = rng.normal(size=(8, 6))
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


# divergence


def test_divergence_can_be_ignored():
    native, numpy = both(rule=optim.SGD(1e6), y=X[:, 0] * 100, dtype=np.float32, epochs=5, on_divergence="ignore")
    assert native.history.stopped == numpy.history.stopped
    assert len(native.history.epochs) == len(numpy.history.epochs) == 5
    for name in native.params:
        assert_array_equal(np.isfinite(native.params[name]), np.isfinite(numpy.params[name]))


@dataclass(frozen=True)
class Jump(Schedule):
    """A rate that float32 cannot hold, after some steps."""

    at: int = 8

    def __call__(self, t):
        return 1e39 if t >= self.at else 0.05

    def fit(self, total_steps, steps_per_epoch):
        return self


class Alternate(train.Callback):
    """A rate that is changed in the midst of an epoch."""

    def on_batch_end(self, run):
        run.factor = 0.5 if run.step % 2 else 1.0


@pytest.mark.parametrize("at", [3, 8, 12])
def test_a_step_taken_back_repeats_the_factors_of_the_batches(at):
    native, numpy = both(
        rule=optim.SGD(Jump(at)),
        dtype=np.float32,
        epochs=30,
        batch_size=16,
        on_divergence="stop",
        callbacks=[Alternate()],
    )
    assert "diverged" in native.history.stopped
    assert native.history.stopped.split(":")[0] == numpy.history.stopped.split(":")[0]
    for name in native.params:
        assert_allclose(native.params[name], numpy.params[name], rtol=1e-4, atol=1e-6)


# losses of one's own


def picked(s, y):
    return np.sum(s * s, axis=1) - np.sum(pel.one_hot(y[:, 0].astype(np.int64), 2) * s, axis=1)


@dataclass(frozen=True)
class Picked(Loss):
    """One label for two scores, not validated."""

    name = "picked"
    per_output = 2

    def each(self, s, y):
        return picked(s, y)


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("engine", ["native", "numpy"])
@pytest.mark.parametrize("label", [7, 2, -1])
def test_a_label_out_of_range_is_an_error_in_every_loss(engine, label, threads, split):
    labels = Y.astype(float)
    call = {"rule": optim.SGD(0.01), "threads": threads, "epochs": 2}
    fitted(engine, nn.mlp((8,), 2), loss=Picked(), y=labels, **call)
    labels[50] = label
    with pytest.raises(ValueError, match="label"):
        fitted(engine, nn.mlp((8,), 2), loss=Picked(), y=labels, **call)
    with pytest.raises(ValueError, match="label"):
        fitted(engine, nn.mlp((8,), 2), loss=picked, y=np.stack([labels, labels], axis=1), **call)


@pytest.mark.parametrize("engine", ["native", "numpy"])
def test_a_function_is_recorded_with_the_values_it_closes_over(engine):
    """Two models, one function, whose variable changes in between."""
    box = {"c": 1.0}

    def squared(s, y):
        return box["c"] * (s - y) ** 2

    def first_loss(c):
        box["c"] = c
        made = fitted(engine, loss=squared, epochs=1, batch_size=70, shuffle=False)
        start = Model(made.net, squared, dtype=np.float64, engine="numpy").initialize(5, seed=0)
        assert_allclose(made.history.epochs[0]["loss"], start.evaluate(X, X[:, 0])["loss"], rtol=1e-9)
        return made.history.epochs[0]["loss"]

    one, hundred, again = (first_loss(c) for c in (1.0, 100.0, 1.0))
    assert_allclose(hundred, 100 * one, rtol=1e-9)
    assert_allclose(again, one, rtol=1e-12)


# threads


def test_passing_callers_leave_no_threads_behind(split):
    model = fitted("native", nn.mlp((64,), 2), loss="cross_entropy", y=Y, threads=2)
    first, wrong = model.predict(X), []

    def call():
        if not np.array_equal(model.predict(X), first):
            wrong.append(threading.current_thread().name)

    before = threading.active_count()
    for _ in range(20):
        caller = threading.Thread(target=call)
        caller.start()
        caller.join()
    assert threading.active_count() <= before + 3
    assert not wrong


@pytest.mark.parametrize("rule", [optim.SGD(0.1), optim.Adam(0.1)], ids=["sgd", "adam"])
def test_one_feature_one_output_and_a_penalty(rule):
    """Loss and new weight are numbers of one loop: the weight is not overwritten before the loss is checked."""
    X = np.random.default_rng(0).normal(size=(30, 1))
    found = []
    for engine in ("native", "numpy"):
        model = pel.Model(
            nn.mlp((), 1), "half_squared_error", rule, dtype="float64", engine=engine, penalty=nn.L2(1e-3)
        )
        model.fit(X, 2 * X[:, 0] + 1, epochs=5, batch_size=8, verbose=False)
        found.append(np.concatenate([w.ravel() for w in model.params.values()]))
    np.testing.assert_allclose(found[0], found[1], rtol=1e-12)
