"""FixedScale: every feature shifted and divided by numbers that are known beforehand, as a scaler does."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from pellucid.amounts import is_number
from pellucid.errors import ShapeError
from pellucid.nn.layers.context import Context
from pellucid.nn.layers.layer import Features, Layer, Params, check_features


@dataclass(frozen=True)
class FixedScale(Layer):
    """(x - center) / scale, with numbers that training leaves alone.   (n, d) -> (n, d)

    In front of the first Dense it is a scaler that belongs to the network: raw rows go in. `importing.from_sklearn`
    makes one of the scalers of a pipeline.

    Parameters
    ----------
    center : tuple[float, ...]
        what is subtracted, one number for each feature
    scale : tuple[float, ...]
        what it is divided by, one number for each feature, none of them 0

    Examples
    --------
    >>> layer = FixedScale(center=(10.0, 0.0), scale=(2.0, 0.5))
    >>> layer.predict({}, np.array([[12.0, 1.0]]), layer.initialize(2).state)
    array([[1., 2.]])
    """

    center: tuple[float, ...]
    scale: tuple[float, ...]

    def __post_init__(self) -> None:
        for name in ("center", "scale"):
            object.__setattr__(self, name, _numbers(name, getattr(self, name)))
        if len(self.center) != len(self.scale):
            raise ShapeError(
                f"FixedScale: center and scale have one number for each feature, got {len(self.center)} and "
                f"{len(self.scale)}"
            )
        if 0.0 in self.scale:
            raise ValueError(
                f"FixedScale: scale is divided by, but number {self.scale.index(0.0)} of it is 0: put 1 for a constant "
                "feature"
            )

    def state(self, features: Features) -> dict[str, Any]:
        if features != (len(self.center),):
            raise ShapeError(
                f"FixedScale has numbers for {len(self.center)} features, but samples have the shape {features}"
            )
        return {"center": np.asarray(self.center), "scale": np.asarray(self.scale)}

    def __call__(self, p: Params, x: Any, ctx: Context) -> Any:
        center, scale = ctx.read("center"), ctx.read("scale")
        check_features(self, x, center.shape, ctx.path)
        return (x - center) / scale

    def __repr__(self) -> str:
        if len(self.center) > 4:
            return f"FixedScale({len(self.center)} features)"
        return f"FixedScale(center={self.center}, scale={self.scale})"


def _numbers(name: str, given: Iterable[float]) -> tuple[float, ...]:
    numbers = tuple(np.asarray(given, np.float64).reshape(-1).tolist())
    if not numbers or not all(is_number(abs(number)) for number in numbers):
        raise ValueError(f"FixedScale: {name} is a list of finite numbers, one for each feature, got {numbers!r:.80}")
    return numbers
