"""Backpropagation by whole Jacobians, as the lectures derive it: Kronecker products, and biases inside the weights.

A Jacobian has one row for each output. `vec` stacks rows, so that ∂(W x + b)/∂vec(W) is I ⊗ xᵀ; stacking columns it
would be xᵀ ⊗ I.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pellucid.lab.backward import Backward, Layers, softmax


def by_input(W: Any) -> Any:
    """∂s/∂h = W, for s = W h + b."""
    return np.asarray(W)


def by_bias(W: Any) -> Any:
    """∂s/∂b = I_m."""
    return np.eye(len(W))


def by_weights(W: Any, x: Any) -> Any:
    """∂s/∂vec(W) = I_m ⊗ xᵀ, rows stacked.   (m, d), (d,) -> (m, m d)

    >>> by_weights(np.zeros((2, 2)), np.array([3.0, 4.0]))
    array([[3., 4., 0., 0.],
           [0., 0., 3., 4.]])
    """
    return np.kron(np.eye(len(W)), np.asarray(x)[None, :])


def by_weights_columns(W: Any, x: Any) -> Any:
    """∂s/∂vec(W) = xᵀ ⊗ I_m, columns stacked.   (m, d), (d,) -> (m, m d)"""
    return np.kron(np.asarray(x)[None, :], np.eye(len(W)))


def by_matrix(W: Any, h: Any) -> Any:
    """∂z/∂W = Σ_j [hᵀ ⊗ e_j] ⊗ e_j: slice j is the derivative of z_j, a matrix whose row j is hᵀ.   -> (m, d, m)"""
    tensor = np.zeros((*np.shape(W), len(W)))
    for e in np.eye(len(W)):
        tensor += np.kron(np.asarray(h)[None, :], e[:, None])[:, :, None] * e
    return tensor


def of_relu(s: Any) -> Any:
    """∂h/∂s = diag(Ind(s > 0)), for h = max(0, s)."""
    return np.diag((np.asarray(s) > 0).astype(float))


def of_softmax(p: Any) -> Any:
    """∂p/∂s = diag(p) - p pᵀ."""
    return np.diag(p) - np.outer(p, p)


def absorbed(layers: Layers) -> tuple[Any, ...]:
    """Biases inside the weights: [W_k b_k], for inputs with a 1 behind them."""
    return tuple(np.hstack([W, b[:, None]]) for W, b in zip(layers.W, layers.b, strict=True))


def with_one(x: Any) -> Any:
    """The constant input that makes a bias of the last weight."""
    return np.append(x, 1.0)


def absorbed_forward(weights: tuple[Any, ...], x: Any) -> Any:
    """The scores of the same ReLU network without biases.   (d,) -> (C,)"""
    h = with_one(x)
    for W in weights[:-1]:
        h = with_one(np.maximum(0.0, W @ h))
    return weights[-1] @ h


def by_jacobians(layers: Layers, x: Any, y: Any, penalty: float = 0.0) -> Backward:
    """Lines 7 to 12 of the backpropagation algorithm (lecture 000), for -yᵀ log p and the penalty λ Σ ‖W‖².

    Biases are absorbed into the weights; the penalty leaves them out. x: (d,), y: one-hot (C,)
    """
    weights = absorbed(layers)
    h, z = [with_one(x)], []
    for W in weights[:-1]:
        z.append(W @ h[-1])
        h.append(with_one(np.maximum(0.0, z[-1])))
    p = softmax(weights[-1] @ h[-1])
    by_scores = of_softmax(p) @ (-y / p)  # ∂p/∂ŷ · ∂ℓ/∂p
    last = len(weights)
    lines: list[tuple[str, Any]] = []

    def line(text: str, value: Any) -> Any:
        lines.append((text, value))
        return value

    def regularised(k: int) -> Any:
        return 2 * penalty * np.hstack([layers.W[k], np.zeros((len(layers.b[k]), 1))])

    gradients = [line(f"7. dℓ/dW{last}", by_matrix(weights[-1], h[-1]) @ by_scores + regularised(last - 1))]
    behind = line(f"8. dℓ/dh{last - 1}", layers.W[-1].T @ by_scores)
    for k in range(last - 1, 0, -1):
        error = line(f"10. dℓ/dz{k}", of_relu(z[k - 1]) @ behind)
        gradients.insert(0, line(f"11. dℓ/dW{k}", by_matrix(weights[k - 1], h[k - 1]) @ error + regularised(k - 1)))
        behind = line(f"12. dℓ/dh{k - 1}", layers.W[k - 1].T @ error)
    split = Layers(tuple(dW[:, :-1] for dW in gradients), tuple(dW[:, -1] for dW in gradients))
    return Backward(split, tuple(lines))
