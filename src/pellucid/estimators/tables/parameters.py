"""The parameters of TabularMLPClassifier and TabularMLPRegressor: of the preprocessor, and those with an "auto"."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from pellucid import nn
from pellucid.estimators.conditions import ABOVE_0, AUTO, WHOLE, YES_NO, or_none
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
from pellucid.estimators.parameters import Parameters, parameter
from pellucid.estimators.settings import NetworkSettings
from pellucid.train import Callback, Run

WHOLE_OR_AUTO = WHOLE.or_(AUTO, "a whole number from 1, or 'auto'")


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
        default=(), doc="columns to take for categories, though they hold numbers"
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

    loss: Loss = parameter(default="squared_error", doc="as in `MLPRegressor`", after="norm")
