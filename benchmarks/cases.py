"""The training cases: what is trained, and on which data. The same numerics for everyone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

THREADS = 2
"""Everyone may use this many; each peer is also tried with one, and keeps what is faster."""


@dataclass(frozen=True)
class TrainCase:
    """A network, its data's sizes, and a rule. An epoch is `batches` steps."""

    name: str
    features: int
    hidden: tuple[int, ...]
    classes: int
    batch: int
    batches: int = 50
    rule: str = "adam"
    lr: float = 1e-3
    activation: str = "relu"
    batch_norm: bool = False
    dropout: float = 0.0
    dtype: str = "float32"

    @property
    def rows(self) -> int:
        return self.batch * self.batches

    @property
    def sizes(self) -> tuple[int, ...]:
        return (self.features, *self.hidden, self.classes)

    @property
    def plain(self) -> bool:
        """Dense layers and ReLU only: what scikit-learn has, too."""
        return self.activation == "relu" and not self.batch_norm and not self.dropout

    @property
    def parameters(self) -> int:
        dense = sum((a + 1) * b for a, b in zip(self.sizes, self.sizes[1:], strict=False))
        return dense + (2 * sum(self.hidden) if self.batch_norm else 0)

    def title(self) -> str:
        """100-256-256-10, batch 256, Adam"""
        hidden = f"{len(self.hidden)}×{self.hidden[0]}" if len(self.hidden) > 3 else "-".join(map(str, self.hidden))
        extras = [" + batch norm"] * self.batch_norm + [f" + dropout {self.dropout}"] * bool(self.dropout)
        extras += [f" + {self.activation}"] * (self.activation != "relu") + [", float64"] * (self.dtype == "float64")
        rule = {"adam": "Adam", "momentum": "SGD, momentum 0.9"}[self.rule]
        return f"{self.features}-{hidden}-{self.classes}, batch {self.batch}, {rule}{''.join(extras)}"


CASES = {
    case.name: case
    for case in (
        TrainCase("tiny", 10, (32, 32), 2, 32),
        TrainCase("small", 64, (100,), 10, 200),
        TrainCase("mid", 100, (256, 256), 10, 256),
        TrainCase("mnist", 784, (512, 512), 10, 128, batches=40),
        TrainCase("big", 784, (2048, 2048), 10, 512, batches=6),
        TrainCase("mid_regularised", 100, (256, 256), 10, 256, activation="gelu", batch_norm=True, dropout=0.2),
        TrainCase("mid_sgd", 100, (256, 256), 10, 256, rule="momentum", lr=1e-2),
        TrainCase("wide", 100, (4096,), 10, 256, batches=20),
        TrainCase("deep", 64, (64,) * 20, 10, 128),
        TrainCase("small64", 64, (100,), 10, 200, dtype="float64"),
    )
}

MANY = TrainCase("many", 20, (32,), 2, 32, batches=1000 // 32)
"""One of the 50 small models: 992 rows, so that every library sees whole batches only."""
MANY_MODELS, MANY_EPOCHS = 50, 20


def data(case: TrainCase, rows: int | None = None, seed: int = 0) -> tuple[Any, Any]:
    """Standard normal rows, and the labels of a random linear teacher, 3 in 10 drawn at random.

    With clean labels long runs would end at a loss of zero, and measure arithmetic on denormal numbers.
    """
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((rows or case.rows, case.features)).astype(case.dtype)
    y = np.argmax(X @ rng.standard_normal((case.features, case.classes)), axis=1)
    y = np.where(rng.random(len(y)) < 0.3, rng.integers(0, case.classes, len(y)), y)
    y[: case.classes] = np.arange(case.classes)[: len(y)]  # every class occurs
    return X, y.astype(np.int64)


def initial(case: TrainCase, seed: int = 0) -> list[tuple[Any, Any]]:
    """He's initial weights and zero biases, the same for every peer that takes them."""
    rng = np.random.default_rng(seed)
    pairs = zip(case.sizes, case.sizes[1:], strict=False)
    return [
        ((rng.standard_normal((a, b)) * np.sqrt(2 / a)).astype(case.dtype), np.zeros(b, case.dtype)) for a, b in pairs
    ]
