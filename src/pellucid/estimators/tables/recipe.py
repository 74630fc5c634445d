"""The recipe of each network of a table.

After RealMLP (Holzmüller, Grinsztajn and Steinwart, 2024), with shorter runs and several networks: they differ in how
they see numbers, and the rows that are held out say how much each counts.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from pellucid import nn, optim
from pellucid.estimators.convergence import Patience
from pellucid.estimators.recipe import Recipe, around, monitored, network_of, sign_of
from pellucid.estimators.settings import Initialiser, NetworkSettings, TrainingSettings
from pellucid.estimators.tables.parameters import TableParameters, is_auto
from pellucid.estimators.tables.quality import folds_of, quality_of, sizes_of, views_of
from pellucid.estimators.tables.step_rule import averages, peak_of, step_rule
from pellucid.estimators.tables.views import Columns, View
from pellucid.estimators.target import Target
from pellucid.nn.losses.loss import Own
from pellucid.train import METRICS, Metric

GROUPS = (optim.Group("input.scale.*", lr=6.0), optim.Group("*.bias", lr=0.1))
"""Factors of the learning rate."""

BESIDE = {
    "input.periodic": optim.Group("input.periodic.*", lr=0.1, decay=0.0),
    "input.piecewise": optim.Group("input.piecewise.*", lr=0.1, decay=0.0),
}

AVERAGE = 0.98
"""Decay of the moving average of the parameters that is scored and kept."""


UNKNOWN = 0.1
"""The share of codes that networks which know names do without in training: there may be others to come."""

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
        scaling="ntk",
        input_scale=True,
        bias=taste.bias,
        output_init=0.0,
        output_bias=0.0,
        embeddings=view.embeddings(columns),
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
            list(chosen["hidden_layer_sizes"]),
            target.outputs,
            chosen["activation"],
            network,
            dropout=parameters.dropout if np.any(parameters.dropout) else view.dropout,
            norm=parameters.norm,
            left_out=view.left_out(columns),
            unknown=UNKNOWN if view.coded else 0.0,
            ready=False,
        )
        if view.hidden
        else line_of(target.outputs, view.embeddings(columns), view.left_out(columns)),
        start=None,
        optimizer=around(optim.optimizer(rule), training),
        alpha=0.0,
        penalty=None if view.hidden else _ridge(view, trained, columns),
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
        precision=parameters.precision,
    )


def _ridge(view: View, trained: int, columns: Columns) -> nn.Penalty:
    """The penalty of a network without hidden layers."""
    weights = nn.L2(RIDGE / trained)
    return weights + nn.L2(view.ridge * RIDGE / trained, on="*.table*") if view.embeddings(columns) else weights


def line_of(outputs: int, codes: tuple[int, ...], left_out: nn.LeaveOut | None) -> nn.Layer:
    """A network without hidden layers: every category has numbers of its own, on which the penalty is that of weights.

    codes: how many there are of each of the last columns
    """
    ahead = [] if left_out is None else [("input.columns", left_out)]
    settings: dict[str, Any] = {"init": 0.0, "bias": 0.0}
    layer = nn.CodedDense(outputs, codes, **settings) if codes else nn.Dense(outputs, **settings)
    return nn.Sequential(*ahead, ("output", layer))


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
