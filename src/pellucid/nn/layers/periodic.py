"""Periodic: a few learned waves beside every number."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from pellucid.amounts import is_number
from pellucid.errors import ShapeError
from pellucid.nn.activations.activation import Activation
from pellucid.nn.initialisers.initializer import normal, uniform
from pellucid.nn.layers.context import Context
from pellucid.nn.layers.dense import positive
from pellucid.nn.layers.layer import Features, Layer, Parameter, Params, rows_of


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
        self._others(features)
        d, k, m = self.columns, self.frequencies, self.dims
        small = uniform(float(1.0 / np.sqrt(k)))
        return {
            "frequency": Parameter((d, k), normal(self.sigma)),
            "phase": Parameter((d, k), uniform(float(np.pi))),
            "mix": Parameter((d, k, m), small, k, m),
            "shift": Parameter((d, m), small),
        }

    def output(self, features: Features) -> Features:
        return (self.columns * (1 + self.dims) + self._others(features),)

    def _others(self, features: Features) -> int:
        others = rows_of(self, features) - self.columns
        if others < 0:
            raise ShapeError(f"{self} expects {self.columns} features at least, got {features[0]}")
        return others

    def __call__(self, p: Params, x: Any, ctx: Context) -> Any:
        if len(x.shape) != 2:
            raise ShapeError(f"{self} expects rows (n, features), got shape {tuple(x.shape)}")
        d, m = self.columns, self.dims
        numbers = x[:, :d]
        columns = np.reshape(np.transpose(numbers), (d, x.shape[0], 1))
        waves = np.cos((2.0 * np.pi) * columns * p["frequency"][:, None, :] + p["phase"][:, None, :])  # (d, n, k)
        mixed = np.matmul(waves, p["mix"]) + p["shift"][:, None, :]  # (d, n, m)
        flat = np.reshape(np.transpose(mixed, (1, 0, 2)), (x.shape[0], d * m))
        parts = [numbers, flat] + ([x[:, d:]] if x.shape[1] > d else [])
        return np.concatenate(parts, axis=1)
