"""Why inputs are centred and scaled, and how."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression

from pellucid import nn, optim
from pellucid.autodiff import grad
from pellucid.estimators import TablePreprocessor
from pellucid.lab.costs import text_table
from pellucid.lab.normalization import rings
from pellucid.markup import Brief
from pellucid.train import Model


@dataclass(frozen=True, repr=False)
class Signs(Brief):
    """Gradients of one unit's weights, one for each sample: (n, features), and their mean, the step of a batch."""

    gradients: Any

    @property
    def one_sign(self) -> float:
        """Share of samples whose gradient has one sign in all its components."""
        signs = np.sign(self.gradients)
        return float(np.mean(np.abs(signs.sum(axis=1)) == signs.shape[1]))

    @property
    def orthants(self) -> int:
        """Into how many of the 2^features orthants the samples' gradients point."""
        return len(np.unique(self.gradients > 0, axis=0))

    @property
    def batch_one_sign(self) -> bool:
        """Has the mean over all samples one sign? It need not: every sample brings its own factor."""
        signs = np.sign(self.gradients.mean(axis=0))
        return bool(np.abs(signs.sum()) == len(signs))


def gradient_signs(features: int = 4, n: int = 200, centred: bool = False, seed: int = 0) -> Signs:
    """A tanh unit's gradient is δx: with all inputs positive, its components have the sign of δ, all of them.

    The unit can then only move into two of the 2^features orthants with one sample; after centring, into any.

    >>> raw, centred = gradient_signs(), gradient_signs(centred=True)
    >>> raw.one_sign, raw.orthants, centred.orthants
    (1.0, 2, 16)
    """
    rng = np.random.default_rng(seed)
    X = rng.uniform(0.1, 2.0, (n, features))
    y = rng.normal(size=(n, 1))
    if centred:
        X = X - X.mean(axis=0)
    net = nn.mlp((3,), 1, activation="tanh")
    params, _ = net.initialize(features, seed=seed)

    def loss(p: Any, x: Any, target: Any) -> Any:
        return np.mean(np.square(net.predict(p, x) - target))

    slope = grad(loss)
    return Signs(np.stack([slope(params, X[i : i + 1], y[i : i + 1])["hidden1.weight"][:, 0] for i in range(n)]))


@dataclass(frozen=True)
class Units:
    """The largest difference of predictions between two units of one column; losses after training in each."""

    difference: float
    loss: float
    loss_other: float


def change_of_units(scaled: bool, factor: float = 1e6, steps: int = 200, seed: int = 0) -> Units:
    """Train the same network on distances in kilometres, and in millimetres (`factor`): what changes?

    Standardised, nothing but rounding. Raw, the column of large numbers rules everything.

    >>> change_of_units(scaled=True).difference < 1e-6
    True
    """
    rng = np.random.default_rng(seed)
    X = rng.normal([3.0, 0.0], [1.0, 1.0], (200, 2))
    y = np.sin(X[:, 0]) + X[:, 1]

    def trained(inputs: Any) -> tuple[Any, float]:
        if scaled:
            inputs = TablePreprocessor("standard").fit(inputs).transform(inputs)
        model = Model(nn.mlp((16,), 1, activation="tanh"), "squared_error", optim.Adam(0.01), dtype="float64")
        model.fit(inputs, y, steps=steps, batch_size=50, seed=seed, verbose=False)
        return model.predict(inputs).ravel(), model.evaluate(inputs, y)["loss"]

    here, loss = trained(X)
    there, loss_other = trained(X * [factor, 1.0])
    return Units(float(np.abs(here - there).max()), loss, loss_other)


STEPS = (None, "centre", "standard", "pca", "whiten")


@dataclass(frozen=True, repr=False)
class Decorrelation(Brief):
    """The same points after each kind of scaling: name -> (n, features)"""

    points: dict[str, Any]

    def covariance(self, step: str) -> Any:
        """(features, features)"""
        return np.cov(self.points[step].T)

    def table(self) -> str:
        rows = []
        for step, points in self.points.items():
            c = self.covariance(step)
            means = "0" if np.allclose(points.mean(axis=0), 0, atol=1e-9) else f"{points.mean(axis=0).round(2)}"
            rows.append([step, means, *(f"{v + 0.0:.2f}" for v in np.round((c[0, 0], c[1, 1], c[0, 1]), 6))])
        return text_table(["inputs", "mean", "variance 1", "variance 2", "covariance"], rows)

    __str__ = table


def decorrelation(n: int = 300, seed: int = 0) -> Decorrelation:
    """Two related columns: raw, centred, standardised, turned to their main axes (PCA), whitened.

    >>> found = decorrelation()
    >>> bool(np.allclose(found.covariance("whiten"), np.eye(2)))
    True
    """
    rng = np.random.default_rng(seed)
    X = rng.multivariate_normal([4.0, 2.0], [[3.0, 1.2], [1.2, 0.8]], n)
    return Decorrelation({step or "raw": TablePreprocessor(step).fit(X).transform(X) for step in STEPS})


IMAGE_MEANS = {"pixel": (0,), "channel": (0, 1, 2), "all": (0, 1, 2, 3)}
"""What the mean is taken over, for images (n, height, width, channels)."""


def image_mean(images: Any, mode: str = "channel") -> Any:
    """The mean to subtract from images (n, height, width, channels); take it from training images alone.

    "pixel" is the mean image (AlexNet), (height, width, channels); "channel" one number for each channel (VGG),
    (channels,); "all" a single number. Images are centred only: their pixels have one unit and one range already.

    >>> images = np.random.default_rng(0).integers(0, 256, (50, 32, 32, 3)).astype(np.uint8)
    >>> [image_mean(images, mode).shape for mode in ("pixel", "channel", "all")]
    [(32, 32, 3), (3,), ()]
    >>> bool(abs((images - image_mean(images, "pixel")).mean(axis=0)).max() < 1e-9)
    True
    """
    if mode not in IMAGE_MEANS:
        raise ValueError(f"mode is one of {', '.join(map(repr, IMAGE_MEANS))}, got {mode!r}")
    images = np.asarray(images)
    if images.ndim != 4:
        raise ValueError(f"images have shape (n, height, width, channels), got {images.shape}: add axes of size 1")
    return images.mean(axis=IMAGE_MEANS[mode], dtype=np.float64)


def polar(X: Any) -> Any:
    """Points of the plane as radius and angle, f(x, y) = (r, θ).   (n, 2) -> (n, 2)

    >>> polar(np.array([[0.0, 2.0]])).round(3).tolist()
    [[2.0, 1.571]]
    """
    X = np.asarray(X, float)
    return np.column_stack([np.hypot(X[:, 0], X[:, 1]), np.arctan2(X[:, 1], X[:, 0])])


@dataclass(frozen=True, repr=False)
class PolarRings(Brief):
    """Two rings as they are and in polar coordinates; accuracy on fresh points of a linear model on each."""

    X: Any
    y: Any
    accuracy: float
    polar_accuracy: float
    radius: float  # where the linear model on (r, θ) draws the line, at θ = 0


def polar_rings(n: int = 300, seed: int = 0) -> PolarRings:
    """No straight line tells a ring from the one around it; in polar coordinates one does.

    >>> found = polar_rings()
    >>> found.accuracy < 0.65, found.polar_accuracy > 0.97
    (True, True)
    """
    X, y = rings(n, seed)
    fresh, fresh_y = rings(n, seed + 1)
    plain = LogisticRegression().fit(X, y)
    polar_model = LogisticRegression(C=100.0).fit(polar(X), y)
    return PolarRings(
        X,
        y,
        float(plain.score(fresh, fresh_y)),
        float(polar_model.score(polar(fresh), fresh_y)),
        float(-polar_model.intercept_[0] / polar_model.coef_[0, 0]),
    )


@dataclass(frozen=True)
class Standardising:
    """The same network on raw and on standardised pixels: loss of each epoch, and accuracy on test images."""

    raw: tuple[float, ...]
    standardised: tuple[float, ...]
    raw_accuracy: float
    standardised_accuracy: float


def standardising(epochs: int = 15, lr: float = 0.1, seed: int = 0) -> Standardising:
    """Handwritten digits (8 x 8, 0 to 16), each of the 64 inputs to mean 0 and deviation 1 of the training rows.

    The rate of plain SGD is the same for both. A pixel that never changes becomes 0.

    >>> found = standardising(epochs=3)
    >>> found.standardised[-1] < found.raw[-1]
    True
    """
    from sklearn.datasets import load_digits

    images, y = load_digits(return_X_y=True)
    order = np.random.default_rng(seed).permutation(len(y))
    train, test = order[:1200], order[1200:]
    standard_images = TablePreprocessor("standard").fit(images[train]).transform(images)
    outcomes = []
    for inputs in (images, standard_images):
        model = Model(nn.mlp((32,), 10, activation="tanh"), "cross_entropy", optim.SGD(lr), ["accuracy"])
        history = model.fit(inputs[train], y[train], epochs=epochs, batch_size=32, seed=seed, verbose=False)
        outcomes.append((tuple(history["loss"]), model.evaluate(inputs[test], y[test])["accuracy"]))
    (raw, raw_accuracy), (standard, accuracy) = outcomes
    return Standardising(raw, standard, raw_accuracy, accuracy)
