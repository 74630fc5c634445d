"""Validation data as handed to `fit`: rows of their own, or numbers of rows that are then not trained on."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pellucid.data.types import Array, ArrayLike


@dataclass(frozen=True)
class Validation:
    """What `fit` is given; at most one of the two ways."""

    X: ArrayLike = None
    y: ArrayLike = None
    weights: ArrayLike = None
    rows: ArrayLike = None

    @property
    def separate(self) -> bool:
        """Are there rows of their own? An error where they are incomplete, or named twice."""
        if self.X is None and self.y is None:
            if self.weights is not None:
                raise ValueError("sample_weight_val belongs to X_val and y_val: give X_val and y_val too")
            return False
        if self.X is None or self.y is None:
            alone = "y_val" if self.X is None else "X_val"
            raise ValueError(f"validation data are X_val and y_val together, got {alone} alone")
        if self.rows is not None:
            raise ValueError("validation data are X_val and y_val, or val_rows: got both")
        return True


NONE = Validation()


def by_number(val_rows: ArrayLike, count: int) -> tuple[Array, Array]:
    """Row numbers to train on, and those of `val_rows` (numbers or a mask)."""
    rows = np.asarray(val_rows)
    numbers = rows.ndim == 1 and rows.dtype.kind in "iu" and rows.size and -count <= rows.min() <= rows.max() < count
    if not numbers and not (rows.dtype.kind == "b" and rows.shape == (count,)):
        raise ValueError(f"val_rows are numbers of rows of X, 0 to {count - 1}, or a mask of {count}, got {rows!r:.80}")
    mask = np.zeros(count, bool)
    mask[rows] = True
    if mask.all() or not mask.any():
        raise ValueError(
            f"val_rows leaves {int((~mask).sum())} rows to train on and {int(mask.sum())} to check: name some"
        )
    return np.flatnonzero(~mask), np.flatnonzero(mask)
