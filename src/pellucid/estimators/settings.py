"""Settings in groups, for what most users leave alone: the network's details, and those of training.

They are parameters of the estimators like any other: `clone` copies them, a search reaches inside by two underscores
(`training__clip_norm`).
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import TypeAlias

import numpy as np
from sklearn.base import BaseEstimator

from pellucid import nn, optim
from pellucid.amounts import SHARE, WHOLE, YES_NO, Condition, an, each, is_whole, one_of, or_each, or_none
from pellucid.estimators.parameters import Parameters, parameter

Initialiser: TypeAlias = str | float | nn.Initializer
Path: TypeAlias = str | os.PathLike[str]


class NetworkSettings(Parameters, BaseEstimator):  # type: ignore[misc]
    """Details of the network.

    {parameters}

    Examples
    --------
    >>> NetworkSettings(input_dropout=0.1)
    NetworkSettings(input_dropout=0.1)
    """

    input_dropout: float = parameter(default=0.0, condition=SHARE, doc="share of the inputs that are left out")
    norm_place: str = parameter(default="before", doc='a norm stands "before" or "after" the activation')
    init: Initialiser | Sequence[Initialiser] | None = parameter(
        default=None,
        doc='an initialiser by name or object, or one for each hidden layer; "sklearn" is scikit-learn\'s (uniform, '
        'biases too); None takes "sklearn" for its four activations and what suits the activation for others',
    )
    output_init: Initialiser | None = parameter(default=None, doc="the last layer's initialiser")
    bias: Initialiser | None = parameter(default=None, doc="what biases start with")
    output_bias: Initialiser | None = parameter(default=None, doc="what those of the last layer start with")
    scaling: str = parameter(default="standard", doc='"standard", or "ntk" for the neural-tangent parametrisation')
    fixed_scale: nn.FixedScale | None = parameter(
        default=None,
        condition=or_none(an(nn.FixedScale, "nn.FixedScale(center, scale)")),
        doc="subtract and divide features by these numbers, which training leaves alone: a scaler inside the network",
    )
    input_scale: bool = parameter(default=False, condition=YES_NO, doc="put a learned factor on every feature")
    embeddings: Sequence[int] = parameter(
        default=(),
        condition=Condition(
            lambda sizes: (
                isinstance(sizes, Sequence | np.ndarray) and np.ndim(sizes) == 1 and all(map(is_whole, sizes))
            ),
            "a list of numbers of categories",
        ),
        doc="the last columns hold codes 0 ... size - 1 of so many categories each; vectors are learned in their place",
    )
    embedding_dim: int | Sequence[int] = parameter(
        default=8,
        condition=or_each(WHOLE, "a whole number from 1, or one for each column of codes"),
        doc="how many numbers such a vector has",
    )
    periodic: int = parameter(default=0, doc="so many first columns get learned waves beside them")
    piecewise: int | nn.PiecewiseLinear = parameter(
        default=0,
        doc="so many first columns get learned piecewise-linear functions beside them; or the layer that makes them",
    )
    members: int = parameter(
        default=1,
        condition=WHOLE,
        doc="so many networks in one: they share the hidden layers, learn each by itself, and are averaged (TabM)",
    )


class TrainingSettings(Parameters, BaseEstimator):  # type: ignore[misc]
    """Details of training.

    {parameters}

    Examples
    --------
    >>> TrainingSettings(clip_norm=1.0, ema=0.99)
    TrainingSettings(clip_norm=1.0, ema=0.99)
    """

    schedule: str | optim.Schedule | None = parameter(
        default=None, doc="of the learning rate: an object of `optim`, or its name"
    )
    clip_norm: float | None = parameter(default=None, doc="limit of the norm of all gradients")
    clip_value: float | None = parameter(default=None, doc="limit of every component of the gradients")
    weight_decay: float | optim.Schedule = parameter(default=0.0, doc="decoupled decay of the parameters")
    ema: float | None = parameter(default=None, doc="decay of an average of the parameters, which then predicts")
    groups: Sequence[optim.Group] = parameter(
        default=(),
        condition=each(an(optim.Group, "a group"), "a list of optim.Group(...)"),
        doc="factors for the rates of some parameters",
    )
    scheduled: Mapping[str, optim.Schedule] | None = parameter(
        default=None,
        condition=or_none(an(dict, "a dict"), "a dict of names and schedules, or None"),
        doc='numbers of layers or the loss that follow schedules, such as {"hidden1.dropout.rate": ...}',
    )
    checkpoint: Path | None = parameter(default=None, doc="a path to write checkpoints to")
    resume: Path | None = parameter(default=None, doc="a checkpoint to go on from")
    calibrate: bool = parameter(
        default=False, condition=YES_NO, doc="fit a temperature on the validation rows when training ends"
    )
    keep: str = parameter(
        default="first",
        condition=one_of("first", "last"),
        doc='which of equally good epochs is kept, "first" or "last"',
    )


def check_no_checkpoint(estimator: object, who: str) -> None:
    """An error where several fits would write one checkpoint, or go on from one."""
    training = getattr(estimator, "training", None)
    if training is not None and (training.checkpoint is not None or training.resume is not None):
        raise ValueError(f"{who} cannot share a checkpoint: leave checkpoint and resume out of TrainingSettings")
