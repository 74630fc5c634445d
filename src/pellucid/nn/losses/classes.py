"""Losses of classes: one of many (sums over classes), several labels (averaged over the labels), margins."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import special

from pellucid.errors import ShapeError
from pellucid.graph.core.spec import format_shape
from pellucid.graph.numpy_api import log_softmax, logsumexp, softmax
from pellucid.graph.primitives.indexing import one_hot
from pellucid.nn.losses.link import SIGMOID, SIGMOID_OR_SOFTMAX, SIGN, SOFTMAX
from pellucid.nn.losses.loss import Loss, labels, must, over_outputs, refuse
from pellucid.precision import like


class OneOfMany(Loss):
    """Losses of K classes, from K scores. Targets are labels (n,), or probabilities (n, K): unit vectors, mixtures."""

    link = SOFTMAX
    target = "labels 0 ... K-1, (n,), or probabilities (n, K)"
    labels = True

    def shares(self, s: Any, y: Any) -> Any:
        """The target as probabilities, unit vectors for labels.   (n,) or (n, K) -> (n, K)"""
        if s.shape[1] < 2:
            raise ShapeError(f"{self.name}: K classes need K scores, got 1: use 'binary_cross_entropy', or 2 outputs")
        return one_hot(y, s.shape[1], s.dtype) if len(y.shape) == 1 else y

    def prepare(self, y: Any, outputs: int | None = None) -> Any:
        if np.ndim(y) != 2 or np.shape(y)[1] == 1:
            return labels(self, y, outputs)
        y = super().prepare(y, outputs)
        refuse(self, y, (y < 0) | (y > 1), "a probability")
        total = np.sum(y, axis=1)
        refuse(self, total, np.abs(total - 1) > 1e-4, "rows with sum 1 (for independent labels use 'multilabel')")
        return y


@dataclass(frozen=True)
class CrossEntropy(OneOfMany):
    """Log-loss of K classes: the logarithm of the probability that the right one was given.

    With `smoothing` ε the target is (1 - ε) times the unit vector plus ε/K (Szegedy et al., 2016).
    """

    smoothing: Any = 0.0

    name = "cross_entropy"
    formula = "-Σ_k q_k log softmax(s)_k;  q = (1 - ε) onehot(y) + ε/K"

    def __post_init__(self) -> None:
        must(self, "smoothing", "a number in 0 ... 1 (without 1)", lambda v: 0 <= v < 1)

    def each(self, s: Any, y: Any) -> Any:
        q = self.shares(s, y)
        epsilon = like(self.smoothing, s)
        q = (1.0 - epsilon) * q + epsilon / s.shape[1]
        return -np.sum(q * log_softmax(s), axis=-1)


@dataclass(frozen=True)
class Brier(OneOfMany):
    """Squared distance of the probabilities from the target, ‖p - y‖². At most 2: one row cannot outweigh all others.

    Like the log-loss it is smallest on average for the true probabilities; unlike it, it hardly learns from a row that
    is very wrong, for there the softmax is flat.
    """

    name = "brier"
    formula = "Σ_k (softmax(s)_k - q_k)²;  q = onehot(y)"
    reference = "Brier, 1950"

    def each(self, s: Any, y: Any) -> Any:
        return np.sum(np.square(softmax(s) - self.shares(s, y)), axis=-1)


class YesNo(Loss):
    """Log-loss of independent yes-or-no targets: 0 and 1, -1 and 1, or probabilities of yes. One score each."""

    smoothing: Any
    link = SIGMOID

    def __post_init__(self) -> None:
        must(self, "smoothing", "a number in 0 ... 1 (without 1)", lambda v: 0 <= v < 1)

    def each(self, s: Any, y: Any) -> Any:
        epsilon = like(self.smoothing, s)
        q = (1.0 - epsilon) * y + 0.5 * epsilon
        # two logarithms, not softplus(s) - q s: that difference cancels where the loss is small
        return over_outputs(-q * special.log_expit(s) - (1.0 - q) * special.log_expit(-s))

    def prepare(self, y: Any, outputs: int | None = None) -> Any:
        y = super().prepare(y, outputs)
        if np.all(np.abs(y) == 1):  # coded -1 and 1
            return np.maximum(y, 0)
        refuse(self, y, (y < 0) | (y > 1), "0 or 1 (or -1 or 1, or a probability)")
        return y


@dataclass(frozen=True)
class BinaryCrossEntropy(YesNo):
    """Log-loss of two classes, from one score."""

    smoothing: Any = 0.0

    name = "binary_cross_entropy"
    formula = "-q log σ(s) - (1 - q) log σ(-s);  q = (1 - ε) y + ε/2"
    target = "0 and 1, or -1 and 1, (n,) or (n, 1)"

    def prepare(self, y: Any, outputs: int | None = None) -> Any:
        if np.ndim(y) == 2 and np.shape(y)[1] != 1:
            raise ShapeError(
                f"binary_cross_entropy: y has shape (n,) or (n, 1), got {np.shape(y)}: several labels are 'multilabel'"
            )
        return super().prepare(y, outputs)


@dataclass(frozen=True)
class Multilabel(YesNo):
    """Log-loss of several yes-or-no labels, averaged over the labels."""

    smoothing: Any = 0.0

    name = "multilabel"
    formula = "mean over labels of the binary log-loss"
    target = "0 and 1, (n, labels)"


@dataclass(frozen=True)
class Focal(Loss):
    """Log-loss times (1 - p)^gamma, p the probability of the right class: easy samples count less. gamma 0: log-loss.

    One score for two classes, or K for K. `alpha` weighs classes: for two a number (alpha for class 1, 1 - alpha for
    class 0), for K a tuple. With gamma > 0 the probabilities are not calibrated.
    """

    gamma: Any = 2.0
    alpha: Any = None

    name = "focal"
    formula = "-α_y (1 - p_y)^γ log p_y"
    link = SIGMOID_OR_SOFTMAX
    target = "labels 0 and 1, or 0 ... K-1, (n,)"
    reference = "Lin et al., 2017"
    labels = True

    def __post_init__(self) -> None:
        must(self, "gamma", "a number from 0", lambda v: 0 <= v < np.inf)
        if np.ndim(self.alpha) == 1:
            object.__setattr__(self, "alpha", tuple(np.asarray(self.alpha).tolist()))
        fine = lambda v: v is None or (min(v) > 0 if isinstance(v, tuple) else 0 < v < 1)
        must(self, "alpha", "None, a number between 0 and 1, or positive numbers, one for each class", fine)

    def each(self, s: Any, y: Any) -> Any:
        self._check(s, y)
        gamma, alpha = like(self.gamma, s), self.alpha
        if s.shape[1] == 1:
            margin = (2.0 * y - 1.0) * s
            right, wrong = special.log_expit(margin), special.log_expit(-margin)
            weight = 1.0 if alpha is None else y * like(alpha, s) + (1.0 - y) * (1.0 - like(alpha, s))
            return over_outputs(-weight * np.exp(gamma * wrong) * right)
        hot = one_hot(y, s.shape[1], s.dtype)
        total = logsumexp(s, axis=-1)
        right = np.sum(hot * s, axis=-1) - total
        # 1 - p as the sum of the others: it does not cancel where p is near 1
        wrong = logsumexp(np.where(hot > 0, -1e30, s), axis=-1) - total
        weight = 1.0 if alpha is None else np.sum(hot * np.asarray(alpha, s.dtype), axis=-1)
        return -weight * np.exp(gamma * wrong) * right

    def _check(self, s: Any, y: Any) -> None:
        k = s.shape[1]
        if len(y.shape) != (2 if k == 1 else 1):  # (n,) against (n, 1) would broadcast
            raise ShapeError(
                f"focal: a target of shape {format_shape(y.shape)} for {k} scores: use loss.prepare(y, {k})"
            )
        if self.alpha is not None and (len(self.alpha) if isinstance(self.alpha, tuple) else 1) != k:
            raise ShapeError(f"focal: alpha is a number for one score, a tuple of K for K, got {self.alpha!r} for {k}")

    def prepare(self, y: Any, outputs: int | None = None) -> Any:
        y = labels(self, y, 2 if outputs == 1 else outputs)
        binary = outputs == 1 or (outputs is None and int(y.max()) < 2)
        return y[:, None].astype(np.float64) if binary else y


# margins: classes -1 and 1, right where y s > 0


class Margin(Loss):
    """Losses of y s, for classes coded -1 and 1 (0 and 1 are converted). Several columns: averaged."""

    link = SIGN
    target = "-1 and 1, or 0 and 1, (n,) or (n, outputs)"

    def prepare(self, y: Any, outputs: int | None = None) -> Any:
        y = super().prepare(y, outputs)
        if np.all((y == 0) | (y == 1)):
            return 2 * y - 1
        refuse(self, y, np.abs(y) != 1, "-1 or 1 (or 0 or 1)")
        return y


@dataclass(frozen=True)
class Hinge(Margin):
    """How far the margin y s stays below 1; slope 0 where it is 1."""

    name = "hinge"
    formula = "max(0, 1 - y s)"

    def each(self, s: Any, y: Any) -> Any:
        return over_outputs(np.maximum(1.0 - y * s, 0))


@dataclass(frozen=True)
class SquaredHinge(Margin):
    """Its square, which is smooth."""

    name = "squared_hinge"
    formula = "max(0, 1 - y s)²"

    def each(self, s: Any, y: Any) -> Any:
        return over_outputs(np.square(np.maximum(1.0 - y * s, 0)))


@dataclass(frozen=True)
class Perceptron(Margin):
    """Rosenblatt's loss. y s = 0 counts as a mistake: the slope there is -y, so that learning starts from w = 0."""

    name = "perceptron"
    formula = "max(0, -y s)"
    reference = "Rosenblatt, 1958"

    def each(self, s: Any, y: Any) -> Any:
        margin = y * s
        return over_outputs(np.where(margin <= 0, 0.0 - margin, 0.0))
