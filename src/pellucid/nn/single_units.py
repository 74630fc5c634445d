"""Networks of one unit, as they began: the formal neuron, the perceptron, Adaline.

Their learning rules are one step of gradient descent for one sample at a time, on the perceptron loss and on the half
squared error; the gradient comes from the graph like any other.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from pellucid.amounts import check_number, check_whole
from pellucid.autodiff import value_and_grad
from pellucid.engine import compile
from pellucid.errors import ShapeError
from pellucid.graph.core.tree import tree_map
from pellucid.nn.layers.compose import Sequential
from pellucid.nn.layers.dense import Dense
from pellucid.nn.losses.table import loss


def formal_neuron(activation: Any = "sigmoid") -> Sequential:
    """z = <w, x> + b, then an activation (McCulloch and Pitts, 1943).   (n, d) -> (n, 1)

    With the identity it is linear regression, with the sigmoid logistic regression.

    Parameters
    ----------
    activation : str | Activation | function
        what follows the sum

    Returns
    -------
    Sequential
        a network of one unit

    Examples
    --------
    >>> list(formal_neuron().initialize(2).params)
    ['unit.weight', 'unit.bias']
    """
    return Sequential(("unit", Dense(1)), activation)


@dataclass(frozen=True)
class Learned:
    """A unit after learning, and how it went.

    Parameters
    ----------
    weight : array of shape (d,)
        w
    bias : float
        b
    mistakes : tuple[int, ...]
        of every epoch
    losses : tuple[float, ...]
        mean loss of every epoch
    updates : int
        steps that changed anything
    """

    weight: Any
    bias: float
    mistakes: tuple[int, ...]
    losses: tuple[float, ...]
    updates: int

    @property
    def converged(self) -> bool:
        """Did the last epoch pass without a mistake? (For classes; it says nothing of a regression.)"""
        return self.mistakes[-1] == 0

    def score(self, X: Any) -> Any:
        """<w, x> + b.

        Parameters
        ----------
        X : array of shape (n, d)
            rows

        Returns
        -------
        array of shape (n,)
            scores
        """
        return np.asarray(X) @ self.weight + self.bias

    def predict(self, X: Any) -> Any:
        """The class, -1 or 1.

        Parameters
        ----------
        X : array of shape (n, d)
            rows

        Returns
        -------
        array of shape (n,)
            classes
        """
        return np.where(self.score(X) > 0, 1, -1)


@dataclass(frozen=True)
class Perceptron:
    """Rosenblatt's perceptron (1957): on a mistake, y (<w, x> + b) <= 0, it adds lr y x to w and lr y to b.

    Labels are -1 and 1, or 0 and 1. Where a line separates them with margin γ among points of size R, it stops after
    at most (R/γ)² updates (R and γ reckoned with the bias as one more input of 1).

    Parameters
    ----------
    lr : float
        the rate

    Examples
    --------
    >>> X = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    >>> learned = Perceptron().fit(X, [0, 0, 0, 1])  # AND
    >>> learned.converged, learned.predict(X).tolist()
    (True, [-1, -1, -1, 1])
    """

    lr: float = 1.0

    def __post_init__(self) -> None:
        check_number("a number from 0", lr=self.lr)

    def fit(self, X: Any, y: Any, epochs: int = 100) -> Learned:
        """Learn sample by sample, in order, until an epoch passes without a mistake.

        Parameters
        ----------
        X : array of shape (n, d)
            rows
        y : array of shape (n,)
            labels -1 and 1, or 0 and 1
        epochs : int
            at most

        Returns
        -------
        Learned
            the unit
        """
        return _learn("perceptron", X, _signs(y), lambda t: self.lr, epochs, stop=True)


@dataclass(frozen=True)
class Adaline:
    """Widrow and Hoff's adaptive linear neuron (1960): w += lr (y - s) x for every sample, s = <w, x> + b.

    With a falling rate it approaches least squares; above 2/λ, λ the largest eigenvalue of the inputs' second
    moments, it diverges.

    Parameters
    ----------
    lr : float | Callable[[int], float]
        a number, or a function of the step t = 0, 1, ...

    Examples
    --------
    >>> X = np.array([[0.0], [1.0], [2.0]])
    >>> learned = Adaline(lr=0.1).fit(X, np.array([1.0, 3.0, 5.0]), epochs=500)
    >>> float(learned.weight[0].round(3)), round(learned.bias, 3)
    (2.0, 1.0)
    """

    lr: float | Callable[[int], float] = 0.01

    def __post_init__(self) -> None:
        if not callable(self.lr):
            check_number("a number from 0, or a function of the step", lr=self.lr)

    def fit(self, X: Any, y: Any, epochs: int = 100) -> Learned:
        """Learn sample by sample, in order.

        Parameters
        ----------
        X : array of shape (n, d)
            rows
        y : array of shape (n,)
            any numbers (-1 and 1 for classes)
        epochs : int
            all are made

        Returns
        -------
        Learned
            the unit
        """
        rate = self.lr if callable(self.lr) else lambda t: self.lr
        return _learn("half_squared_error", X, np.asarray(y, float), rate, epochs, stop=False)


def _learn(which: str, X: Any, y: Any, lr: Callable[[int], float], epochs: int, stop: bool) -> Learned:
    X = np.asarray(X, float)
    check_whole(epochs=epochs)
    if X.ndim != 2 or np.shape(y) != (len(X),):
        raise ShapeError(f"expected X (n, d) and y (n,), got X {X.shape}, y {np.shape(y)}")
    if not (np.all(np.isfinite(X)) and np.all(np.isfinite(y))):
        raise ValueError("X and y must be finite numbers: they hold NaN or infinity")
    net, objective = Sequential(("unit", Dense(1, init="zeros"))), loss(which)
    step = compile(value_and_grad(lambda p, x, t: objective(net.predict(p, x), t)))
    params, t, updates = net.initialize(X).params, 0, 0
    mistakes, losses = [], []
    for _ in range(epochs):
        wrong, total = 0, 0.0
        for x_i, y_i in zip(X[:, None], y[:, None, None], strict=True):
            wrong += int(not float(net.predict(params, x_i)[0, 0]) * float(y_i[0, 0]) > 0)  # NaN is a mistake, too
            value, gradient = step(params, x_i, y_i)
            rate, total, t = lr(t), total + float(value), t + 1
            updates += int(any(np.any(g) for g in gradient.values()))
            params = tree_map(lambda w, g: w - rate * g, params, gradient)  # noqa: B023
        mistakes.append(wrong)
        losses.append(total / len(X))
        if stop and wrong == 0:
            break
    return Learned(params["unit.weight"][:, 0], float(params["unit.bias"][0]), tuple(mistakes), tuple(losses), updates)


def _signs(y: Any) -> Any:
    """Labels {0, 1} or {-1, 1} as -1.0 and 1.0."""
    y = np.asarray(y)
    labels = set(np.unique(y).tolist())
    if labels <= {-1, 1}:
        return y.astype(float)
    if labels <= {0, 1}:
        return 2.0 * y - 1.0
    raise ValueError(f"Perceptron: labels are -1 and 1, or 0 and 1, got {sorted(labels)[:5]}")
