"""The backward passes of the lectures, written by hand as they write them: samples are columns, a layer is W x + b.

They stand beside what the engine does by itself (`inspect.step`); `backward_agreement` compares the two. Where a slide
has a slip the corrected form is here: the slope of layer i - 1 behind g W_i, 2λW everywhere, a first
bias gradient of m numbers, ReLU'(0) = 0, means of losses.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pellucid.errors import ShapeError
from pellucid.markup import Brief

Function = Callable[[Any], Any]

SLOPES: dict[str, tuple[Function, Function]] = {
    "relu": (lambda s: np.maximum(0.0, s), lambda s: (s > 0).astype(float)),  # Ind(s > 0): 0 at 0
    "tanh": (np.tanh, lambda s: 1.0 - np.tanh(s) ** 2),
}
"""Activations of the slides: the function and its slope."""


@dataclass(frozen=True, eq=False)
class Layers:
    """Weights W_k (m_k × m_{k-1}) and biases b_k (m_k) of k layers, as the lectures hold them."""

    W: tuple[Any, ...]
    b: tuple[Any, ...]

    def __post_init__(self) -> None:
        for k, (W, b) in enumerate(zip(self.W, self.b, strict=True), start=1):
            if np.ndim(W) != 2 or np.shape(b) != np.shape(W)[:1]:
                raise ShapeError(f"layer {k}: W is m × d and b has m numbers, got {np.shape(W)} and {np.shape(b)}")

    def __len__(self) -> int:
        return len(self.W)

    @staticmethod
    def of(params: Mapping[str, Any]) -> Layers:
        """Out of the library's parameters, whose weights are the transposes.

        >>> Layers.of({"out.weight": np.ones((3, 2)), "out.bias": np.zeros(2)}).W[0].shape
        (2, 3)
        """
        names = [name.removesuffix(".weight") for name in params if name.endswith(".weight")]
        return Layers(tuple(params[f"{n}.weight"].T for n in names), tuple(params[f"{n}.bias"] for n in names))

    def named(self, names: Sequence[str]) -> dict[str, Any]:
        """As the library holds them, by the names of the layers."""
        weights = {f"{name}.weight": W.T for name, W in zip(names, self.W, strict=True)}
        return weights | {f"{name}.bias": b for name, b in zip(names, self.b, strict=True)}


@dataclass(frozen=True, eq=False, repr=False)
class Backward(Brief):
    """Gradients of all layers, and the lines of the algorithm on the way: what was computed, and its value."""

    gradients: Layers
    lines: tuple[tuple[str, Any], ...]

    def __str__(self) -> str:
        return "\n".join(f"{text} = {np.array2string(np.asarray(value), precision=4)}" for text, value in self.lines)


def softmax(s: Any) -> Any:
    """exp(s) / 1ᵀ exp(s), of every column."""
    e = np.exp(s - np.max(s, axis=0, keepdims=True))
    return e / np.sum(e, axis=0, keepdims=True)


def forward(layers: Layers, x: Any, activation: str = "relu") -> tuple[list[Any], list[Any]]:
    """s(1) ... s(k) and x(0) ... x(k-1), of one sample (d,) or of columns (d, n)."""
    function, _ = SLOPES[activation]
    inputs, scores = [np.asarray(x, float)], []
    for i, (W, b) in enumerate(zip(layers.W, layers.b, strict=True)):
        scores.append(W @ inputs[-1] + (b if np.ndim(x) == 1 else b[:, None]))
        if i < len(layers) - 1:
            inputs.append(function(scores[-1]))
    return scores, inputs


# lecture 003: softmax and cross-entropy, penalty λ Σ ‖W‖²


def single_sample(layers: Layers, x: Any, y: Any, penalty: float = 0.0) -> Backward:
    """The aggregated backward pass of a 2-layer network in six steps. x: (d,), y: one-hot (C,); g is a row."""
    if len(layers) != 2:
        raise ShapeError(f"single_sample is for 2 layers, got {len(layers)}: `aggregated` takes any number")
    (W1, W2), ((s1, s), (x, h)) = layers.W, forward(layers, x)
    lines: list[tuple[str, Any]] = []

    def line(text: str, value: Any) -> Any:
        lines.append((text, value))
        return value

    g = line("1. g = -(y - p)ᵀ", -(y - softmax(s))[None, :])
    db2 = line("2. ∂J/∂b2 = g", g[0])
    dW2 = line("3. ∂J/∂W2 = gᵀ hᵀ + 2λ W2", g.T @ h[None, :] + 2 * penalty * W2)
    g = line("4. g = g W2", g @ W2)
    g = line("   g = g diag(Ind(s1 > 0))", g @ np.diag((s1 > 0).astype(float)))
    db1 = line("5. ∂J/∂b1 = g", g[0])
    dW1 = line("6. ∂J/∂W1 = gᵀ xᵀ + 2λ W1", g.T @ x[None, :] + 2 * penalty * W1)
    return Backward(Layers((dW1, dW2), (db1, db2)), tuple(lines))


def aggregated(layers: Layers, x: Any, y: Any, penalty: float = 0.0, activation: str = "relu") -> Backward:
    """The same for k layers. Behind g = g W_i stands the slope of layer i - 1 (three slides print i)."""
    _, slope = SLOPES[activation]
    scores, inputs = forward(layers, x, activation)
    g = -(y - softmax(scores[-1]))[None, :]
    lines: list[tuple[str, Any]] = [("g = -(y - p)ᵀ", g)]
    dW: list[Any] = []
    db: list[Any] = []
    for i in range(len(layers), 0, -1):
        W = layers.W[i - 1]
        db.insert(0, g[0])
        dW.insert(0, g.T @ inputs[i - 1][None, :] + 2 * penalty * W)
        lines += [(f"∂J/∂b{i} = g", db[0]), (f"∂J/∂W{i} = gᵀ x({i - 1})ᵀ + 2λ W{i}", dW[0])]
        if i > 1:
            g = g @ W @ np.diag(slope(scores[i - 2]))
            lines.append((f"g = g W{i} diag(slope of s({i - 1}))", g))
    return Backward(Layers(tuple(dW), tuple(db)), tuple(lines))


def accumulated(layers: Layers, X: Any, Y: Any, penalty: float = 0.0, activation: str = "relu") -> Backward:
    """A mini-batch, sample by sample: zero, add, divide by their number, add 2λW (not on b). X: (d, n), Y: (C, n)"""
    dW = [np.zeros_like(W) for W in layers.W]
    db = [np.zeros_like(b) for b in layers.b]
    for x, y in zip(X.T, Y.T, strict=True):
        one = aggregated(layers, x, y, 0.0, activation).gradients
        dW = [total + share for total, share in zip(dW, one.W, strict=True)]
        db = [total + share for total, share in zip(db, one.b, strict=True)]
    n = X.shape[1]
    weights = tuple(total / n + 2 * penalty * W for total, W in zip(dW, layers.W, strict=True))
    return Backward(Layers(weights, tuple(total / n for total in db)), ())


def vectorised(layers: Layers, X: Any, Y: Any, penalty: float = 0.0, activation: str = "relu") -> Backward:
    """A mini-batch at once: G = -(Y - P), then G Xᵀ / n and G 1 / n for each layer. X: (d, n), Y: (C, n)"""
    _, slope = SLOPES[activation]
    scores, inputs = forward(layers, X, activation)
    n = X.shape[1]
    G = -(Y - softmax(scores[-1]))
    lines: list[tuple[str, Any]] = [("G = -(Y - P)", G)]
    dW: list[Any] = []
    db: list[Any] = []
    for i in range(len(layers), 0, -1):
        dW.insert(0, G @ inputs[i - 1].T / n + 2 * penalty * layers.W[i - 1])
        db.insert(0, G @ np.ones(n) / n)
        lines += [(f"∂J/∂W{i} = G X({i - 1})ᵀ / n + 2λ W{i}", dW[0]), (f"∂J/∂b{i} = G 1 / n", db[0])]
        if i > 1:
            G = (layers.W[i - 1].T @ G) * slope(scores[i - 2])
            lines.append((f"G = W{i}ᵀ G ⊙ slope of S({i - 1})", G))
    return Backward(Layers(tuple(dW), tuple(db)), tuple(lines))


# lecture 004: regression, J = ½ (y - ŷ)²


def four_steps(layers: Layers, x: Any, y: float) -> Backward:
    """The derivation for two layers with ReLU and one output: W[2] first, then W[1] through z[1] and a[1]. x: (d,)"""
    if len(layers) != 2 or len(layers.b[1]) != 1:
        raise ShapeError("four_steps is for 2 layers and one output: `delta_recursion` takes any number")
    (z1, z2), (x, a1) = forward(layers, x)
    error = z2 - y
    da1 = error @ layers.W[1]
    dz1 = da1 * (z1 > 0)
    lines = (
        ("1. ∂J/∂W[2] = (ŷ - y) a[1]ᵀ", np.outer(error, a1)),
        ("   ∂J/∂b[2] = ŷ - y", error),
        ("4. ∂J/∂a[1] = (ŷ - y) W[2]ᵀ", da1),
        ("3. ∂J/∂z[1] = ∂J/∂a[1] ⊙ σ'(z[1])", dz1),
        ("2. ∂J/∂W[1] = ∂J/∂z[1] xᵀ", np.outer(dz1, x)),
        ("   ∂J/∂b[1] = ∂J/∂z[1]", dz1),
    )
    return Backward(Layers((np.outer(dz1, x), np.outer(error, a1)), (dz1, error)), lines)


def delta_recursion(layers: Layers, x: Any, y: Any) -> Backward:
    """δ[r] = z[r] - y;  δ[k] = (W[k+1]ᵀ δ[k+1]) ⊙ ReLU'(z[k]);  ∂J/∂W[k] = δ[k] a[k-1]ᵀ,  ∂J/∂b[k] = δ[k]. x: (d,)

    The deltas are the lines of the result, from the last layer to the first.
    """
    z, a = forward(layers, x)
    deltas: list[Any] = [z[-1] - y]
    for k in range(len(layers) - 1, 0, -1):
        deltas.insert(0, (layers.W[k].T @ deltas[0]) * (z[k - 1] > 0))
    lines = tuple((f"δ[{k}]", deltas[k - 1]) for k in range(len(layers), 0, -1))
    weights = tuple(np.outer(delta, before) for delta, before in zip(deltas, a, strict=True))
    return Backward(Layers(weights, tuple(deltas)), lines)
