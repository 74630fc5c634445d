"""Normalisation: batch, layer and root-mean-square.

The standardisation itself is one function with the lectures' hand-derived rule (its Jacobian is symmetric, so it
serves both modes); a test compares it with the derivative of its own definition.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from pellucid.amounts import check_number, is_number
from pellucid.errors import ShapeError
from pellucid.graph.primitives.control import custom_rule
from pellucid.nn.activations.activation import Activation
from pellucid.nn.initialisers.initializer import ones, zeros
from pellucid.nn.layers.context import Context
from pellucid.nn.layers.layer import Features, Layer, Parameter, Params, check_features


def _standardize_rule(d: Any, u: Any, x: Any, *, axis: int, eps: float) -> Any:
    """(d - mean(d) - u mean(d u)) / sqrt(var + eps): the influence of x_i through itself, the mean and the variance."""
    deviation = np.sqrt(np.var(x, axis=axis, keepdims=True) + eps)
    return (d - np.mean(d, axis=axis, keepdims=True) - u * np.mean(d * u, axis=axis, keepdims=True)) / deviation


@custom_rule(jvp=_standardize_rule, vjp=_standardize_rule)
def standardize(x: Any, *, axis: int, eps: float) -> Any:
    """(x - mean) / sqrt(var + eps) along an axis, with the biased variance.

    Parameters
    ----------
    x : array
        any shape
    axis : int
        to standardise along
    eps : float
        added to the variance

    Returns
    -------
    array
        the shape of x

    Examples
    --------
    >>> standardize(np.array([[1.0], [3.0]]), axis=0, eps=0.0)
    array([[-1.],
           [ 1.]])
    """
    centred = x - np.mean(x, axis=axis, keepdims=True)
    return centred / np.sqrt(np.mean(np.square(centred), axis=axis, keepdims=True) + eps)


@dataclass(frozen=True)
class BatchNorm(Layer):
    """Batch normalisation (Ioffe and Szegedy, 2015).   (n, d) -> (n, d)

    Training: (x - mean) / sqrt(var + eps) over the batch with the biased variance, then scale and shift. The stored
    estimates take the batch's mean and its unbiased variance, B/(B-1) times the biased one.
    `nn.population_statistics` replaces them by those of the whole training set. Otherwise the stored ones are used.

    A batch of one has no variance: it is normalised by the stored statistics, and leaves them alone. A short last
    batch counts as any other.

    Parameters
    ----------
    eps : float
        added to the variance
    momentum : float
        new = (1 - momentum) old + momentum batch
    average : str
        "running", or "cumulative": the mean over all batches so far
    affine : bool
        learn scale and shift
    """

    eps: float = 1e-5
    momentum: float = 0.1
    average: str = "running"
    affine: bool = True

    def __post_init__(self) -> None:
        if self.average not in ("running", "cumulative"):
            raise ValueError(f"BatchNorm: average is 'running' or 'cumulative', got {self.average!r}")
        if not is_number(self.eps) or not is_number(self.momentum, 0, 1, closed=True):
            raise ValueError(
                f"BatchNorm: eps is from 0 and momentum in 0 ... 1, got eps={self.eps}, momentum={self.momentum}"
            )

    def parameters(self, features: Features, activation: Activation | None = None) -> dict[str, Parameter]:
        return _affine(features) if self.affine else {}

    def state(self, features: Features) -> dict[str, Any]:
        # one number seen everywhere: `initialize` makes the arrays, and who asks for their shapes makes none
        return {
            "mean": np.broadcast_to(0.0, features),
            "var": np.broadcast_to(1.0, features),
            "batches": np.zeros(()),
        }

    def __call__(self, p: Params, x: Any, ctx: Context) -> Any:
        check_features(self, x, ctx.read("mean").shape, ctx.path)
        if len(x.shape) != ctx.read("mean").ndim + 1:
            raise ShapeError(
                f"{ctx.path or 'BatchNorm'}: expects a batch of samples, got an array of shape {tuple(x.shape)}"
            )
        u = self._by_batch(x, ctx) if ctx.training else self._by_stored(x, ctx)
        return u * p["scale"] + p["shift"] if self.affine else u

    def _by_stored(self, x: Any, ctx: Context) -> Any:
        return (x - ctx.read("mean")) / np.sqrt(ctx.read("var") + self.eps)

    def _by_batch(self, x: Any, ctx: Context) -> Any:
        n = x.shape[0]
        if isinstance(n, int) and n < 2:
            return self._by_stored(x, ctx)
        mean, var = np.mean(x, axis=0), np.var(x, axis=0)
        ctx.tap(mean, "batch_mean")
        ctx.tap(var, "batch_var")
        several: Any = 1.0 if isinstance(n, int) else np.greater(n, 1)
        # for an open size both cases are in the graph
        unbiased = var * (n / np.maximum(n - 1, 1)) if not isinstance(n, int) else var * (n / (n - 1))
        batches = ctx.read("batches") + 1.0 * several
        weight = self.momentum if self.average == "running" else 1.0 / np.maximum(batches, 1.0)
        weight = weight * several
        ctx.write("mean", _blend(ctx.read("mean"), mean, weight))
        ctx.write("var", _blend(ctx.read("var"), unbiased, weight))
        ctx.write("batches", _typed(batches, ctx.read("batches")))
        u = standardize(x, axis=0, eps=self.eps)
        return u if isinstance(n, int) else np.where(several, u, self._by_stored(x, ctx))


@dataclass(frozen=True)
class LayerNorm(Layer):
    """Normalise each sample over its features (Ba et al., 2016), training or not.   (n, d) -> (n, d)

    Parameters
    ----------
    eps : float
        added to the variance
    affine : bool
        learn scale and shift
    """

    eps: float = 1e-5
    affine: bool = True

    def __post_init__(self) -> None:
        check_number("a number from 0", eps=self.eps)

    def parameters(self, features: Features, activation: Activation | None = None) -> dict[str, Parameter]:
        return _affine(features[-1:]) if self.affine else {}

    def __call__(self, p: Params, x: Any, ctx: Context) -> Any:
        if self.affine:
            check_features(self, x, p["scale"].shape, ctx.path)
        u = standardize(x, axis=-1, eps=self.eps)
        return u * p["scale"] + p["shift"] if self.affine else u


@dataclass(frozen=True)
class RMSNorm(Layer):
    """Divide each sample by its root mean square (Zhang and Sennrich, 2019).   (n, d) -> (n, d)

    Parameters
    ----------
    eps : float
        added to the mean square
    affine : bool
        learn a scale
    """

    eps: float = 1e-6
    affine: bool = True

    def __post_init__(self) -> None:
        check_number("a number from 0", eps=self.eps)

    def parameters(self, features: Features, activation: Activation | None = None) -> dict[str, Parameter]:
        return {"scale": Parameter(features[-1:], ones)} if self.affine else {}

    def __call__(self, p: Params, x: Any, ctx: Context) -> Any:
        if self.affine:
            check_features(self, x, p["scale"].shape, ctx.path)
        u = x / np.sqrt(np.mean(np.square(x), axis=-1, keepdims=True) + self.eps)
        return u * p["scale"] if self.affine else u


def _affine(features: Features) -> dict[str, Parameter]:
    return {"scale": Parameter(features, ones), "shift": Parameter(features, zeros)}


def _blend(old: Any, new: Any, weight: Any) -> Any:
    return _typed(old + weight * (new - old), old)


def _typed(value: Any, like: Any) -> Any:
    return value.astype(like.dtype)
