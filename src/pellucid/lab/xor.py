"""XOR (lecture 000): no line separates it, two hidden units do, by hand or by gradient descent.

Rows are samples, the labels are -1 and +1. The network is the lecture's:  z = U x + c,  h = σ(z),  score = <w, h> + b.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pellucid.autodiff import value_and_grad
from pellucid.engine import compile
from pellucid.lab.costs import text_table
from pellucid.markup import Brief
from pellucid.nn import Perceptron

Array = NDArray[np.float64]

X: Array = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
Y: Array = np.array([-1.0, 1.0, 1.0, -1.0])
X.flags.writeable = Y.flags.writeable = False

ACTIVATIONS: dict[str, Callable[[Any], Any]] = {"relu": lambda z: np.maximum(z, 0), "tanh": np.tanh}
HAND_MADE: dict[str, Any] = {
    "U": np.array([[1.0, 1.0], [1.0, 1.0]]),
    "c": np.array([0.0, -1.0]),
    "w": np.array([2.0, -4.0]),
    "b": -1.0,
}


@dataclass(frozen=True, eq=False, repr=False)
class Pass(Brief):
    """What the 2-2-1 network computes on its way: one row for each sample."""

    x: Array
    z: Array
    h: Array
    score: Array

    def table(self) -> str:
        rows = [
            [_tuple(x), _tuple(z), _tuple(h), f"{s:+.3g}"]
            for x, z, h, s in zip(self.x, self.z, self.h, self.score, strict=True)
        ]
        return text_table(["x", "z = Ux + c", "h = σ(z)", "<w, h> + b"], rows)

    __str__ = table


def forward_pass(parameters: dict[str, Any], x: ArrayLike = X, activation: str = "relu") -> Pass:
    """The network with every value in between. The hand-made weights give the labels themselves.

    Parameters
    ----------
    parameters : dict[str, Any]
        "U", "c", "w" and "b"
    x : array of shape (n, 2)
        points
    activation : str
        by name

    Returns
    -------
    Pass
        print it

    Examples
    --------
    >>> print(forward_pass(HAND_MADE))
    x       z = Ux + c  h = σ(z)  <w, h> + b
    ────────────────────────────────────────
    (0, 0)  (0, -1)     (0, 0)            -1
    (1, 0)  (1, 0)      (1, 0)            +1
    (0, 1)  (1, 0)      (1, 0)            +1
    (1, 1)  (2, 1)      (2, 1)            -1
    """
    points = np.asarray(x, dtype=np.float64)
    z, h, score = _network(parameters, points, ACTIVATIONS[activation])
    return Pass(points, z, h, score)


def _network(p: dict[str, Any], x: Any, activation: Callable[[Any], Any]) -> tuple[Any, Any, Any]:
    z = x @ p["U"].T + p["c"]
    h = activation(z)
    return z, h, h @ p["w"] + p["b"]


@dataclass(frozen=True, eq=False, repr=False)
class Separation(Brief):
    """A hyperplane with y (<w, x> + b) >= 1, or weights that prove there is none.

    The proof: `proof` >= 0 sums to 1 and sum_i proof_i y_i (x_i, 1) = 0. Multiplying y_i (<w, x_i> + b) > 0 by it and
    adding up would give 0 > 0.
    """

    separable: bool
    w: Array | None = None
    b: float | None = None
    proof: Array | None = None

    def __str__(self) -> str:
        if self.separable:
            return f"separable: w = {_tuple(self.w)}, b = {self.b:.3g}"
        return f"not separable: the conditions times {_tuple(self.proof)} add up to 0 > 0"


def separate(x: ArrayLike = X, y: ArrayLike = Y) -> Separation:
    """Is there a linear classifier without errors? Answered by linear programming.

    Parameters
    ----------
    x : array of shape (n, d)
        points
    y : array of shape (n,)
        labels -1 and 1

    Returns
    -------
    Separation
        a line, or a proof that there is none

    Examples
    --------
    >>> print(separate())
    not separable: the conditions times (0.25, 0.25, 0.25, 0.25) add up to 0 > 0
    >>> separate(np.column_stack([X, X[:, 0] * X[:, 1]])).separable  # a richer input map: (x1, x2, x1 x2)
    True
    """
    from scipy.optimize import linprog

    points, labels = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    sides = labels[:, None] * np.column_stack([points, np.ones(len(points))])
    n, d = sides.shape
    solution: Any = linprog(np.zeros(d), A_ub=-sides, b_ub=-np.ones(n), bounds=(None, None))
    if solution.success:
        return Separation(True, solution.x[:-1], float(solution.x[-1]))
    conditions = np.vstack([sides.T, np.ones(n)])
    proof = linprog(np.zeros(n), A_eq=conditions, b_eq=np.append(np.zeros(d), 1.0), bounds=(0, None))
    return Separation(False, proof=proof.x)


def perceptron_errors(x: ArrayLike = X, y: ArrayLike = Y, epochs: int = 100) -> tuple[int, ...]:
    """Mistakes of Rosenblatt's perceptron in each epoch: on XOR it never has an epoch without one.

    Parameters
    ----------
    x : array of shape (n, d)
        points
    y : array of shape (n,)
        labels -1 and 1
    epochs : int
        at most

    Returns
    -------
    tuple of int
        one number for each epoch

    Examples
    --------
    >>> min(perceptron_errors())
    4
    """
    return Perceptron().fit(x, y, epochs).mistakes


@dataclass(frozen=True, eq=False, repr=False)
class Start(Brief):
    """One random start: the loss before each step and after the last, and the points that are wrong at the end."""

    losses: Array
    parameters: dict[str, Any]
    errors: int


@dataclass(frozen=True, eq=False, repr=False)
class XorRun(Brief):
    """The first start that solved XOR (or, if none did, the best one), and what became of all that were tried."""

    activation: str
    starts: tuple[Start, ...]
    chosen: int

    @property
    def solved(self) -> bool:
        return self.starts[self.chosen].errors == 0

    @property
    def losses(self) -> Array:
        return self.starts[self.chosen].losses

    @property
    def parameters(self) -> dict[str, Any]:
        return self.starts[self.chosen].parameters

    def score(self, x: ArrayLike) -> Array:
        """The trained network's score at any points; its sign is the class."""
        return forward_pass(self.parameters, x, self.activation).score

    @property
    def scores(self) -> Array:
        return self.score(X)

    @property
    def predictions(self) -> Array:
        """The classes of the four points, -1 or +1."""
        return np.where(self.scores > 0, 1.0, -1.0)

    def table(self) -> str:
        rows = [
            [number, f"{start.losses[-1]:.4f}", start.errors, "stuck" if start.errors else "solved"]
            for number, start in enumerate(self.starts, start=1)
        ]
        return text_table(["start", "final loss", "errors", ""], rows)

    __str__ = table


def train_xor(
    seed: int = 0, *, steps: int = 500, lr: float = 0.5, activation: str = "relu", starts: int = 50
) -> XorRun:
    """Train the 2-2-1 network by full-batch gradient descent on the logistic loss, mean of ln(1 + exp(-y score)).

    The network can represent XOR, but most random starts end in a place where the gradient is zero and some points
    are still wrong. So starts are drawn one after another (standard normal, from `seed`) until one solves it, and
    the failures are part of the result.

    Parameters
    ----------
    seed : int
        of the starts
    steps : int
        of gradient descent from each start
    lr : float
        the rate
    activation : str
        of the hidden units
    starts : int
        tried at most

    Returns
    -------
    XorRun
        the last network, and all starts

    Examples
    --------
    >>> run = train_xor()
    >>> run.solved, run.predictions.tolist()
    (True, [-1.0, 1.0, 1.0, -1.0])
    """
    if activation not in ACTIVATIONS:
        raise ValueError(f"activation is one of {', '.join(map(repr, ACTIVATIONS))}, got {activation!r}")
    if starts < 1:
        raise ValueError(f"train_xor needs at least one start, got starts={starts}")
    rng = np.random.default_rng(seed)

    def loss(p: dict[str, Any]) -> Any:
        return np.mean(np.logaddexp(0.0, -Y * _network(p, X, ACTIVATIONS[activation])[2]))

    step = compile(value_and_grad(loss))
    attempts: list[Start] = []
    while len(attempts) < starts and not (attempts and attempts[-1].errors == 0):
        p = {"U": rng.normal(size=(2, 2)), "c": rng.normal(size=2), "w": rng.normal(size=2), "b": rng.normal()}
        losses = np.empty(steps + 1)
        for k in range(steps):
            losses[k], g = step(p)
            p = {name: p[name] - lr * g[name] for name in p}
        losses[steps] = loss(p)
        errors = int(np.sum(Y * _network(p, X, ACTIVATIONS[activation])[2] <= 0))
        attempts.append(Start(losses, p, errors))
    best = min(range(len(attempts)), key=lambda i: (attempts[i].errors, attempts[i].losses[-1]))
    return XorRun(activation, tuple(attempts), best)


def _tuple(values: Any) -> str:
    return "(" + ", ".join(f"{v:.3g}" for v in values) + ")"
