"""What normalisation does, and what a hidden layer adds: small experiments, data out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from pellucid import nn, optim
from pellucid.autodiff import grad, hessian
from pellucid.lab.boundary import surface
from pellucid.markup import Brief
from pellucid.train import Callback, Model, Run


def rings(n: int = 300, seed: int = 0) -> tuple[Any, Any]:
    """Two classes in the plane, one around the other.   -> X (n, 2), y (n,)"""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    radius, angle = 1.0 + 1.2 * y + 0.25 * rng.normal(size=n), rng.uniform(0, 2 * np.pi, n)
    return np.column_stack([radius * np.cos(angle), radius * np.sin(angle)]), y


@dataclass(frozen=True, repr=False)
class BatchSizes(Brief):
    """For each batch size the validation loss with batch norm, and with layer norm, after the same number of steps."""

    sizes: tuple[int, ...]
    batch: tuple[float, ...]
    layer: tuple[float, ...]


def batch_size_sweep(
    sizes: tuple[int, ...] = (2, 4, 8, 16, 64), steps: int = 300, seed: int = 0, engine: str = "auto"
) -> BatchSizes:
    """Small batches make batch norm's statistics noisy; layer norm does not look at the batch."""
    X, y = rings(seed=seed)
    test_rows = rings(seed=seed + 1)

    def loss(norm: str, size: int) -> float:
        model = Model(nn.mlp((16, 16), 1, norm=norm), "binary_cross_entropy", optim.Adam(0.01), engine=engine)
        model.fit(X, y, steps=steps, batch_size=size, seed=seed, verbose=False)
        return model.evaluate(*test_rows)["loss"]

    losses = {norm: tuple(loss(norm, size) for size in sizes) for norm in ("batch", "layer")}
    return BatchSizes(sizes, losses["batch"], losses["layer"])


@dataclass(frozen=True, repr=False)
class Drift(Brief):
    """Over the steps: how far the mean input of the second hidden layer's activation has moved (in deviations at the
    start), and how much the gradient changes along its own step, relative to the length of the step."""

    shift: tuple[float, ...]
    roughness: tuple[float, ...]


def drift(norm: str | None, steps: int = 100, lr: float = 0.2, seed: int = 0) -> Drift:
    """Internal covariate shift (Ioffe and Szegedy) and smoothness of the landscape (Santurkar et al.)."""
    X, y = rings(seed=seed)
    model = Model(
        nn.mlp((16, 16), 1, norm=norm, activation="tanh"), "binary_cross_entropy", optim.SGD(lr), dtype="float64"
    )
    target = model.loss.prepare(y)
    first: dict[str, Any] = {}
    shift, roughness = [], []

    class Watch(Callback):
        def on_gradients(self, run: Run, gradients: dict[str, Any]) -> None:
            def cost(p: Any) -> Any:
                return model.loss(model.net.apply(p, X, run.now.state, training=True)[0], target)

            here = grad(cost)(run.now.params)
            there = grad(cost)({k: w - lr * here[k] for k, w in run.now.params.items()})
            change = np.sqrt(sum(float(np.sum((there[k] - here[k]) ** 2)) for k in here))
            length = lr * np.sqrt(sum(float(np.sum(g**2)) for g in here.values()))
            roughness.append(change / max(length, 1e-12))
            taps: dict[str, Any] = {}
            model.net.apply(run.now.params, X, run.now.state, training=True, noise=False, taps=taps)
            z = taps["hidden2.norm" if norm else "hidden2"]
            if not first:
                first.update(mean=z.mean(0), std=z.std(0))
            shift.append(float(np.mean(np.abs(z.mean(0) - first["mean"]) / first["std"])))

    model.fit(X, y, steps=steps, batch_size=len(X), seed=seed, verbose=False, callbacks=[Watch()])
    return Drift(tuple(shift), tuple(roughness))


def conditioning(X: Any) -> tuple[float, float]:
    """The condition number of the Hessian of least squares, before and after standardising the inputs.

    >>> raw, standardised = conditioning(np.random.default_rng(0).normal([0, 50], [1, 20], (200, 2)))
    >>> raw > 100, standardised < 2
    (True, True)
    """
    X = np.asarray(X, float)

    def number(inputs: Any) -> float:
        A = np.column_stack([inputs, np.ones(len(inputs))])
        return float(np.linalg.cond(hessian(lambda w: np.mean(np.square(A @ w)) / 2)(np.zeros(A.shape[1]))))

    return number(X), number((X - X.mean(0)) / X.std(0))


@dataclass(frozen=True, repr=False)
class Boundary(Brief):
    """A model, the points it was fitted on, its accuracy there, and the probability of class 1 all over the plane."""

    model: Model
    X: Any
    y: Any
    accuracy: float
    probability: Any


def boundary(hidden: tuple[int, ...], seed: int = 0) -> Boundary:
    """The rings, told apart without a hidden layer (a straight boundary) or with one.

    `lab.plot_boundary(found.model, found.X, found.y)` draws it.
    """
    X, y = rings(seed=seed)
    model = Model(nn.mlp(hidden, 1, activation="tanh"), "binary_cross_entropy", optim.Adam(0.02), ["accuracy"])
    model.fit(X, y, epochs=60, batch_size=32, seed=seed, verbose=False)
    return Boundary(model, X, y, model.evaluate(X, y)["accuracy"], surface(model, X, points=60).values)
