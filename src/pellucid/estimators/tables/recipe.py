"""How a table is learned: the parameters of both estimators, and the recipe of each of their networks.

After RealMLP (Holzmüller, Grinsztajn and Steinwart, 2024), with shorter runs and several networks: they differ in how
they see numbers, and the rows that are held out say how much each counts.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from pellucid import nn, optim
from pellucid.amounts import ABOVE_0, WHOLE, YES_NO, Condition, an, one_of, or_none
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
from pellucid.estimators.tables.step_rule import averages, peak_of, step_rule
from pellucid.estimators.target import Target
from pellucid.nn.losses.loss import Own
from pellucid.train import METRICS, Callback, Metric, Run

# parameters


def _several(asked: object) -> bool:
    return isinstance(asked, Sequence) and not isinstance(asked, str)


def _viewed(asked: object) -> bool:
    names = list(asked) if _several(asked) else [asked]  # type: ignore[call-overload]
    return is_auto(asked) or (bool(names) and all(name is None or name in VIEWS for name in names))


VIEWED = Condition(
    _viewed,
    "'auto', one of 'plain', 'waves', 'pieces', 'rough', 'fine', 'noisy', 'noisy_rough', 'linear', 'straight', "
    "several, or None",
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
        '"rough" pieces, many "fine" ones, "noisy" and "noisy_rough" for pieces with dropout, None or "plain" for '
        'the number alone, "linear" for that without hidden layers, "straight" for those without and numbers with long '
        "tails as they are, not clipped; of several names each is a network of its own",
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


# how networks see numbers


@dataclass(frozen=True)
class View:
    """What a network gets beside each number; has it hidden layers, and which dropout; are long tails straight?"""

    name: str
    hidden: bool = True
    straight: bool = False
    waves: bool = False
    bins: int = 0
    dims: int = 0
    start: Initialiser = 0.0
    dropout: float = 0.0

    def without_numbers(self) -> View:
        """Where there are none to see."""
        return replace(PLAIN, dropout=self.dropout) if self.hidden else self

    def without_tails(self) -> View:
        """Where no number has a long one."""
        return LINEAR if self.straight else self

    def left_out(self, straight: dict[int, int]) -> nn.LeaveOut | None:
        """Of numbers that are there twice one: scaled, or as it is, by which hidden layers would be led astray."""
        places = straight.keys() if self.straight else straight.values()
        return nn.LeaveOut(tuple(sorted(places))) if straight else None

    def pieces(self, columns: int) -> nn.PiecewiseLinear | None:
        return nn.PiecewiseLinear(columns, self.bins, self.dims, self.start) if self.bins and columns else None


PLAIN = View("plain")
WAVES = View("waves", waves=True)
PIECES = View("pieces", waves=True, bins=32, dims=4)
ROUGH = View("rough", bins=16, dims=8, start="standard_normal")
FINE = View("fine", bins=64, dims=8, start="standard_normal")
NOISY = replace(PIECES, name="noisy", dropout=0.15)
NOISY_ROUGH = replace(ROUGH, name="noisy_rough", dropout=0.15)
LINEAR = View("linear", hidden=False)
STRAIGHT = View("straight", hidden=False, straight=True)
VIEWS = {view.name: view for view in (PLAIN, WAVES, PIECES, ROUGH, FINE, NOISY, NOISY_ROUGH, LINEAR, STRAIGHT)}


# what a quality means


@dataclass(frozen=True)
class Quality:
    """What "auto" is in the parameters, for tables of up to `most` rows.   epochs: the share of the usual ones"""

    most: float
    sizes: tuple[int, ...]
    views: tuple[str, ...]
    folds: int
    epochs: float = 1.0


SMALL, WIDE = (64, 64), (128, 128, 128)
LINES = ("linear", "straight")
FEW = ("waves", "pieces", "rough", *LINES)
MANY = ("waves", "pieces", "rough", "fine", *LINES)
ALL = ("waves", "pieces", "rough", "fine", "noisy", "noisy_rough", *LINES)
QUALITIES = {
    "fast": (Quality(2_000, SMALL, ("rough",), 1, 0.5), Quality(math.inf, SMALL, ("rough",), 1, 0.25)),
    "default": (
        Quality(2_000, WIDE, FEW, 8),
        Quality(10_000, WIDE, MANY, 3),
        Quality(math.inf, WIDE, MANY, 2),
    ),
    "best": (Quality(2_000, WIDE, ALL, 16), Quality(10_000, WIDE, ALL, 10), Quality(math.inf, WIDE, ALL, 5)),
}
"""Few rows need many networks, and can afford them; more rows can be followed more finely."""


def quality_of(parameters: TableParameters, rows: float) -> Quality:
    """What the parameter `quality` means for so many rows."""
    return next(one for one in QUALITIES[parameters.quality] if rows <= one.most)


def sizes_of(parameters: TableParameters, rows: int) -> list[int]:
    """Units of the hidden layers."""
    asked = parameters.hidden_layer_sizes
    return layer_sizes(quality_of(parameters, rows).sizes if is_auto(asked) else asked)


def views_of(parameters: TableParameters, rows: float) -> tuple[View, ...]:
    """How the networks see numbers, one for each."""
    asked = parameters.numbers
    if is_auto(asked):
        return tuple(VIEWS[name] for name in quality_of(parameters, rows).views)
    names = ["plain" if asked is None else asked] if asked is None or isinstance(asked, str) else asked
    return tuple(VIEWS["plain" if name is None else name] for name in names)


def folds_of(parameters: TableParameters, rows: int) -> int:
    """Networks of each kind."""
    asked = parameters.folds
    return quality_of(parameters, rows).folds if isinstance(asked, str) else int(asked)


# the recipe

GROUPS = (optim.Group("input.scale.*", lr=6.0), optim.Group("*.bias", lr=0.1))
"""Factors of the learning rate."""

BESIDE = {
    "input.periodic": optim.Group("input.periodic.*", lr=0.1, decay=0.0),
    "input.piecewise": optim.Group("input.piecewise.*", lr=0.1, decay=0.0),
}

AVERAGE = 0.98
"""Decay of the moving average of the parameters that is scored and kept."""


RIDGE, ROUNDS = 1.0, 100
"""Of a network without hidden layers: its penalty, as scikit-learn's, and iterations of L-BFGS at most."""


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


def auto_epochs(rows: int, share: float = 1.0) -> int:
    """Epochs: fewer for larger tables, and of these a share.

    >>> [auto_epochs(n) for n in (500, 5_000, 20_000, 1_000_000)]
    [64, 64, 32, 8]
    """
    usual = np.clip(2 ** math.floor(math.log2(650_000 / max(rows, 1))), 8, 64)
    return max(int(usual * share), 4)


@dataclass(frozen=True)
class Columns:
    """Of a row: so many numbers first, then among others those that are there once more as they are, codes last.

    straight: places of the second by those of the first   embeddings: how many codes there are of each of the last
    """

    numbers: int
    straight: dict[int, int] = field(default_factory=dict)
    embeddings: tuple[int, ...] = ()


def table_recipe(
    parameters: TableParameters,
    target: Target,
    taste: Taste,
    view: View,
    *,
    rows: int,
    trained: int,
    columns: Columns,
    held: bool,
) -> Recipe:
    """The recipe of a network for a table of so many rows, of which so many are trained on.

    held: are there validation rows?
    """
    chosen = resolved(parameters, taste, rows)
    pieces = view.pieces(columns.numbers)
    metric = table_metric(parameters, target)
    network = NetworkSettings(
        scaling="ntk" if view.hidden else "standard",
        input_scale=view.hidden,
        bias=taste.bias,
        output_init=0.0,
        output_bias=0.0,
        embeddings=columns.embeddings,
        embedding_dim=parameters.embedding_dim,
        periodic=columns.numbers if view.waves else 0,
        piecewise=0 if pieces is None else pieces,
    )
    beside = [BESIDE["input.periodic"]] * bool(network.periodic) + [BESIDE["input.piecewise"]] * bool(pieces)
    scaled = GROUPS if view.hidden else ()
    rule = step_rule(parameters.optimizer, parameters.schedule, parameters.learning_rate_init, taste.rate)
    alone = averages(rule)
    training = TrainingSettings(
        groups=(*scaled, *beside), weight_decay=0.0 if alone else taste.decay, ema=None if alone else AVERAGE
    )
    return Recipe(
        who=type(parameters).__name__,
        target=target,
        network=network_of(
            list(chosen["hidden_layer_sizes"]) if view.hidden else [],
            target.outputs,
            chosen["activation"],
            network,
            dropout=parameters.dropout if np.any(parameters.dropout) else view.dropout,
            norm=parameters.norm,
            left_out=view.left_out(columns.straight),
            ready=False,
        ),
        start=None,
        optimizer=around(optim.optimizer(rule), training),
        alpha=0.0,
        penalty=None if view.hidden else nn.L2(RIDGE / trained),
        metric=metric,
        batch_size=min(chosen["batch_size"], trained),
        epochs=chosen["max_iter"] if view.hidden else ROUNDS,
        max_fun=None if view.hidden else 2 * ROUNDS,
        patience=Patience(
            tol=0.0 if view.hidden else 1e-4,
            epochs=math.inf if parameters.patience is None else float(parameters.patience),
            sign=sign_of(metric),
            keep="last",
        ),
        early=held and bool(parameters.early_stopping) and view.hidden,
        callbacks=parameters.callbacks,
        checkpoint=None if parameters.checkpoint is None else Path(parameters.checkpoint),
        max_time=parameters.max_time,
        verbose=parameters.verbose,
        dtype=np.dtype(parameters.dtype),
        engine=parameters.engine,
        threads=parameters.threads,
    )


def resolved(parameters: TableParameters, taste: Taste, rows: int) -> dict[str, Any]:
    """The parameters by name, with what "auto" is for so many training rows."""
    chosen = {name: getattr(parameters, name) for name in parameters.declared}
    quality = quality_of(parameters, rows)
    chosen |= {
        "hidden_layer_sizes": tuple(sizes_of(parameters, rows)),
        "numbers": tuple(view.name for view in views_of(parameters, rows)),
        "folds": folds_of(parameters, rows),
    }
    rule = step_rule(parameters.optimizer, parameters.schedule, parameters.learning_rate_init, taste.rate)
    auto = {
        "activation": taste.activation,
        "learning_rate_init": peak_of(rule),
        "optimizer": rule,
        "schedule": rule.lr,
        "max_iter": auto_epochs(rows, quality.epochs),
        "batch_size": auto_batch(rows),
    }
    return chosen | {name: value for name, value in auto.items() if is_auto(chosen[name])}


def table_metric(parameters: TableParameters, target: Target) -> Metric | None:
    """What chooses the epoch; None is the loss."""
    if not is_auto(parameters.monitor):
        return monitored(parameters.monitor, target)
    exact = target.loss.link.kind.gives_probabilities and not isinstance(target.loss, Own)
    return METRICS["calibrated_log_loss"] if exact else None


def is_auto(value: object) -> bool:
    """Is it the word?"""
    return isinstance(value, str) and value == "auto"
