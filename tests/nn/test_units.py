"""Formal neuron, perceptron, Adaline."""

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.special import expit

import pellucid as pel
from pellucid import nn


def test_formal_neuron():
    net = nn.formal_neuron()
    p = {"unit.weight": np.array([[1.0], [-2.0]]), "unit.bias": np.array([0.5])}
    x = np.array([[3.0, 1.0]])
    assert_allclose(net.predict(p, x), expit([[1.5]]))


def separable(seed, n=60, d=3, margin=0.3):
    rng = np.random.default_rng(seed)
    w, X = rng.normal(size=d), rng.uniform(-1, 1, size=(4 * n, d))
    w /= np.linalg.norm(w)
    X = X[np.abs(X @ w) > margin][:n]
    return X, np.sign(X @ w), w


@pytest.mark.parametrize("seed", range(5))
def test_perceptron_converges_within_its_bound(seed):
    X, y, w = separable(seed)
    learned = nn.Perceptron().fit(X, y)
    assert learned.converged
    assert np.array_equal(learned.predict(X), y)
    extended = np.column_stack([X, np.ones(len(X))])
    gamma = np.min(y * (X @ w))  # the margin of (w, 0), a unit vector of the extended space
    R = np.max(np.linalg.norm(extended, axis=1))
    assert learned.updates <= (R / gamma) ** 2


def test_first_steps_by_hand():  # at w = 0 every point is a mistake
    X, y = np.array([[2.0, 1.0], [1.0, -1.0], [-1.0, -1.0]]), np.array([1, -1, -1])
    w, b = np.zeros(2), 0.0
    for x_i, y_i in zip(X, y, strict=True):
        if y_i * (w @ x_i + b) <= 0:
            w, b = w + y_i * x_i, b + y_i
    learned = nn.Perceptron().fit(X, y, epochs=1)
    assert np.array_equal(learned.weight, w)
    assert learned.bias == b
    # targets in {0, 1} with w += lr (d - f(x)) x and f(x) = 1 if <w, x> + b > 0 are the same rule
    w01, b01 = np.zeros(2), 0.0
    for x_i, y_i in zip(X, (y + 1) // 2, strict=True):
        out = float(w01 @ x_i + b01 > 0)
        w01, b01 = w01 + (y_i - out) * x_i, b01 + (y_i - out)
    again = nn.Perceptron().fit(X, (y + 1) // 2, epochs=1)
    assert np.array_equal(again.weight, w01)
    assert again.bias == b01
    assert np.array_equal(again.predict(X), np.where(X @ w01 + b01 > 0, 1, -1))


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("rate", [1.0, 0.25])
def test_both_codings_learn_the_same_weights(seed, rate):
    """w += α (d - f(x)) x with targets 0 and 1 is w += α y x on a mistake, y = 2 d - 1, over many epochs."""
    X, y, _ = separable(seed)
    X = np.concatenate([X[y == 1][:1], X])  # the first is of class 1, see below
    y = np.concatenate([[1.0], y])
    w, b = np.zeros(3), 0.0
    learned = nn.Perceptron(lr=rate).fit(X, y)
    for _ in learned.mistakes:
        for x_i, d in zip(X, (y + 1) / 2, strict=True):
            error = d - float(w @ x_i + b > 0)
            w, b = w + rate * error * x_i, b + rate * error
    assert_allclose(learned.weight, w, rtol=1e-12, atol=1e-12)
    assert_allclose(learned.bias, b, rtol=1e-12, atol=1e-12)


def test_a_score_of_zero_is_a_mistake_of_both_classes():
    """The rule with f(0) = 0 takes it for class 0, and learns nothing of a first point of that class; ours does."""
    learned = nn.Perceptron().fit(np.array([[2.0, 1.0]]), [0], epochs=1)
    assert learned.updates == 1
    assert learned.weight.tolist() == [-2.0, -1.0]


def test_xor_is_never_learned():
    X, y = np.array([[0.0, 0], [1, 0], [0, 1], [1, 1]]), np.array([-1, 1, 1, -1])
    learned = nn.Perceptron().fit(X, y, epochs=50)
    assert min(learned.mistakes) > 0
    assert not learned.converged


LETTERS = {
    "T": "##### ..#.. ..#.. ..#.. ..#..",
    "L": "#.... #.... #.... #.... #####",
    "X": "#...# .#.#. ..#.. .#.#. #...#",
    "O": ".###. #...# #...# #...# .###.",
    "H": "#...# #...# ##### #...# #...#",
}


def test_the_mark_one_reads_letters():  # 20 x 20 photocells
    rng = np.random.default_rng(0)
    bitmaps = [np.kron([[c == "#" for c in row] for row in art.split()], np.ones((4, 4))) for art in LETTERS.values()]
    X = np.array([np.abs(b - (rng.random((20, 20)) < 0.05)) for b in bitmaps for _ in range(8)]).reshape(-1, 400)
    labels = np.repeat(np.arange(len(LETTERS)), 8)
    scores = np.column_stack(
        [nn.Perceptron().fit(X, np.where(labels == k, 1, -1)).score(X) for k in range(len(LETTERS))]
    )
    assert np.mean(scores.argmax(1) == labels) == 1.0


def test_adaline_is_gradient_descent_on_the_half_squared_error():
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(20, 3)), rng.normal(size=20)
    learned = nn.Adaline(lr=0.05).fit(X, y, epochs=2)
    w, b = np.zeros(3), 0.0
    for x_i, y_i in list(zip(X, y, strict=True)) * 2:
        error = y_i - (w @ x_i + b)
        w, b = w + 0.05 * error * x_i, b + 0.05 * error
    assert_allclose(learned.weight, w, rtol=1e-12)
    assert_allclose(learned.bias, b, rtol=1e-12)


def test_adaline_approaches_least_squares_and_diverges_beyond_its_limit():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(40, 2))
    y = X @ [1.0, -2.0] + 0.5 + 0.1 * rng.normal(size=40)
    A = np.column_stack([X, np.ones(40)])
    ols = np.linalg.lstsq(A, y, rcond=None)[0]
    learned = nn.Adaline(lr=lambda t: 0.1 / (1 + 0.01 * t)).fit(X, y, epochs=150)
    assert_allclose([*learned.weight, learned.bias], ols, atol=0.005)
    # the full-batch rule: stable below 2/lambda_max, not above
    largest = np.linalg.eigvalsh(A.T @ A / 40).max()
    for factor, grows in ((1.9, False), (2.1, True)):
        w = np.ones(3)
        start = np.linalg.norm(w - ols)
        descent = pel.grad(lambda w: np.mean(np.square(A @ w - y)) / 2)
        for _ in range(200):
            w = w - factor / largest * descent(w)
        assert (np.linalg.norm(w - ols) > start) == grows


def test_delta_rule():  # minus the gradient of a linear layer is delta times its input
    rng = np.random.default_rng(3)
    i, t = rng.normal(size=(1, 4)), rng.normal(size=(1, 2))
    net = nn.Dense(2)
    p = net.initialize(4).params
    E = lambda p: 0.5 * np.sum((t - net.predict(p, i)) ** 2)
    delta = t - net.predict(p, i)
    assert_allclose(-pel.grad(E)(p)["weight"], i.T @ delta)


def test_madaline_is_a_network_of_three_layers():
    net = nn.mlp((6, 4), 3, activation="hard_threshold")
    X = np.random.default_rng(0).normal(size=(5, 2))
    assert nn.summary(net, 2).layers == 3
    taps: dict[str, Any] = {}
    net.apply(net.initialize(2).params, X, taps=taps)
    assert set(np.unique(taps["hidden1.activation"])) <= {0.0, 1.0}


def test_no_gradient_reaches_the_hidden_units_of_madaline():
    """Why its rules try flips of single units: the step is flat, so only the last layer has a gradient."""
    net = nn.mlp((6, 4), 1, activation="hard_threshold", init=nn.normal(1.0))
    p, X = net.initialize(2).params, np.random.default_rng(0).normal(size=(50, 2))
    gradient = pel.grad(lambda p: np.mean(np.square(net.predict(p, X) - X[:, :1])))(p)
    assert {name for name, g in gradient.items() if np.any(g)} == {"output.weight", "output.bias"}


def test_other_labels_are_refused():
    with pytest.raises(ValueError, match=r"labels are -1 and 1, or 0 and 1, got \[1, 2\]"):
        nn.Perceptron().fit(np.ones((2, 1)), [1, 2])
