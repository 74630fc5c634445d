"""Training on the native engine equals training on NumPy: every activation, loss, layer, rule and link; the loop."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from pellucid import nn, optim, train
from pellucid.engine import numpy as reference
from pellucid.engine.native.runtime import fallback
from pellucid.engine.native.runtime.call import Function
from pellucid.graph.core.tree import flatten
from pellucid.train.loop.divergence import Diverged
from pellucid.train.loop.step import Snapshot, Trainer
from tests.nn.table_cases import ACTIVATIONS, GATES, LOSSES, target

pytestmark = pytest.mark.usefixtures("split")

rng = np.random.default_rng(5)
X = rng.normal(size=(23, 3))  # batches of 8: the last one is short
CLASSES = rng.integers(0, 3, 23)
TWO = rng.integers(0, 2, 23)
NUMBERS = rng.normal(size=(23, 2))


def network(loss, y, **options):
    return nn.mlp((5, 4), nn.loss(loss).outputs(y), **{"activation": "tanh", **options})


def trained(engine, net, loss, y, rule=None, threads=1, dtype="float64", model=None, **options):
    made = train.Model(net, loss, rule or optim.SGD(0.05), dtype=dtype, engine=engine, threads=threads, **(model or {}))
    made.initialize(X.shape[1], seed=1)
    made.fit(X, y, **{"epochs": 3, "batch_size": 8, "verbose": False, "seed": 2, **options})
    return made


def close(native, numpy, rtol=1e-10):
    """Parameters, statistics and history."""
    for got, expected in ((native.params, numpy.params), (native.state, numpy.state)):
        assert got.keys() == expected.keys()
        for name, array in expected.items():
            assert (got[name].shape, got[name].dtype) == (array.shape, array.dtype)
            scale = np.max(np.abs(array), initial=1e-3)
            assert_allclose(got[name], array, rtol=rtol, atol=rtol * scale, err_msg=name)
    for row, other in zip(native.history.epochs, numpy.history.epochs, strict=True):
        assert row.keys() == other.keys()
        for name in row:
            assert_allclose(row[name], other[name], rtol=rtol, atol=rtol, err_msg=name)


def check(make, loss, y, rule=None, threads=(1, 2), dtype="float64", rtol=1e-10, **options):
    """`make()` is the network. Native training for each number of threads, against NumPy."""
    expected = trained("numpy", make(), loss, y, rule, dtype=dtype, **options)
    for number in threads:
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # nothing may fall back
            close(trained("native", make(), loss, y, rule, number, dtype, **options), expected, rtol)


# every entry of the tables


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_every_activation(name):
    check(lambda: network("cross_entropy", CLASSES, activation=name), "cross_entropy", CLASSES)


@pytest.mark.parametrize("name", GATES)
def test_every_gate(name):
    check(lambda: network("cross_entropy", CLASSES, activation=name), "cross_entropy", CLASSES)


@pytest.mark.parametrize("name", LOSSES)
def test_every_loss(name):
    y = target(name, len(X), rng)
    weights = rng.uniform(0.5, 2, 23)
    check(lambda: network(name, y), name, y)
    check(lambda: network(name, y, activation="relu"), name, y, sample_weight=weights, threads=(3,))


RULES = {name: rule(0.02) for name, rule in optim.RULES.items() if name != "heavy_ball"} | {
    "nesterov_with_decay": optim.chain(optim.Nesterov(0.02), optim.WeightDecay(0.1)),
    "adam_all_links": optim.chain(
        optim.ClipNorm(0.3), optim.Adam(optim.Cosine(0.02)), optim.WeightDecay(0.01), optim.EMA(0.9)
    ),
    "clip_value": optim.chain(optim.ClipValue(0.05), optim.Momentum(0.05)),
    "accumulate": optim.chain(optim.Accumulate(2), optim.Adam(0.02)),
    "swa": optim.chain(optim.SGD(0.05), optim.SWA(optim.Epochs(1))),
    "max_norm": optim.chain(optim.SGD(0.1), optim.Constraint(nn.MaxNorm(0.7))),
    "groups": optim.optimizer(
        optim.Adam(0.02), groups=[optim.Group("hidden1*", lr=0.1), optim.Group("*.bias", lr=2.0)]
    ),
    "scheduled_momentum": optim.Momentum(optim.OneCycle(0.1), beta=optim.Polynomial(0.9, end=0.5)),
}


@pytest.mark.parametrize("name", RULES)
def test_every_rule_and_link(name):
    check(lambda: network("squared_error", NUMBERS), "squared_error", NUMBERS, RULES[name])


LAYERS = {
    "batch_norm": lambda: nn.mlp((5, 4), 2, norm="batch"),
    "batch_norm_after": lambda: nn.mlp((5, 4), 2, norm="batch", norm_place="after", activation="gelu"),
    "layer_norm": lambda: nn.mlp((5, 4), 2, norm="layer"),
    "rms_norm": lambda: nn.mlp((5, 4), 2, norm="rms", activation="silu"),
    "dropout": lambda: nn.mlp((5, 4), 2, dropout=0.3, input_dropout=0.1),
    "batch_norm_and_dropout": lambda: nn.mlp((40, 35), 2, dropout=0.3, norm="batch", activation="gelu"),
    "alpha_dropout": lambda: nn.Sequential(nn.Dense(5), nn.SELU(), nn.AlphaDropout(0.2), nn.Dense(2)),
    "gaussian_noise": lambda: nn.Sequential(nn.GaussianNoise(0.3), nn.Dense(5), nn.Tanh(), nn.Dense(2)),
    "residual": lambda: nn.Sequential(nn.Residual(nn.Sequential(nn.Dense(3), nn.Tanh())), nn.Dense(2)),
    "concat": lambda: nn.Sequential(nn.Concat(nn.Dense(3), nn.Sequential(nn.Dense(2), nn.ReLU())), nn.Dense(2)),
    "learned_slope": lambda: nn.Sequential(nn.Dense(4), nn.PReLU(), nn.Scale(), nn.Dense(2)),
    "softmax_inside": lambda: nn.Sequential(nn.Dense(4), nn.Softmax(), nn.Dense(2)),
    "ntk_scaling": lambda: nn.mlp((5, 4), 2, scaling="ntk"),
    "one_layer": lambda: nn.mlp((), 2),
    "one_unit": lambda: nn.mlp((1,), 2, activation="tanh"),
    "wide": lambda: nn.mlp((70, 33), 2, activation=["tanh", "relu"]),
}


@pytest.mark.parametrize("name", LAYERS)
def test_every_layer(name):
    # not Adam: a bias ahead of batch normalisation has no gradient, and Adam would make steps of the rounding errors
    check(LAYERS[name], "squared_error", NUMBERS, optim.Momentum(0.02), threads=(1, 3))


def test_flatten_and_mixed_precision():
    images = rng.normal(size=(23, 2, 3))

    def fitted(engine):
        net = nn.Sequential(nn.Flatten(), nn.Compute(nn.Sequential(nn.Dense(4), nn.Tanh())), nn.Dense(2))
        made = train.Model(net, "squared_error", optim.SGD(0.05), dtype="float64", engine=engine, threads=2)
        made.fit(images, NUMBERS, epochs=3, batch_size=8, verbose=False)
        return made

    close(fitted("native"), fitted("numpy"), rtol=1e-5)


@pytest.mark.parametrize(
    "penalty",
    [nn.L1(0.01), nn.L2(0.01), nn.ElasticNet(0.01, 0.02), nn.L1(0.01) + nn.L2(0.02)],
    ids=lambda p: repr(p)[:12],
)
def test_every_penalty(penalty):
    check(lambda: network("squared_error", NUMBERS), "squared_error", NUMBERS, model={"penalty": penalty})


# float32, more or less the same program again: a selection


@pytest.mark.parametrize("name", ["relu", "gelu", "batch_norm_and_dropout", "adam_all_links", "focal"])
def test_float32(name):
    y = CLASSES if name == "focal" else NUMBERS
    loss = "focal" if name == "focal" else "squared_error"
    rule = RULES.get(name, optim.Momentum(0.02))
    make = LAYERS.get(name, lambda: network(loss, y, activation=name if name in ACTIVATIONS else "tanh"))
    check(make, loss, y, rule, dtype="float32", rtol=2e-4)


# the user's own


@dataclass(frozen=True)
class Heavy(optim.Rule):
    """A rule with an array and a number as state."""

    def init(self, w):
        return {"m": np.zeros_like(w), "count": np.zeros(())}

    def step(self, w, g, s, lr, t):
        m = np.where(t > 1, 0.8 * s["m"], 0.0) + g
        scale = 1 / np.sqrt(1 + np.mean(m * m))
        return w - optim.like(lr, w) * scale * m, {"m": m, "count": s["count"] + 1}


def test_own_activation_loss_and_rule():
    def wave(x):
        return np.sin(x) * np.exp(-0.1 * x * x) + np.where(x > 1, np.log1p(np.abs(x)), 0.1 * x)

    def cost(s, y):
        return np.sum(np.log(np.cosh(s - y)) + 0.1 * np.abs(np.cumsum(s - y, axis=1)), axis=1)

    check(
        lambda: network("squared_error", NUMBERS, activation=wave),
        nn.loss(cost),
        NUMBERS,
        Heavy(0.05),
        threads=(1, 2, 3),
    )


# the whole step as a graph


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("norm", [None, "batch"])
def test_one_step_leaves_its_arguments_alone(norm, dtype):
    net = nn.mlp((6, 4), 3, norm=norm, dropout=0.2, activation="gelu")
    params, state = net.initialize(3, seed=0, dtype=dtype)
    optimizer = optim.optimizer(optim.chain(optim.ClipNorm(0.1), optim.Momentum(0.1), optim.WeightDecay(0.1)))
    trainer = Trainer(net, nn.loss("cross_entropy"), optimizer, nn.L2(0.01))
    numbers = {k: np.float64(v) for k, v in optimizer.numbers(0).items()}
    now = (params, state, optimizer.init(params))
    batch = (X.astype(dtype), CLASSES)
    graph = trainer.graph_of_step(Snapshot(*now), batch, numbers, {})
    args: Any = (now, batch, np.int64(3), numbers, {})
    before = [np.array(leaf) for leaf in flatten(args)[0]]
    expected = flatten(reference.run(graph, *args))[0]
    for threads in (1, 2, 3):
        step = Function(graph, threads)
        first, again = (flatten(step(*args))[0] for _ in range(2))
        for a, b, e in zip(first, again, expected, strict=True):
            assert_array_equal(a, b)  # same number of threads: same bits
            assert np.asarray(a).dtype == np.asarray(e).dtype
            tolerance = 1e-10 if dtype == np.float64 else 2e-4
            assert_allclose(a, e, rtol=tolerance, atol=tolerance * max(1e-2, np.max(np.abs(e), initial=0)))
    for leaf, old in zip(flatten(args)[0], before, strict=True):
        assert_array_equal(leaf, old)


# the loop


def test_schedules_settings_weights_and_validation():
    options = {
        "model": {
            "settings": {"hidden1.dropout.rate": optim.Polynomial(0.4, end=0.1), "loss.smoothing": 0.1},
            "metrics": ["accuracy"],
        },
        "sample_weight": rng.uniform(0.5, 2, 23),
        "validation": (X[:9], CLASSES[:9]),
    }
    rule = optim.Adam(optim.Warmup(3, then=optim.Cosine(0.02)))
    check(lambda: network("cross_entropy", CLASSES, dropout=0.2), "cross_entropy", CLASSES, rule, **options)
    check(lambda: network("cross_entropy", CLASSES), "cross_entropy", CLASSES, rule, class_weight="balanced", steps=5)


def test_reduce_on_plateau_and_early_stopping():
    def fitted(engine):
        callbacks = [train.Plateau(optim.ReduceOnPlateau(patience=1)), train.EarlyStopping(patience=3)]
        return trained(
            engine,
            network("squared_error", NUMBERS),
            "squared_error",
            NUMBERS,
            optim.SGD(0.8),
            epochs=12,
            validation=(X[:9] + 3, NUMBERS[:9]),
            callbacks=callbacks,
        )

    native, numpy = fitted("native"), fitted("numpy")
    close(native, numpy, rtol=1e-7)
    assert native.history.stopped == numpy.history.stopped
    assert len(native.history.epochs) < 12


class Watch(train.Callback):
    def __init__(self):
        self.seen = []

    def on_batch_end(self, run):
        self.seen.append((run.step, run.batch, run.loss, run.gradient_norm, run.lr))
        self.last = {k: np.array(v) for k, v in run.now.params.items()}


class Shrink(train.Callback):
    def on_gradients(self, run, gradients):
        return {k: 0.5 * g for k, g in gradients.items()}


def test_callbacks_see_the_same_numbers():
    def fitted(engine, *callbacks, threads=1):
        return trained(
            engine,
            network("cross_entropy", CLASSES),
            "cross_entropy",
            CLASSES,
            optim.Adam(0.02),
            threads,
            callbacks=callbacks,
        )

    native, numpy = Watch(), Watch()
    alone = fitted("native")
    with_watch = fitted("native", native)
    close(with_watch, fitted("numpy", numpy))
    assert_allclose(native.seen, numpy.seen, rtol=1e-10)
    for name, array in alone.params.items():  # batch by batch or epoch by epoch: the same bits
        assert_array_equal(with_watch.params[name], array)
        assert_array_equal(native.last[name], array)
    close(fitted("native", Shrink()), fitted("numpy", Shrink()))


def test_a_last_batch_of_one_row_under_batch_normalisation_falls_back_once():
    fallback._told.clear()
    make = lambda: nn.mlp((5,), 2, norm="batch")
    with pytest.warns(fallback.FallbackWarning, match="last batch of an epoch has 1 row") as told:
        native = trained("native", make(), "squared_error", NUMBERS, batch_size=11)
    assert len(told) == 1
    close(native, trained("numpy", make(), "squared_error", NUMBERS, batch_size=11))


@pytest.mark.parametrize("threads", [1, 2])
def test_resumed_equals_uninterrupted(tmp_path, threads):
    rule = optim.chain(optim.ClipNorm(1.0), optim.Adam(optim.Cosine(0.02)), optim.EMA(0.9))

    def fitted(epochs=6, callbacks=(), resume=None):
        net = nn.mlp((6, 5), 3, norm="batch", dropout=0.2)
        return trained(
            "native", net, "cross_entropy", CLASSES, rule, threads, epochs=epochs, callbacks=callbacks, resume=resume
        )

    class Killed(train.Callback):
        def on_epoch_begin(self, run):
            if run.epoch == 4:
                raise SystemExit

    whole = fitted()
    path = tmp_path / "run"
    with pytest.raises(SystemExit):
        fitted(callbacks=[train.Checkpoint(path), Killed()])
    resumed = fitted(callbacks=[train.Checkpoint(tmp_path / "other")], resume=path)
    for name, array in whole.params.items():
        assert_array_equal(resumed.params[name], array)
    for name, array in whole.state.items():
        assert_array_equal(resumed.state[name], array)
    assert resumed.history["loss"] == whole.history["loss"]


def test_the_best_parameters_come_back():
    def fitted(engine):
        return trained(
            engine,
            network("squared_error", NUMBERS),
            "squared_error",
            NUMBERS,
            optim.Adam(0.3),
            epochs=8,
            validation=(X[:6], NUMBERS[:6]),
            callbacks=[train.EarlyStopping(patience=2, restore_best=True)],
        )

    close(fitted("native"), fitted("numpy"), rtol=1e-7)


# divergence: the parameters stay those before the bad step


def explosive(engine, y, rule, threads=1, watch=None, **options):
    made = train.Model(
        nn.mlp((5,), 2, activation="tanh"), "squared_error", rule, dtype="float64", engine=engine, threads=threads
    )
    made.initialize(3, seed=0)
    callbacks = [] if watch is None else [watch]
    with pytest.raises(Diverged) as error:
        made.fit(X, y, epochs=4, batch_size=8, verbose=False, callbacks=callbacks, seed=2, **options)
    return made, str(error.value)


@pytest.mark.parametrize("threads", [1, 2])
def test_a_bad_row_stops_before_it_is_learned(threads):
    y = NUMBERS.copy()
    y[11, 0] = 1e200  # its square is infinite
    numpy, said = explosive("numpy", y, optim.Adam(0.01))
    native, says = explosive("native", y, optim.Adam(0.01), threads)
    close(native, numpy)
    assert said.split(":")[0] == says.split(":")[0]


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("watch", [False, True])
def test_rule_that_breaks_only_the_parameters(threads, watch):
    @dataclass(frozen=True)
    class Breaks(optim.Rule):
        def init(self, w):
            return {}

        def step(self, w, g, s, lr, t):
            return w - optim.like(lr, w) * g / np.where(t < 6, 1.0, 0.0).astype(w.dtype), {}

    numpy, said = explosive("numpy", NUMBERS, Breaks(0.01))
    native, says = explosive("native", NUMBERS, Breaks(0.01), threads, Watch() if watch else None)
    close(native, numpy)
    assert said.split(":")[0] == says.split(":")[0]


def test_loss_that_breaks_only_the_gradient():
    def cost(s, y):
        return np.sum(np.sqrt(np.maximum(s - y, 0.0) ** 2), axis=1)  # the slope at 0 is 0 / 0

    y = NUMBERS + 100.0

    def fitted(engine):
        made = train.Model(nn.mlp((3,), 2), nn.loss(cost), optim.SGD(0.1), dtype="float64", engine=engine, threads=2)
        made.initialize(3, seed=0)
        with pytest.raises(Diverged):
            made.fit(X, y, epochs=2, batch_size=8, verbose=False)
        return made

    close(fitted("native"), fitted("numpy"))
