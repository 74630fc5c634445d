"""A task for deep networks, and their training with and without batch normalisation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from pellucid import nn, optim
from pellucid.markup import Brief
from pellucid.train import EndingKind, Model


def tangled_classes(rows: int = 600, seed: int = 0) -> tuple[Any, Any]:
    """Five classes in 20 dimensions, told apart by a random network of one hidden layer.   -> X (n, 20), y (n,)

    >>> X, y = tangled_classes(100)
    >>> X.shape, sorted(set(y.tolist()))
    ((100, 20), [0, 1, 2, 3, 4])
    """
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, 20))
    hidden = np.maximum(X @ rng.normal(size=(20, 12)), 0)
    scores = (hidden - hidden.mean(0)) @ rng.normal(size=(12, 5))
    return X, np.argmax(scores / scores.std(0), axis=1)


@dataclass(frozen=True, repr=False)
class Attempt(Brief):
    """A training: the loss of each epoch, the accuracy at its end on the training rows, whether it failed, and why it
    ended.

    It fails where numbers stop being finite, or where it ends no better than guessing by the classes' shares.
    """

    losses: tuple[float, ...]
    accuracy: float
    diverged: bool
    failed: bool
    stopped: str


def attempt(
    X: Any,
    y: Any,
    *,
    norm: nn.Layer | str | None,
    init: Any,
    rate: float,
    epochs: int,
    hidden: tuple[int, ...] = (30,) * 5,
    seed: int = 0,
) -> Attempt:
    """Train a deep ReLU network by plain mini-batch gradient descent in batches of 50.

    >>> X, y = tangled_classes(200)
    >>> attempt(X, y, norm=None, init="he", rate=1e4, epochs=1, hidden=(8,)).failed
    True
    """
    net = nn.mlp(hidden, int(y.max()) + 1, init=init, output_init=init, norm=norm)
    model = Model(net, "cross_entropy", optim.SGD(rate), ["accuracy"], engine="native")
    history = model.fit(X, y, epochs=epochs, batch_size=50, seed=seed, verbose=False, on_divergence="stop")
    losses = tuple(history["loss"])
    shares = np.bincount(y) / len(y)
    guessing = float(-np.sum(shares[shares > 0] * np.log(shares[shares > 0])))
    diverged = history.ending is not None and history.ending.kind is EndingKind.DIVERGED
    accuracy = 0.0 if diverged else model.evaluate(X, y)["accuracy"]
    return Attempt(losses, accuracy, diverged, diverged or not losses[-1] < 0.95 * guessing, history.stopped)
