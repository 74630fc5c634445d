"""How a table is learned, in numbers: RealMLP's recipe (Holzmüller, Grinsztajn and Steinwart, 2024), made shorter."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from pellucid import optim
from pellucid.estimators.settings import NetworkSettings, TrainingSettings
from pellucid.estimators.tables.preprocessor import TablePreprocessor

GROUPS = (optim.Group("input.scale.*", lr=6.0), optim.Group("*.bias", lr=0.1))
"""Factors of the learning rate."""

WAVES = optim.Group("input.periodic.*", lr=0.1, decay=0.0)

AVERAGE = 0.98
"""Decay of the moving average of the parameters that is scored and kept."""


def auto_batch(rows: int) -> int:
    """Rows of a step: 64 to 1024, more for larger tables.

    >>> [auto_batch(n) for n in (500, 5_000, 20_000, 1_000_000)]
    [64, 128, 256, 1024]
    """
    for most, size in ((1024, 64), (8192, 128), (30_000, 256), (100_000, 512)):
        if rows <= most:
            return size
    return 1024


def auto_epochs(rows: int) -> int:
    """Epochs: fewer for larger tables.

    >>> [auto_epochs(n) for n in (500, 5_000, 20_000, 1_000_000)]
    [256, 128, 64, 16]
    """
    return int(np.clip(2 ** math.floor(math.log2(1_300_000 / max(rows, 1))), 16, 256 if rows <= 2000 else 128))


def recipe(estimator: Any, rows: int, table: TablePreprocessor, held: bool, seed: int) -> dict[str, Any]:
    """Parameters of the MLP behind the table, for so many training rows. `held`: are there validation rows?"""
    batch = auto_batch(rows) if _is_auto(estimator.batch_size) else estimator.batch_size
    rate = estimator._auto_rate if _is_auto(estimator.learning_rate_init) else estimator.learning_rate_init
    waves = table.n_numbers_ if estimator.periodic else 0
    groups = (*GROUPS, WAVES) if waves else GROUPS
    return {
        "hidden_layer_sizes": estimator.hidden_layer_sizes,
        "activation": estimator._auto_activation if _is_auto(estimator.activation) else estimator.activation,
        "optimizer": optim.Adam(optim.CosLog(rate), beta2=0.95),
        "alpha": 0.0,
        "batch_size": min(batch, rows) if isinstance(batch, int | np.integer) else batch,
        "max_iter": auto_epochs(rows) if _is_auto(estimator.max_iter) else estimator.max_iter,
        "loss": estimator.loss,
        "dropout": estimator.dropout,
        "norm": estimator.norm,
        "early_stopping": held,
        "n_iter_no_change": math.inf if estimator.patience is None else estimator.patience,
        "tol": 0.0,
        "monitor": estimator.monitor,
        "random_state": seed,
        "verbose": estimator.verbose,
        "callbacks": estimator.callbacks,
        "max_time": estimator.max_time,
        "network": NetworkSettings(
            scaling="ntk",
            input_scale=True,
            bias=estimator._auto_bias,
            output_init=0.0,
            output_bias=0.0,
            embeddings=table.embedding_sizes_,
            embedding_dim=estimator.embedding_dim,
            periodic=waves,
        ),
        "training": TrainingSettings(groups=groups, keep="last", weight_decay=estimator._auto_decay, ema=AVERAGE),
        "dtype": estimator.dtype,
        "engine": estimator.engine,
        "threads": estimator.threads,
    }


def _is_auto(value: Any) -> bool:
    return isinstance(value, str) and value == "auto"
