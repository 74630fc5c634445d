"""One entry of a result, written out: the sum of products that a student checks by hand."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from pellucid.inspect.derivation.numbers import number

TERMS = 6
"""So many terms are written out; of more, the first ones and the last."""


def product(factors: Sequence[float], digits: int) -> str:
    r"""
    >>> product([2.0, -0.5], 4)
    '2 \\cdot (-0.5)'
    """
    texts = [number(float(factor), digits) for factor in factors]
    return r" \cdot ".join(text if i == 0 and text[:1] != "-" else _guarded(text) for i, text in enumerate(texts))


def _guarded(text: str) -> str:
    return f"({text})" if text.startswith("-") or "cdot" in text else text


def total(terms: Sequence[str]) -> str:
    r"""
    >>> total(["a", "b"])
    'a + b'
    """
    if len(terms) > TERMS:
        terms = [*terms[: TERMS - 2], r"\cdots", terms[-1]]
    return " + ".join(terms)


def sum_of_products(left: Sequence[float], right: Sequence[float], digits: int, extra: Sequence[float] = ()) -> str:
    r"""
    >>> sum_of_products([1.0, 2.0], [0.5, -0.25], 4, extra=[0.1])
    '1 \\cdot 0.5 + 2 \\cdot (-0.25) + 0.1'
    """
    products = [product((a, b), digits) for a, b in zip(left, right, strict=True)]
    return total(products) + "".join(f" + {_guarded(number(float(e), digits))}" for e in extra)


def mean_of(text: str, rows: int) -> str:
    """Divided by the number of rows, where it is not 1."""
    return text if rows == 1 else rf"\frac{{1}}{{{rows}}} ({text})"


def telling(values: Any) -> tuple[int, ...]:
    """The place to write out: the first that is not 0."""
    flat = np.flatnonzero(values)
    place = np.unravel_index(int(flat[0]) if len(flat) else 0, np.shape(values))
    return tuple(int(i) for i in place)
