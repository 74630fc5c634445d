"""Constructor parameters, checked when `fit` begins: what was expected, what came."""

from __future__ import annotations

import math
from numbers import Integral, Real
from typing import Any

import numpy as np

from pellucid.engine.compile import ENGINES
from pellucid.estimators.settings import NetworkSettings, TrainingSettings


def _number(low: float, high: float = math.inf, *, open_low: bool = False, closed_high: bool = False) -> Any:
    def fine(v: Any) -> bool:
        if isinstance(v, bool | np.bool_) or not isinstance(v, Real):
            return False
        return (v > low if open_low else v >= low) and (v <= high if closed_high else v < high)

    return fine


def _whole(v: Any) -> bool:
    return isinstance(v, Integral) and not isinstance(v, bool) and v >= 1


def _one_of(*names: Any) -> Any:
    return lambda v: any(v is n or (isinstance(n, str) and isinstance(v, str) and v == n) for n in names)


def _yes_no(v: Any) -> bool:
    return isinstance(v, bool | np.bool_)


def _or_none(fine: Any) -> Any:
    return lambda v: v is None or fine(v)


RULES: dict[str, tuple[Any, str]] = {
    "solver": (_one_of("lbfgs", "sgd", "adam"), "'lbfgs', 'sgd' or 'adam' (other rules: optimizer=optim.RMSprop())"),
    "alpha": (_number(0), "a number from 0"),
    "batch_size": (lambda v: _one_of("auto")(v) or _whole(v), "a whole number from 1, or 'auto'"),
    "learning_rate": (_one_of("constant", "invscaling", "adaptive"), "'constant', 'invscaling' or 'adaptive'"),
    "learning_rate_init": (_number(0, open_low=True), "a number above 0"),
    "power_t": (_number(0), "a number from 0"),
    "max_iter": (_whole, "a whole number from 1"),
    "shuffle": (_yes_no, "True or False"),
    "tol": (_number(0), "a number from 0"),
    "warm_start": (_yes_no, "True or False"),
    "momentum": (_number(0, 1, closed_high=True), "a number in [0, 1]"),
    "nesterovs_momentum": (_yes_no, "True or False"),
    "early_stopping": (_yes_no, "True or False"),
    "validation_fraction": (_number(0, 1), "a number in [0, 1)"),
    "beta_1": (_number(0, 1), "a number in [0, 1)"),
    "beta_2": (_number(0, 1), "a number in [0, 1)"),
    "epsilon": (_number(0, open_low=True), "a number above 0"),
    "n_iter_no_change": (lambda v: _whole(v) or v == math.inf, "a whole number from 1, or infinity"),
    "max_fun": (_whole, "a whole number from 1"),
    "label_smoothing": (_number(0, 1), "a number in [0, 1)"),
    "max_time": (_or_none(_number(0, open_low=True)), "a number of seconds, or None"),
    "network": (_or_none(lambda v: isinstance(v, NetworkSettings)), "NetworkSettings(...), or None"),
    "training": (_or_none(lambda v: isinstance(v, TrainingSettings)), "TrainingSettings(...), or None"),
    "compat": (_one_of(None, "sklearn"), "None or 'sklearn'"),
    "dtype": (_or_none(lambda v: str(np.dtype(v)) in ("float32", "float64")), "'float32', 'float64' or None"),
    "engine": (_one_of(*ENGINES), "'auto', 'native' or 'numpy'"),
    "threads": (_or_none(_whole), "a whole number from 1, or None"),
}


def check_parameters(estimator: Any) -> None:
    """Raise for the first parameter that cannot be used."""
    for name, (fine, expected) in RULES.items():
        value = getattr(estimator, name, None) if name == "label_smoothing" else getattr(estimator, name)
        if name == "label_smoothing" and value is None:
            continue
        try:
            good = fine(value)
        except TypeError:
            good = False
        if not good:
            raise ValueError(f"{type(estimator).__name__}: {name} is {expected}, got {value!r}")
    layer_sizes(estimator)


def layer_sizes(estimator: Any) -> list[int]:
    """hidden_layer_sizes as a list of positive whole numbers; () is a network without hidden layers."""
    given = estimator.hidden_layer_sizes
    sizes = list(np.atleast_1d(given).tolist()) if np.ndim(given) <= 1 else [given]
    if not all(_whole(n) for n in sizes):
        raise ValueError(
            f"hidden_layer_sizes must be > 0, got {sizes}: whole numbers, one for each hidden layer, such as (100, 50)"
        )
    return sizes
