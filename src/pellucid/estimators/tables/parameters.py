"""The parameters of both estimators of tables, and those of each."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence

import numpy as np

from pellucid import nn, optim
from pellucid.amounts import ABOVE_0, WHOLE, YES_NO, Condition, an, one_of, or_none
from pellucid.estimators.mlp_parameters import (
    Activation,
    ClassParameters,
    ClassWeight,
    Loss,
    Monitor,
    MoreParameters,
    RandomState,
    SklearnParameters,
)
from pellucid.estimators.parameters import AUTO, WHOLE_OR_AUTO, Parameters, parameter
from pellucid.estimators.settings import NetworkSettings
from pellucid.estimators.tables.views import VIEWS
from pellucid.train import Callback, Run


def is_auto(value: object) -> bool:
    """Is it the word?"""
    return isinstance(value, str) and value == "auto"


def _several(asked: object) -> bool:
    return isinstance(asked, Sequence) and not isinstance(asked, str)


def _viewed(asked: object) -> bool:
    names = list(asked) if _several(asked) else [asked]  # type: ignore[call-overload]
    return is_auto(asked) or (bool(names) and all(name is None or name in VIEWS for name in names))


VIEWED = Condition(
    _viewed,
    f"'auto', one of {', '.join(map(repr, VIEWS))}, several, or None",
)


class TableParameters(Parameters):
    """Those of both; "auto" chooses by the number of rows, or by what suits the target."""

    hidden_layer_sizes: int | Sequence[int] | str = parameter(
        default="auto",
        kw_only=False,
        doc='units of the hidden layers; "auto" is three of 128, and two of 64 for quality="fast"',
    )
    activation: Activation | Sequence[Activation] = parameter(
        default="auto",
        same=SklearnParameters,
        doc='as in `MLPClassifier`; "auto" is SELU for classes, Mish for numbers',
    )
    quality: str = parameter(
        default="default",
        condition=one_of("fast", "default", "best", words="'fast', 'default' or 'best'"),
        doc='what "auto" is in other parameters: "fast" is one small network, "default" some for each way to see '
        'numbers, more of them where rows are few, "best" many more. `get_recipe` tells',
    )
    learning_rate_init: float | str = parameter(
        default="auto",
        condition=ABOVE_0.or_(AUTO, "a number above 0, or 'auto'"),
        doc="the peak of the learning rate",
    )
    optimizer: str | optim.Rule = parameter(
        default="auto",
        condition=an((str, optim.Rule), "a rule of pellucid.optim, or its name"),
        doc='the update rule; "auto" is Adam with `beta2=0.95`. `ScheduleFreeAdamW` brings its own average and decay',
    )
    schedule: str | optim.Schedule = parameter(
        default="auto",
        condition=an((str, optim.Schedule), "a schedule of pellucid.optim, or its name"),
        doc='of the learning rate; "auto" is one cycle of `optim.CosLog`, and a constant rate for a rule that predicts '
        "with an average of its own",
    )
    max_iter: int | str = parameter(
        default="auto",
        condition=WHOLE_OR_AUTO,
        doc='epochs; "auto" is 8 to 64 by the number of rows, and, of several folds, twice or half as many where the '
        "first networks are better so",
    )
    batch_size: int | str = parameter(default="auto", condition=WHOLE_OR_AUTO, doc="rows of a step")
    dropout: float | Sequence[float] = parameter(default=0.0, same=MoreParameters)
    norm: str | nn.Layer | None = parameter(default=None, same=MoreParameters)
    scaling: str | None = parameter(default="separate", doc="of numbers: see `TablePreprocessor`")
    one_hot_max: int = parameter(default=8, doc="columns of more categories than these get a learned vector for each")
    embedding_dim: int | Sequence[int] = parameter(default=8, same=NetworkSettings)
    numbers: str | Sequence[str] | None = parameter(
        default="auto",
        condition=VIEWED,
        doc='how networks see numbers: "waves" beside them (`nn.Periodic`), "pieces" and waves (`nn.PiecewiseLinear`), '
        '"rough" pieces, many "fine" ones, "noisy" and "noisy_rough" for pieces with dropout, "coded" and '
        '"coded_rough" for pieces, and a learned vector for each value of numbers that are names (of a person, a shop, '
        'a postcode; see `TablePreprocessor`), None or "plain" for the number alone, "linear" for that without hidden '
        'layers, "loose" for the same with a lighter penalty on categories, "straight" for those without and numbers '
        "with long tails as they are, not clipped; of several names each is a network of its own",
    )
    folds: int | str = parameter(
        default="auto",
        condition=WHOLE_OR_AUTO,
        doc="networks of each kind; each has a part of the rows of its own held out, `validation_fraction` or less. "
        '"auto" is 8 up to 2,000 rows, 3 up to 10,000, then 2; 16, 10 and 5 for quality="best", 1 for "fast"',
    )
    categorical: Sequence[str | int] = parameter(
        default=(), doc="columns to take for categories, though they hold numbers, or texts of numbers or dates"
    )
    early_stopping: bool = parameter(
        default=True,
        same=SklearnParameters,
        doc="rows that are held out choose the epoch that is kept; False trains on all rows and keeps the last epoch, "
        "as `validation_fraction=0` does (when training ends is the affair of `max_iter` and `patience`)",
    )
    validation_fraction: float = parameter(
        default=0.2, same=SklearnParameters, doc="share of rows that choose the epoch; 0 keeps the last epoch"
    )
    patience: int | None = parameter(
        default=None,
        condition=or_none(WHOLE, "a whole number of epochs from 1, or None for no end"),
        doc="epochs without improvement after which training ends; None does them all",
    )
    monitor: Monitor = parameter(
        default=None, doc="what chooses the epoch: R², another metric in the units of the target, or the loss"
    )
    importances: bool = parameter(
        default=False,
        condition=YES_NO,
        doc="measure what each column is worth on the rows that are held out, by permutation: "
        "`feature_importances_`, `importances_`",
    )
    random_state: RandomState = parameter(default=None, same=SklearnParameters)
    verbose: bool | float | str = parameter(default=False, same=SklearnParameters)
    callbacks: Sequence[Callback | Callable[[Run], object]] = parameter(default=(), same=MoreParameters)
    max_time: float | None = parameter(default=None, same=MoreParameters)
    checkpoint: str | os.PathLike[str] | None = parameter(
        default=None,
        condition=or_none(an((str, os.PathLike), "a folder"), "a folder, or None"),
        doc="a folder for networks that are trained: a `fit` that was killed goes on there, with the same result",
    )
    engine: str = parameter(default="auto", same=MoreParameters)
    threads: int | None = parameter(default=None, same=MoreParameters)
    precision: str = parameter(default="full", same=MoreParameters)
    dtype: str | type | np.dtype[np.floating] = parameter(default="float32", same=MoreParameters, doc="precision")


class TableClassParameters(Parameters):
    """Those of a target of classes."""

    label_smoothing: float = parameter(default=0.0, same=ClassParameters, after="norm")
    class_weight: ClassWeight = parameter(default=None, same=ClassParameters, after="label_smoothing")
    loss: Loss = parameter(default="log_loss", same=ClassParameters, after="class_weight")
    monitor: Monitor = parameter(
        default="auto",
        doc='what chooses the epoch and the shares of networks: "auto" is the log loss after a temperature, "loss" the '
        'loss itself; or a metric ("accuracy" is noisier on few rows)',
    )
    calibrated: bool = parameter(
        default=True,
        condition=YES_NO,
        doc="fit a temperature on the validation rows, for probabilities to be trusted; classes stay the same",
        after="monitor",
    )


class TableNumberParameters(Parameters):
    """That of a target of numbers."""

    loss: Loss = parameter(
        default="squared_error", doc="as in `MLPRegressor`: quantiles and distributions too", after="norm"
    )
