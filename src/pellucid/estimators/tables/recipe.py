"""How a table is learned: the parameters of both estimators, and RealMLP's recipe that is made of them.

Holzmüller, Grinsztajn and Steinwart, 2024, made shorter.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from pellucid import nn, optim
from pellucid.amounts import ABOVE_0, WHOLE, YES_NO, or_none
from pellucid.estimators.convergence import Patience
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
from pellucid.estimators.recipe import Recipe, around, layer_sizes, monitored, network_of, sign_of
from pellucid.estimators.settings import Initialiser, NetworkSettings, TrainingSettings
from pellucid.estimators.target import Target
from pellucid.train import Callback, Run

# parameters


class TableParameters(Parameters):
    """Those of both; "auto" chooses by the number of rows, or by what suits the target."""

    hidden_layer_sizes: int | Sequence[int] = parameter(default=(256, 256, 256), same=SklearnParameters)
    activation: Activation | Sequence[Activation] = parameter(
        default="auto",
        same=SklearnParameters,
        doc='as in `MLPClassifier`; "auto" is SELU for classes, Mish for numbers',
    )
    learning_rate_init: float | str = parameter(
        default="auto",
        condition=ABOVE_0.or_(AUTO, "a number above 0, or 'auto'"),
        doc="the peak of the learning rate",
    )
    max_iter: int | str = parameter(default="auto", condition=WHOLE_OR_AUTO, doc="epochs")
    batch_size: int | str = parameter(default="auto", condition=WHOLE_OR_AUTO, doc="rows of a step")
    dropout: float | Sequence[float] = parameter(default=0.0, same=MoreParameters)
    norm: str | nn.Layer | None = parameter(default=None, same=MoreParameters)
    scaling: str | None = parameter(default="robust", doc="of numbers: see `TablePreprocessor`")
    one_hot_max: int = parameter(default=8, doc="columns of more categories than these get a learned vector for each")
    embedding_dim: int | Sequence[int] = parameter(default=8, same=NetworkSettings)
    periodic: bool = parameter(default=True, doc="learned waves beside every number (`nn.Periodic`)")
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
    engine: str = parameter(default="auto", same=MoreParameters)
    threads: int | None = parameter(default=None, same=MoreParameters)
    dtype: str | type | np.dtype[np.floating] = parameter(default="float32", same=MoreParameters, doc="precision")


class TableClassParameters(Parameters):
    """Those of a target of classes."""

    label_smoothing: float = parameter(default=0.1, same=ClassParameters, after="norm")
    class_weight: ClassWeight = parameter(default=None, same=ClassParameters, after="label_smoothing")
    loss: Loss = parameter(default="log_loss", same=ClassParameters, after="class_weight")
    monitor: Monitor = parameter(
        default="loss",
        doc='what chooses the epoch: the validation loss, or a metric ("accuracy" is noisier on few rows)',
    )
    calibrated: bool = parameter(
        default=False,
        condition=YES_NO,
        doc="fit a temperature on the validation rows, for better probabilities",
        after="monitor",
    )


class TableNumberParameters(Parameters):
    """That of a target of numbers."""

    loss: Loss = parameter(
        default="squared_error", doc="as in `MLPRegressor`: quantiles and distributions too", after="norm"
    )


# the recipe

GROUPS = (optim.Group("input.scale.*", lr=6.0), optim.Group("*.bias", lr=0.1))
"""Factors of the learning rate."""

WAVES = optim.Group("input.periodic.*", lr=0.1, decay=0.0)

AVERAGE = 0.98
"""Decay of the moving average of the parameters that is scored and kept."""


@dataclass(frozen=True)
class Taste:
    """What "auto" means for a kind of target."""

    activation: str
    rate: float
    decay: float
    bias: Initialiser = 0.0


CLASSES = Taste("selu", 0.04, 0.02, "standard_normal")
NUMBERS = Taste("mish", 0.07, 0.1)


def auto_batch(rows: int) -> int:
    """Rows of a step: 64 to 1024, more for larger tables.

    >>> [auto_batch(n) for n in (500, 5_000, 20_000, 1_000_000)]
    [64, 128, 256, 1024]
    """
    sizes = ((1024, 64), (8192, 128), (30_000, 256), (100_000, 512))
    return next((size for most, size in sizes if rows <= most), 1024)


def auto_epochs(rows: int) -> int:
    """Epochs: fewer for larger tables.

    >>> [auto_epochs(n) for n in (500, 5_000, 20_000, 1_000_000)]
    [256, 128, 64, 16]
    """
    return int(np.clip(2 ** math.floor(math.log2(1_300_000 / max(rows, 1))), 16, 256 if rows <= 2000 else 128))


def table_recipe(
    parameters: TableParameters,
    target: Target,
    taste: Taste,
    *,
    rows: int,
    numbers: int,
    embeddings: tuple[int, ...],
    held: bool,
    calibrate: bool,
    members: int = 1,
) -> Recipe:
    """The recipe for so many training rows.

    numbers, embeddings: how many of the first columns are numbers, the categories of the last ones.   held: are there
    validation rows?   members: networks in one (`nn.Members`)
    """
    batch, rate = parameters.batch_size, parameters.learning_rate_init
    waves = numbers if parameters.periodic else 0
    activation = taste.activation if is_auto(parameters.activation) else parameters.activation
    metric = monitored(parameters.monitor, target)
    network = NetworkSettings(
        scaling="ntk",
        input_scale=True,
        bias=taste.bias,
        output_init=0.0,
        output_bias=0.0,
        embeddings=embeddings,
        embedding_dim=parameters.embedding_dim,
        periodic=waves,
        members=members,
    )
    training = TrainingSettings(groups=(*GROUPS, WAVES) if waves else GROUPS, weight_decay=taste.decay, ema=AVERAGE)
    rule = optim.Adam(optim.CosLog(taste.rate if isinstance(rate, str) else rate), beta2=0.95)
    return Recipe(
        who=type(parameters).__name__,
        target=target,
        network=network_of(
            layer_sizes(parameters.hidden_layer_sizes),
            target.outputs,
            activation,
            network,
            dropout=parameters.dropout,
            norm=parameters.norm,
            ready=False,
        ),
        members=members,
        start=None,
        optimizer=around(optim.optimizer(rule), training),
        alpha=0.0,
        penalty=None,
        metric=metric,
        batch_size=min(auto_batch(rows) if isinstance(batch, str) else int(batch), rows),
        epochs=auto_epochs(rows) if isinstance(parameters.max_iter, str) else int(parameters.max_iter),
        patience=Patience(
            tol=0.0,
            epochs=math.inf if parameters.patience is None else float(parameters.patience),
            sign=sign_of(metric),
            keep="last",
        ),
        early=held and bool(parameters.early_stopping),
        callbacks=parameters.callbacks,
        max_time=parameters.max_time,
        calibrate=calibrate or target.always_calibrated,
        verbose=parameters.verbose,
        dtype=np.dtype(parameters.dtype),
        engine=parameters.engine,
        threads=parameters.threads,
    )


def is_auto(value: object) -> bool:
    """Is it the word?"""
    return isinstance(value, str) and value == "auto"
