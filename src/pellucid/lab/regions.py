"""Small networks on points of the plane: two half moons that overlap, and what size and penalty make of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from pellucid import nn, optim
from pellucid.lab.boundary import plot_boundary, surface
from pellucid.markup import Brief
from pellucid.train import Model

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def moons(n: int = 100, noise: float = 0.3, seed: int = 0) -> tuple[Any, Any]:
    """Two classes in the plane, half moons with normal noise: they overlap.   -> X (n, 2), y (n,)

    >>> X, y = moons(40)
    >>> X.shape, sorted(set(y.tolist()))
    ((40, 2), [0, 1])
    """
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 2
    angle = rng.uniform(0, np.pi, n)
    x1 = np.where(y == 0, np.cos(angle), 1 - np.cos(angle))
    x2 = np.where(y == 0, np.sin(angle), 0.5 - np.sin(angle))
    return np.column_stack([x1, x2]) + noise * rng.normal(size=(n, 2)), y


@dataclass(frozen=True, repr=False)
class Plane(Brief):
    """A trained network of the plane: its losses and errors (shares of wrong rows), and the norm of its weights."""

    model: Model
    units: int
    strength: float
    train_loss: float
    test_loss: float
    train_error: float
    test_error: float
    norm: float

    @property
    def gap(self) -> float:
        """test loss - training loss"""
        return self.test_loss - self.train_loss

    def picture(self, X: Any, points: int = 80) -> Any:
        """Probabilities of class 1 all over the plane of X.   -> (points, points)"""
        return surface(self.model, X, points=points).values


def fit_plane(
    units: int,
    X: Any,
    y: Any,
    test: tuple[Any, Any],
    *,
    strength: float = 0.0,
    epochs: int = 500,
    seed: int = 0,
) -> Plane:
    """A network with one hidden layer of ReLUs; the mean loss plus ½ strength ‖W‖² is made small by Adam.

    >>> X, y = moons(40)
    >>> found = fit_plane(10, X, y, moons(200, seed=1), epochs=50)
    >>> 0 <= found.train_error < 0.4
    True
    """
    model = Model(
        nn.mlp((units,), 1),
        "binary_cross_entropy",
        optim.Adam(0.02),
        ["accuracy"],
        penalty=nn.L2(strength),
        dtype="float64",
        engine="native",
        threads=1,
    )
    model.fit(X, y, epochs=epochs, batch_size=25, seed=seed, verbose=False)
    train, held = model.evaluate(X, y), model.evaluate(*test)
    squares = sum(float(np.sum(np.square(w))) for name, w in model.params.items() if name.endswith("weight"))
    return Plane(
        model,
        units,
        strength,
        train["loss"],
        held["loss"],
        1 - train["accuracy"],
        1 - held["accuracy"],
        float(np.sqrt(squares)),
    )


def mean_of(fits: Sequence[Plane], what: str) -> float:
    """The mean of one number over several networks."""
    return float(np.mean([getattr(fit, what) for fit in fits]))


def draw_regions(ax: Axes, fit: Plane, X: Any, y: Any) -> None:
    """Points and probabilities in a small picture without a legend."""
    plot_boundary(fit.model, X, y, ax, points=100)
    ax.get_legend().remove()  # type: ignore[union-attr]
    plane = surface(fit.model, X, points=2)  # its corners are the limits of the picture
    ax.set(xlim=(plane.x[0], plane.x[-1]), ylim=(plane.y[0], plane.y[-1]))
