"""What tests that walk the tables of `nn` share: the names in them, and targets that a loss accepts."""

import numpy as np

from pellucid import nn

ACTIVATIONS = sorted({record.name for record in nn.ACTIVATIONS.values() if "example" not in record.name})
GATES = ["maxout", "glu", "reglu", "geglu", "swiglu"]
LOSSES = sorted({record.name for record in nn.LOSSES.values() if "example" not in record.name})


def target(loss: str, n: int, rng: np.random.Generator) -> np.ndarray:
    """Two outputs (three classes) where the loss allows it."""
    return {
        "cross_entropy": rng.integers(0, 3, n),
        "brier": rng.integers(0, 3, n),
        "focal": rng.integers(0, 3, n),
        "binary_cross_entropy": rng.integers(0, 2, n),
        "multilabel": rng.integers(0, 2, (n, 2)),
        "hinge": rng.choice([-1, 1], n),
        "squared_hinge": rng.choice([-1, 1], n),
        "perceptron": rng.choice([-1, 1], n),
        "poisson": rng.integers(0, 5, (n, 2)),
        "gamma": rng.gamma(2.0, size=(n, 2)),
    }.get(loss, rng.normal(size=(n, 2)))
