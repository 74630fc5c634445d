"""LeaveOut: columns that a network does not look at."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from pellucid.amounts import check_whole
from pellucid.errors import ShapeError
from pellucid.nn.layers.context import Context
from pellucid.nn.layers.layer import Features, Layer, Params, rows_of


@dataclass(frozen=True)
class LeaveOut(Layer):
    """All columns but some.   (n, d) -> (n, d - len(places))

    For networks that share rows with others and see less of them.

    Parameters
    ----------
    places : tuple[int, ...]
        which columns are left out, counted from 0, in their order

    Examples
    --------
    >>> layer = LeaveOut((1, 2))
    >>> layer.predict({}, np.array([[1.0, 2.0, 3.0, 4.0]])).tolist()
    [[1.0, 4.0]]
    """

    places: tuple[int, ...]

    def __post_init__(self) -> None:
        places = self.places
        for place in places:
            check_whole(0, places=place)
        if not places or any(place >= after for place, after in pairwise(places)):
            raise ValueError(f"LeaveOut: places are different columns in their order, at least one, got {places!r:.80}")

    def output(self, features: Features) -> Features:
        columns = rows_of(self, features)
        if columns <= max(self.places[-1], len(self.places)):
            raise ShapeError(f"{self} leaves columns of rows that have them and others, got {columns} features")
        return (columns - len(self.places),)

    def __call__(self, p: Params, x: Any, ctx: Context) -> Any:
        if len(x.shape) != 2:
            raise ShapeError(f"{self} expects rows (n, features), got shape {tuple(x.shape)}")
        self.output(tuple(x.shape[1:]))
        ends = (-1, *self.places, x.shape[1])
        kept = [x[:, before + 1 : end] for before, end in pairwise(ends) if end > before + 1]
        return kept[0] if len(kept) == 1 else np.concatenate(kept, axis=1)

    def __repr__(self) -> str:
        return f"LeaveOut({len(self.places)} columns)" if len(self.places) > 4 else f"LeaveOut({self.places})"
