"""Numbers as people read them: of one matrix all with the same decimals, and of a large one a part."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

SPARED = "…"
"""Stands for rows and columns that are left out."""


def number(value: float, digits: int = 4) -> str:
    r"""One number as a formula.

    >>> number(0.1), number(-2.0), number(1.23456e-7), number(float("inf"))
    ('0.1', '-2', '1.235 \\cdot 10^{-7}', '\\infty ')
    """
    if np.isnan(value):
        return r"\text{NaN}"
    if np.isinf(value):
        return r"\infty " if value > 0 else r"-\infty "
    if value == 0 or 10.0 ** (1 - digits) <= abs(value) < 1e6:
        text = f"{value:.{digits}f}".rstrip("0").rstrip(".")
        return "0" if text == "-0" else text
    mantissa, exponent = f"{value:.{digits - 1}e}".split("e")
    mantissa, power = mantissa.rstrip("0").rstrip("."), f"10^{{{int(exponent)}}}"
    return power if mantissa == "1" else rf"{mantissa} \cdot {power}"


@dataclass(frozen=True, eq=False)
class Numbers:
    """A matrix as it is shown: rows and columns as in the formula."""

    value: Any  # (rows, columns)

    @property
    def size(self) -> str:
        """
        >>> Numbers(np.zeros((4, 3))).size
        '4 × 3'
        """
        return " × ".join(map(str, np.shape(self.value)))

    @property
    def single(self) -> bool:
        return np.size(self.value) == 1

    def formula(self, digits: int, first: bool) -> str:
        """A single number as a formula; a negative one stands in brackets, unless it is the first of its side."""
        text = number(float(np.ravel(self.value)[0]), digits)
        return f"({text})" if text.startswith("-") and not first else text

    def cells(self, digits: int, limit: int) -> list[list[tuple[str, float]]]:
        """Texts and values, row by row; beyond `limit` rows or columns only the first ones and the last.

        >>> [[text for text, _ in row] for row in Numbers(np.array([[0.5, -1.25]])).cells(4, 6)]
        [['0.50', '−1.25']]
        """
        rows, columns = (_chosen(size, limit) for size in self.value.shape)
        part = self.value[np.ix_([r for r in rows if r >= 0], [c for c in columns if c >= 0])]
        texts = iter(aligned(part.astype(float).ravel(), digits))
        values = iter(part.astype(float).ravel())
        spared = (SPARED, np.nan)
        return [[spared if r < 0 or c < 0 else (next(texts), float(next(values))) for c in columns] for r in rows]

    def whole(self, limit: int) -> bool:
        """Is nothing left out?"""
        return max(self.value.shape, default=0) <= limit


def _chosen(size: int, limit: int) -> list[int]:
    """Indices that are shown; -1 stands for those left out."""
    if size <= limit:
        return list(range(size))
    first = max(limit - 2, 1)
    return [*range(first), -1, size - 1]


def aligned(values: Any, digits: int) -> list[str]:
    """Numbers with the same decimals, no more than they need; very large and small ones by powers of ten."""
    finite = values[np.isfinite(values)]
    most = float(np.max(np.abs(finite))) if finite.size else 0.0
    if most >= 1e5 or 0 < most < 10.0 ** (2 - digits):
        texts = [_scientific(v, digits - 2) for v in values]
    else:
        decimals = _decimals(finite, digits)
        texts = [_plain(f"{v:.{decimals}f}") for v in values]
    return [text.replace("-", "−").replace("inf", "∞") for text in texts]


def _decimals(values: Sequence[float], digits: int) -> int:
    """The decimals that are needed for all, at most `digits`."""
    for decimals in range(digits):
        if all(float(f"{v:.{decimals}f}") == float(f"{v:.{digits}f}") for v in values):
            return decimals
    return digits


def _plain(text: str) -> str:
    return text[1:] if text.startswith("-") and float(text) == 0 else text


def _scientific(value: float, digits: int) -> str:
    if value == 0 or not np.isfinite(value):
        return _plain(f"{value:.0f}")
    mantissa, exponent = f"{value:.{digits}e}".split("e")
    return f"{mantissa}e{int(exponent)}"
