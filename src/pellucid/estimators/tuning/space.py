"""What a search tries: the estimator that suits the data, spaces of settings that suit most data."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
from sklearn.base import clone
from sklearn.utils.multiclass import type_of_target

from pellucid.data.types import ArrayLike
from pellucid.estimators.classifier import MLPClassifier
from pellucid.estimators.inputs import Learner
from pellucid.estimators.regressor import MLPRegressor
from pellucid.estimators.settings import NetworkSettings, TrainingSettings
from pellucid.estimators.tables.base import BaseTabularMLP
from pellucid.estimators.tables.tabular import TabularMLPClassifier, TabularMLPRegressor

if TYPE_CHECKING:
    from optuna import Trial

FEW = 20
"""As many different whole numbers are still taken as classes."""

GROUPS: dict[str, type[TrainingSettings | NetworkSettings]] = {"training": TrainingSettings, "network": NetworkSettings}
"""Parameters that hold settings of their own."""


def choose_estimator(which: Learner | str, X: ArrayLike, y: ArrayLike) -> Learner:
    """The estimator itself, or for "auto" one that suits: for data frames one of tables, for classes a classifier."""
    if not isinstance(which, str):
        if not hasattr(which, "fit") or not hasattr(which, "callbacks"):
            raise TypeError(f"tune: estimator is one of pellucid's, such as MLPClassifier(), or 'auto', got {which!r}")
        return which
    if which != "auto":
        raise ValueError(f"tune: estimator is 'auto' or an object such as MLPClassifier(), got {which!r}")
    is_frame = hasattr(X, "columns") and hasattr(X, "dtypes")  # named columns, each with its own type
    if holds_classes(y):
        return TabularMLPClassifier() if is_frame else MLPClassifier()
    return TabularMLPRegressor() if is_frame else MLPRegressor()


def holds_classes(y: ArrayLike) -> bool:
    """Text, booleans, categories, labels in zeros and ones; or at most 20 different whole numbers.

    >>> holds_classes(["a", "b"]), holds_classes([0, 1, 1]), holds_classes([0.5, 1.0]), holds_classes(range(100))
    (True, True, False, False)
    """
    values = np.asarray(y)
    numbers = values.dtype.kind in "iuf"
    if numbers and values.ndim == 1 and len(np.unique(values)) > FEW:  # scikit-learn 1.7 would warn of so many classes
        return False
    kind = type_of_target(values)
    return kind == "multilabel-indicator" or (not kind.startswith("continuous") and (not numbers or values.ndim == 1))


def default_space(trial: Trial, estimator: Learner, rows: int | None = None) -> dict[str, object]:
    """Parameters of an estimator, asked of a trial of Optuna.

    ====================  ==============================================  ==================================
    parameter             MLPClassifier, MLPRegressor                     TabularMLPClassifier, -Regressor
    ====================  ==============================================  ==================================
    hidden_layer_sizes    1 to 4 layers of 32, 64, 128, 256 or 512        2 to 4 layers of 64, 128, 256, 512
    activation            relu, silu, mish                                relu, selu, mish
    learning_rate_init    0.0002 to 0.02, log-uniform                     0.01 to 0.2, log-uniform
    max_iter              as given                                        16, 32, 64, 128
    batch_size            64, 128, 256, 512: at least 8 batches           the same
    dropout               0, or 0.05 to 0.5                               the same
    weight decay          0, or 0.0001 to 0.3, log-uniform, decoupled     none
    label_smoothing       0, 0.05, 0.1: classifiers, unless the           the same
                          metric is the loss itself
    ====================  ==============================================  ==================================

    To search more, call it from a space of one's own:
    `space=lambda trial: {**default_space(trial, clf), "norm": trial.suggest_categorical("norm", ["batch", "layer"])}`.

    Parameters
    ----------
    trial : Trial
        of Optuna
    estimator : Learner
        whose parameters are searched
    rows : int | None
        of the training data; where known, they limit the batch size

    Returns
    -------
    dict
        parameters by name
    """
    table = isinstance(estimator, BaseTabularMLP)  # its inputs, weights and rates are scaled in another way
    layers = trial.suggest_int("layers", 2 if table else 1, 4)
    width = trial.suggest_categorical("width", (64, 128, 256, 512) if table else (32, 64, 128, 256, 512))
    batches = [b for b in (64, 128, 256, 512) if b == 64 or rows is None or 8 * b <= rows]
    slowest, fastest = (0.01, 0.2) if table else (2e-4, 2e-2)
    settings: dict[str, object] = {
        "hidden_layer_sizes": (width,) * layers,
        "activation": trial.suggest_categorical("activation", ("relu", "selu" if table else "silu", "mish")),
        "learning_rate_init": trial.suggest_float("learning_rate_init", slowest, fastest, log=True),
        "batch_size": trial.suggest_categorical("batch_size", batches),
        "dropout": 0.0,
    }
    if table:
        settings["max_iter"] = trial.suggest_categorical("max_iter", (16, 32, 64, 128))
    if trial.suggest_categorical("with_dropout", (False, True)):
        settings["dropout"] = trial.suggest_float("dropout", 0.05, 0.5)
    if not table:
        settings["training__weight_decay"] = 0.0
        if trial.suggest_categorical("with_decay", (False, True)):
            settings["training__weight_decay"] = trial.suggest_float("weight_decay", 1e-4, 0.3, log=True)
    params = estimator.get_params(deep=False)
    if "label_smoothing" in params and params["monitor"] != "loss":
        settings["label_smoothing"] = trial.suggest_categorical("label_smoothing", (0.0, 0.05, 0.1))
    return settings


def with_settings(estimator: Learner, settings: Mapping[str, object]) -> Learner:
    """A fresh estimator with these parameters; groups of settings that are still None come to life.

    >>> from pellucid.estimators import MLPRegressor
    >>> with_settings(MLPRegressor(), {"training__weight_decay": 0.1}).training
    TrainingSettings(weight_decay=0.1)
    """
    fresh: Learner = clone(estimator)
    for group, kind in GROUPS.items():
        if any(name.startswith(f"{group}__") for name in settings) and getattr(fresh, group, None) is None:
            fresh.set_params(**{group: kind()})
    return fresh.set_params(**settings)
