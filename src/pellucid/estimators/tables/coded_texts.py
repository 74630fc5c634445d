"""Columns of texts as codes: each different text once, and which one a row has.

Such a column is pandas' `Categorical`, whose levels are texts and whose code -1 is a missing one. Short columns, and
those of a user's own objects, are arrays of texts and None; the functions here take both.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias, TypeGuard

import numpy as np
import pandas as pd

from pellucid.data.types import Array

Column: TypeAlias = Array | pd.Categorical
"""A column of a table: an array, or texts as codes."""

FEW = 256
"""Rows up to which a dictionary is quicker than an index made for many."""


def coded(levels: Sequence[str | None], places: Array) -> pd.Categorical:
    """A column by its different texts and the place of each row's text among them; None is a missing one.

    >>> coded(["b", None, "a"], np.array([0, 2, 1, 0])).tolist()
    ['b', 'a', nan, 'b']
    """
    texts = [level for level in levels if level is not None]
    codes = np.cumsum([level is not None for level in levels]) - 1
    codes[[level is None for level in levels]] = -1
    kinds = pd.CategoricalDtype(pd.Index(texts, dtype=object))
    return pd.Categorical.from_codes(codes[places], dtype=kinds)


def is_coded(column: object) -> TypeGuard[pd.Categorical]:
    """Is it a column of codes?"""
    return isinstance(column, pd.Categorical)


def as_objects(column: Column) -> Array:
    """Texts and None, one for each row."""
    if not is_coded(column):
        return np.asarray(column)
    texts = np.array([*column.categories, None], object)
    return np.asarray(texts[column.codes])


def levels_of(column: Column) -> set[Any]:
    """The different texts of a column; None if one is missing.

    >>> sorted(levels_of(coded(["a", "b", "c"], np.array([2, 0, 2]))))
    ['a', 'c']
    """
    if not is_coded(column):
        return set(column.tolist())
    present = np.bincount(column.codes + 1, minlength=len(column.categories) + 1) > 0
    return {level for level, there in zip([None, *column.categories], present, strict=True) if there}


def factorized(column: Column) -> tuple[Array, list[str]]:
    """Which text each row has, -1 for none, and the texts, in the order in which they first come.

    >>> factorized(np.array(["b", None, "a", "b"], object))
    (array([ 0, -1,  1,  0]), ['b', 'a'])
    """
    if not is_coded(column):
        of_row, texts = pd.factorize(column.astype(object))
        return of_row, list(texts)
    order = pd.unique(column.codes)
    order = order[order >= 0]
    places = np.full(len(column.categories) + 1, -1)
    places[order] = np.arange(len(order))
    return places[column.codes], column.categories[order].tolist()


def category_codes(places: Mapping[str, int], texts: Column) -> Array:
    """The place of each text; -1 for None and for texts that are none of them.   (n,) -> (n,)

    >>> category_codes({"a": 0, "b": 1}, np.array(["b", None, "c", "a"], object)).tolist()
    [1, -1, -1, 0]
    """
    if is_coded(texts) and len(texts.categories) <= len(texts):
        of_row, levels = texts.codes, texts.categories
    elif len(texts) <= FEW:
        return np.fromiter((places.get(text, -1) for text in as_objects(texts)), np.int64, len(texts))
    else:
        of_row, levels = factorized(texts)
    codes = np.array([*(places.get(text, -1) for text in levels), -1])  # of a missing one, -1, the last
    return np.asarray(codes[of_row])
