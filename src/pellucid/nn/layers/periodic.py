"""Periodic: a few learned waves beside every number."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from pellucid.amounts import is_number
from pellucid.nn.activations.activation import Activation
from pellucid.nn.initialisers.initializer import normal, uniform
from pellucid.nn.layers.beside import apart, beside, first_columns, other_columns
from pellucid.nn.layers.context import Context
from pellucid.nn.layers.dense import positive
from pellucid.nn.layers.layer import Features, Layer, Parameter, Params


@dataclass(frozen=True)
class Periodic(Layer):
    """Numbers with learned waves beside them.   (n, columns + others) -> (n, columns (1 + dims) + others)

    For each of the first columns x: cos(2π w x + b) for learned w and b, and a learned linear map of these; x
    itself stays. Other columns pass. Phases b start uniformly in [-π, π]. (PBLD of RealMLP: Holzmüller et al.,
    2024; after Gorishniy et al., 2022.)

    Parameters
    ----------
    columns : int
        how many of the first features get waves
    frequencies : int
        learned w and b for each
    dims : int
        numbers that their waves are mapped to
    sigma : float
        frequencies start as this times standard normal numbers

    Examples
    --------
    >>> import numpy as np
    >>> layer = Periodic(2, frequencies=4, dims=3)
    >>> params = layer.initialize(5).params
    >>> layer.predict(params, np.ones((7, 5))).shape
    (7, 11)
    """

    columns: int
    frequencies: int = 16
    dims: int = 3
    sigma: float = 0.1

    def __post_init__(self) -> None:
        for name in ("columns", "frequencies", "dims"):
            positive(self, name, getattr(self, name))
        if not is_number(self.sigma, above=True):
            raise ValueError(f"Periodic: sigma is a number above 0, got {self.sigma!r}")

    def parameters(self, features: Features, activation: Activation | None = None) -> dict[str, Parameter]:
        other_columns(self, self.columns, features)
        d, k, m = self.columns, self.frequencies, self.dims
        small = uniform(float(1.0 / np.sqrt(k)))
        return {
            "frequency": Parameter((d, k), normal(self.sigma)),
            "phase": Parameter((d, k), uniform(float(np.pi))),
            "mix": Parameter((d, k, m), small, k, m),
            "shift": Parameter((d, m), small),
        }

    def output(self, features: Features) -> Features:
        return (self.columns * (1 + self.dims) + other_columns(self, self.columns, features),)

    def __call__(self, p: Params, x: Any, ctx: Context) -> Any:
        numbers = first_columns(self, self.columns, x)
        waves = np.cos(
            (2.0 * np.pi) * apart(numbers) * p["frequency"][:, None, :] + p["phase"][:, None, :]
        )  # (d, n, k)
        return beside(numbers, np.matmul(waves, p["mix"]) + p["shift"][:, None, :], x)
