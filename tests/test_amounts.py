"""Every number that can be set: NaN, infinity, negative numbers, booleans and texts are refused, by name."""

import inspect
import math
from enum import Enum
from numbers import Real
from typing import Any

import numpy as np
import pytest

from pellucid import estimators, nn, optim, train

NONSENSE = [math.nan, math.inf, -1, True, "3"]
X = np.random.default_rng(0).normal(size=(40, 2))
Y = X[:, 0]
LABELS = (Y > 0).astype(int)

FINE: dict[tuple[str, str], list[Any]] = {  # what is no nonsense there
    ("MLPClassifier", "n_iter_no_change"): [math.inf],
    ("MLPRegressor", "n_iter_no_change"): [math.inf],
    ("tune", "n_jobs"): [-1],
    ("BaggedMLPRegressor", "n_jobs"): [-1],
    ("CodedDense", "bias"): [-1],
    ("CodedDense", "table"): [-1],
    ("Network", "bias"): [-1],
    ("Network", "output_bias"): [-1],
    ("Network", "init"): [-1],
    ("Network", "output_init"): [-1],
    ("poisson", "constant"): [True],
}


def cases():
    """(who, what, call with a value)"""
    yield from records()
    yield from losses()
    yield from calls()
    yield from of_estimators()


NEEDED: dict[str, dict[str, Any]] = {
    "Accumulate": {"k": 2},
    "ClipNorm": {"limit": 1.0},
    "ClipValue": {"limit": 1.0},
    "CodedDense": {"units": 3, "sizes": (3,)},
    "Constant": {"value": 1.0},
    "CosLog": {"start": 1.0},
    "Cosine": {"start": 1.0},
    "Dense": {"units": 3},
    "EachMember": {"of": nn.loss("squared_error"), "members": 2},
    "ElasticNet": {"l1": 0.1, "l2": 0.1},
    "Embed": {"sizes": (3,)},
    "Epochs": {"count": 1.0},
    "ExpSteps": {"start": 1.0, "c": 1.0, "k": 1},
    "Exponential": {"start": 1.0, "factor": 0.5},
    "FlatCos": {"start": 1.0},
    "GLU": {"units": 3},
    "Group": {"on": "*"},
    "Heads": {"outputs": 1, "members": 2},
    "InverseScaling": {"start": 1.0},
    "InverseSqrt": {"start": 1.0, "c": 1.0},
    "InverseTime": {"start": 1.0, "c": 1.0},
    "L1": {"strength": 0.1},
    "L2": {"strength": 0.1},
    "MaxNorm": {"limit": 1.0},
    "Maxout": {"units": 3},
    "Members": {"members": 2},
    "OneCycle": {"peak": 1.0},
    "Periodic": {"columns": 1},
    "PiecewiseLinear": {"columns": 1},
    "Polynomial": {"start": 1.0},
    "Step": {"start": 1.0, "every": 1},
    "Warmup": {"steps": 3, "then": 0.1},
    "WeightDecay": {"rate": 0.1},
}
TIMES = {"steps", "start"}  # None has a meaning of its own there
OTHERS = {"Interval", "Activation", "Parameter", "Context", "PerRow"}  # not made by users, or no numbers


def records():
    """All numbers of the records of nn and optim, by their defaults."""
    for room in (nn, optim):
        for name, cls in vars(room).items():
            if not inspect.isclass(cls) or inspect.isabstract(cls) or issubclass(cls, Enum) or name in OTHERS:
                continue
            given = NEEDED.get(name, {})
            for one in inspect.signature(cls).parameters.values():
                value = given.get(one.name, one.default)
                number = isinstance(value, Real) and not isinstance(value, bool)
                if not number and not (value is None and one.name in TIMES):
                    continue
                if (cls, one.name) in START:
                    continue
                yield name, one.name, lambda v, cls=cls, given=given, key=one.name: cls(**{**given, key: v})


START = {
    (nn.Dense, "bias"),
    (nn.Maxout, "bias"),
    (nn.GLU, "bias"),
    (nn.Heads, "bias"),
    (nn.PiecewiseLinear, "init"),
    (nn.Scale, "init"),
}  # initialisers: seen below


def losses():
    for name, loss in nn.LOSSES.items():
        if name != loss.name:
            continue
        for key in ("delta", "quantiles", "smoothing", "gamma", "alpha", "constant"):
            if hasattr(loss, key):
                yield name, key, lambda v, loss=loss, key=key: loss.with_(**{key: v})


def model(**settings):
    return train.Model(nn.mlp((3,), 1, dropout=0.1), **settings)


def calls():
    """Functions and callbacks of train."""
    fit = {"verbose": False, "epochs": 1}
    for key in ("epochs", "steps", "batch_size", "seed"):
        yield "fit", key, lambda v, key=key: model().fit(X, Y, **{**fit, key: v})
    yield "fit", "max_time", lambda v: model().fit(X, Y, max_time=v, verbose=False)
    yield "Model", "threads", lambda v: model(threads=v)
    yield "Model", "settings", lambda v: model(settings={"hidden1.dropout.rate": v})
    yield "initialize", "seed", lambda v: model().initialize(2, seed=v)
    yield "initialize", "features", lambda v: model().initialize(v)
    for key in ("max_iter", "max_fun", "tol", "ftol", "seed"):
        yield "fit_lbfgs", key, lambda v, key=key: train.fit_lbfgs(model(), X, Y, **{"max_iter": 2, key: v})
    for key in ("low", "high", "steps", "batch_size", "smoothing", "seed"):
        yield "find_rate", key, lambda v, key=key: train.find_rate(model(), X, Y, **{"steps": 3, key: v})
    for key in ("test", "validation", "seed"):
        yield "split", key, lambda v, key=key: train.split(X, Y, **{key: v})
    for key in ("folds", "seed"):
        yield "cross_validate", key, lambda v, key=key: train.cross_validate(model, X, Y, **fit, **{key: v})
    yield "fit_many", "threads", lambda v: train.fit_many([model()], X, Y, threads=v, **fit)
    yield "fit_many", "seeds", lambda v: train.fit_many([model()], X, Y, seeds=[v], **fit)
    for key in ("patience", "min_delta"):
        yield "EarlyStopping", key, lambda v, key=key: train.EarlyStopping(**{key: v})
    for key in ("every", "every_steps"):
        yield "Checkpoint", key, lambda v, key=key: train.Checkpoint("run.ckpt", **{key: v})
    yield "TensorBoard", "every", lambda v: train.TensorBoard("logs", every=v)
    for key in ("factor", "patience", "min_delta", "cooldown", "min_factor"):
        yield "ReduceOnPlateau", key, lambda v, key=key: optim.ReduceOnPlateau(**{key: v})
    for key in ("start", "patience", "min_delta", "divide"):
        yield "Adaptive", key, lambda v, key=key: optim.Adaptive(**{key: v})
    yield "Piecewise", "values", lambda v: optim.Piecewise((1.0, v), at=(3,))
    yield "Piecewise", "at", lambda v: optim.Piecewise((1.0, 0.1), at=(v,))
    yield "mlp", "hidden", lambda v: nn.mlp(v, 1)
    yield "mlp", "a size", lambda v: nn.mlp((v,), 1)
    yield "mlp", "outputs", lambda v: nn.mlp((3,), v)
    yield "mlp", "dropout", lambda v: nn.mlp((3,), 1, dropout=v)


def of_estimators():
    numbers = {
        "MLPClassifier": "alpha batch_size learning_rate_init power_t max_iter tol momentum validation_fraction beta_1 "
        "beta_2 epsilon n_iter_no_change max_fun max_time threads dropout label_smoothing hidden_layer_sizes",
        "MLPRegressor": "alpha batch_size learning_rate_init max_iter tol validation_fraction n_iter_no_change "
        "max_time threads dropout hidden_layer_sizes",
        "TabularMLPClassifier": "hidden_layer_sizes learning_rate_init max_iter batch_size dropout label_smoothing "
        "one_hot_max embedding_dim validation_fraction patience max_time threads",
        "TabularMLPRegressor": "hidden_layer_sizes learning_rate_init max_iter batch_size dropout one_hot_max "
        "embedding_dim validation_fraction patience max_time threads",
    }
    for name, keys in numbers.items():
        cls, target = getattr(estimators, name), LABELS if "Class" in name else Y
        for key in keys.split():
            yield name, key, lambda v, cls=cls, key=key, y=target: cls(**{"max_iter": 1, key: v}).fit(X, y)

    def with_settings(network=None, training=None):
        return estimators.MLPRegressor(max_iter=1, network=network, training=training).fit(X, Y)

    for key in (
        "input_dropout",
        "init",
        "output_init",
        "bias",
        "output_bias",
        "embeddings",
        "embedding_dim",
        "periodic",
        "piecewise",
        "members",
    ):
        yield "Network", key, lambda v, key=key: with_settings(estimators.NetworkSettings(**{key: v}))
    for key in ("schedule", "clip_norm", "clip_value", "weight_decay", "ema", "groups", "scheduled"):
        yield "Training", key, lambda v, key=key: with_settings(training=estimators.TrainingSettings(**{key: v}))
    inner = estimators.MLPRegressor(max_iter=1)
    for key in ("n_estimators", "max_samples", "n_jobs"):
        settings = {"n_estimators": 2}
        yield (
            "BaggedMLPRegressor",
            key,
            lambda v, key=key, s=settings: estimators.BaggedMLPRegressor(inner, **{**s, key: v}).fit(X, Y),
        )
    yield "SmoothRobustScaler", "limit", lambda v: estimators.SmoothRobustScaler(v).fit(X)
    yield "TablePreprocessor", "one_hot_max", lambda v: estimators.TablePreprocessor(one_hot_max=v).fit(X)
    for key in ("budget", "trials", "validation", "cv", "n_jobs"):
        settings = {"trials": 1, "estimator": estimators.MLPClassifier(max_iter=1), "verbose": False}
        yield "tune", key, lambda v, key=key, s=settings: estimators.tune(X, LABELS, **{**s, key: v})


CASES = list(cases())


@pytest.mark.filterwarnings("ignore:Stochastic Optimizer")
@pytest.mark.parametrize(("who", "what", "call"), CASES, ids=[f"{who}-{what}" for who, what, _ in CASES])
def test_nonsense_is_refused(who, what, call):
    for value in NONSENSE:
        if any(value is fine for fine in FINE.get((who, what), ())):
            continue
        with pytest.raises((ValueError, TypeError), match=r"got|called|validation is \(X, y\)|Found array|too few"):
            call(value)


@pytest.mark.filterwarnings("ignore:Stochastic Optimizer")
def test_numbers_of_numpy_are_numbers():
    model().fit(
        X, Y, epochs=np.int64(1), batch_size=np.int32(8), max_time=np.float32(50), seed=np.int64(1), verbose=False
    )
    optim.SGD(np.float32(0.1))
    optim.Cosine(np.float64(0.1), steps=np.int64(10))
    nn.Dropout(np.float32(0.5))
    nn.L2(np.array(0.1))
    train.EarlyStopping(np.int64(3), min_delta=np.float32(0.1))
    estimators.MLPRegressor(alpha=np.float32(0.1), max_iter=np.int64(1)).fit(X, Y)


def test_an_end_of_time_that_is_there_at_once():
    history = model().fit(X, Y, max_time=0, verbose=False)
    assert history.stopped == "the time of 0 s is over"
