"""Constructor parameters, checked when `fit` begins: what was expected, what came."""

from __future__ import annotations

import math
from collections.abc import Callable
from numbers import Real
from typing import Any

import numpy as np

from pellucid.amounts import is_number, is_whole
from pellucid.engine.compile import ENGINES
from pellucid.estimators.settings import NetworkSettings, TrainingSettings
from pellucid.optim import Group
from pellucid.train import Callback

Fine = Callable[[Any], bool]


def _number(low: float, high: float = math.inf, *, above: bool = False, closed: bool = False) -> Fine:
    return lambda value: is_number(value, low, high, above=above, closed=closed)


def _one_of(*names: Any) -> Fine:
    return lambda v: any(v is n or (isinstance(n, str) and isinstance(v, str) and v == n) for n in names)


def _yes_no(value: Any) -> bool:
    return isinstance(value, bool | np.bool_)


def _or_none(fine: Fine) -> Fine:
    return lambda v: v is None or fine(v)


def _or_listed(fine: Fine) -> Fine:
    return lambda v: all(map(fine, v)) if isinstance(v, list | tuple | np.ndarray) else fine(v)


def _listed(fine: Fine) -> Fine:
    return lambda v: isinstance(v, list | tuple) and all(map(fine, v))


def _callback(value: Any) -> bool:
    return isinstance(value, Callback) or (callable(value) and not isinstance(value, type))


def _verbose(value: Any) -> bool:
    return isinstance(value, Real | np.bool_) or _one_of("auto", "bar", "lines", "silent")(value)


RULES: dict[str, tuple[Fine, str]] = {
    "solver": (_one_of("lbfgs", "sgd", "adam"), "'lbfgs', 'sgd' or 'adam' (other rules: optimizer=optim.RMSprop())"),
    "alpha": (_number(0), "a number from 0"),
    "batch_size": (lambda v: _one_of("auto")(v) or is_whole(v), "a whole number from 1, or 'auto'"),
    "learning_rate": (_one_of("constant", "invscaling", "adaptive"), "'constant', 'invscaling' or 'adaptive'"),
    "learning_rate_init": (_number(0, above=True), "a number above 0"),
    "power_t": (_number(0), "a number from 0"),
    "max_iter": (is_whole, "a whole number from 1"),
    "shuffle": (_yes_no, "True or False"),
    "tol": (_number(0), "a number from 0"),
    "verbose": (_verbose, "True, False, a number, or 'bar' for a progress bar ('auto', 'lines')"),
    "warm_start": (_yes_no, "True or False"),
    "momentum": (_number(0, 1, closed=True), "a number in [0, 1]"),
    "nesterovs_momentum": (_yes_no, "True or False"),
    "early_stopping": (_yes_no, "True or False"),
    "validation_fraction": (_number(0, 1), "a number in [0, 1)"),
    "beta_1": (_number(0, 1), "a number in [0, 1)"),
    "beta_2": (_number(0, 1), "a number in [0, 1)"),
    "epsilon": (_number(0, above=True), "a number above 0"),
    "n_iter_no_change": (lambda v: is_whole(v) or v == math.inf, "a whole number from 1, or infinity"),
    "max_fun": (is_whole, "a whole number from 1"),
    "label_smoothing": (_number(0, 1), "a number in [0, 1)"),
    "class_weight": (
        lambda v: v is None or isinstance(v, dict) or _one_of("balanced")(v),
        "a dict of class and weight, 'balanced' or None",
    ),
    "dropout": (_or_listed(_number(0, 1)), "a number in [0, 1), or a list with one for each hidden layer"),
    "callbacks": (_listed(_callback), "a list of callbacks (objects of pellucid.train, functions of the run)"),
    "max_time": (_or_none(_number(0, above=True)), "a number of seconds, or None"),
    "network": (_or_none(lambda v: isinstance(v, NetworkSettings)), "NetworkSettings(...), or None"),
    "training": (_or_none(lambda v: isinstance(v, TrainingSettings)), "TrainingSettings(...), or None"),
    "compat": (_one_of(None, "sklearn"), "None or 'sklearn'"),
    "dtype": (_or_none(lambda v: str(np.dtype(v)) in ("float32", "float64")), "'float32', 'float64' or None"),
    "engine": (_one_of(*ENGINES), "'auto', 'native' or 'numpy'"),
    "threads": (_or_none(is_whole), "a whole number from 1, or None"),
}
INNER: dict[str, dict[str, tuple[Fine, str]]] = {  # what no part of the network or the optimizer checks itself
    "network": {
        "input_dropout": (_number(0, 1), "a number in [0, 1)"),
        "input_scale": (_yes_no, "True or False"),
        "embeddings": (lambda v: np.ndim(v) == 1 and all(map(is_whole, v)), "a list of numbers of categories"),
        "embedding_dim": (_or_listed(is_whole), "a whole number from 1, or one for each column of codes"),
    },
    "training": {
        "groups": (_listed(lambda v: isinstance(v, Group)), "a list of optim.Group(...)"),
        "calibrate": (_yes_no, "True or False"),
        "keep": (_one_of("first", "last"), "'first' or 'last'"),
        "scheduled": (_or_none(lambda v: isinstance(v, dict)), "a dict of names and schedules, or None"),
    },
}


def check_parameters(estimator: Any) -> None:
    """Raise for the first parameter that cannot be used."""
    who = type(estimator).__name__
    _check(who, "", estimator, RULES)
    for name, rules in INNER.items():
        settings = getattr(estimator, name)
        if settings is not None:
            _check(who, f"{name}.", settings, rules)
    layer_sizes(estimator)


def _check(who: str, prefix: str, holder: Any, rules: dict[str, tuple[Fine, str]]) -> None:
    for name, (fine, expected) in rules.items():
        if not hasattr(holder, name):
            continue  # a parameter of the other estimator
        value = getattr(holder, name)
        try:
            good = fine(value)
        except TypeError:
            good = False
        if not good:
            raise ValueError(f"{who}: {prefix}{name} is {expected}, got {value!r}")


def layer_sizes(estimator: Any) -> list[int]:
    """hidden_layer_sizes as a list of positive whole numbers; () is a network without hidden layers."""
    given = estimator.hidden_layer_sizes
    sizes = list(np.atleast_1d(given).tolist()) if np.ndim(given) <= 1 else [given]
    if not all(is_whole(n) for n in sizes):
        raise ValueError(
            f"hidden_layer_sizes must be > 0, got {sizes}: whole numbers, one for each hidden layer, such as (100, 50)"
        )
    return sizes
