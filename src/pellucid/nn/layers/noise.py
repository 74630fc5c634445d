"""Layers that disturb on purpose: dropout, Gaussian noise, alpha dropout. Rates are probabilities of dropping."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pellucid.amounts import is_number
from pellucid.nn.activations.activation import SELU_ALPHA, SELU_SCALE
from pellucid.nn.layers.context import Context
from pellucid.nn.layers.layer import Layer, Params


@dataclass(frozen=True)
class Dropout(Layer):
    """Set features to zero at random, anew for every batch (Srivastava et al., 2014).   (n, ...) -> (n, ...)

    In front of the first Dense it is input dropout.

    Parameters
    ----------
    rate : float
        the probability of dropping (the lectures' keep probability is 1 - rate)
    convention : str
        "inverted" divides what stays by 1 - rate while training, and does nothing at prediction; "classical" leaves
        it alone while training and multiplies by 1 - rate at prediction
    """

    rate: float = 0.5
    convention: str = "inverted"

    def __post_init__(self) -> None:
        check_rate(self, "rate", self.rate)
        if self.convention not in ("inverted", "classical"):
            raise ValueError(f"Dropout: convention is 'inverted' or 'classical', got {self.convention!r}")

    def __call__(self, p: Params, x: Any, ctx: Context) -> Any:
        keep = 1.0 - ctx.setting("rate", self.rate)
        if not ctx.noise:
            return x * keep if self.convention == "classical" else x
        mask = ctx.bernoulli(keep, x.shape, x.dtype)
        return x * mask if self.convention == "classical" else x * mask / keep


@dataclass(frozen=True)
class GaussianNoise(Layer):
    """Add N(0, sigma²) while training.   (n, ...) -> (n, ...)

    Parameters
    ----------
    sigma : float
        the deviation
    """

    sigma: float = 0.1

    def __post_init__(self) -> None:
        if not is_number(self.sigma):
            raise ValueError(f"GaussianNoise: sigma is a number from 0, got {self.sigma!r}")

    def __call__(self, p: Params, x: Any, ctx: Context) -> Any:
        if not ctx.noise:
            return x
        return x + ctx.setting("sigma", self.sigma) * ctx.normal(x.shape, x.dtype)


@dataclass(frozen=True)
class AlphaDropout(Layer):
    """Dropout for SELU networks: mean and variance of standard normal features stay (Klambauer et al., 2017).

    What is dropped becomes SELU's lower limit, and an affine map restores mean 0 and variance 1.

    Parameters
    ----------
    rate : float
        the probability of dropping
    """

    rate: float = 0.1

    def __post_init__(self) -> None:
        check_rate(self, "rate", self.rate)

    def __call__(self, p: Params, x: Any, ctx: Context) -> Any:
        if not ctx.noise:
            return x
        keep = 1.0 - ctx.setting("rate", self.rate)
        low = -SELU_SCALE * SELU_ALPHA
        mask = ctx.bernoulli(keep, x.shape, x.dtype)
        a = (keep + low**2 * keep * (1.0 - keep)) ** -0.5
        return a * (x * mask + low * (1.0 - mask)) - a * low * (1.0 - keep)


def check_rate(layer: Layer, what: str, rate: float) -> None:
    if not is_number(rate, 0, 1):
        raise ValueError(
            f"{type(layer).__name__}: {what} is the probability of dropping, in 0 ... 1 (without 1), got {rate!r}"
        )
