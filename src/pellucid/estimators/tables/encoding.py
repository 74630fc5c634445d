"""How the columns of a table become rows of floats: medians and marks, one-hot categories and codes, scales."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from sklearn.base import TransformerMixin
from sklearn.decomposition import PCA
from sklearn.impute import SimpleImputer
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder

from pellucid.data.row_parts import by_parts
from pellucid.data.types import Array
from pellucid.estimators.tables import columns
from pellucid.estimators.tables.coded_texts import category_codes
from pellucid.estimators.tables.layout import Layout, moment
from pellucid.estimators.tables.number_codes import NumberCodes, number_codes
from pellucid.estimators.tables.scaling import SCALERS, fit_scalers, scaled_by
from pellucid.estimators.tables.straight_columns import StraightColumns, straight_columns

UNKNOWN = {"handle_unknown": "use_encoded_value", "unknown_value": -1, "encoded_missing_value": -1}
"""Codes are 0, 1, ...; what is unknown or None becomes -1. (In one-hot columns it becomes zeros.)"""

SPANS = {"standard": (1e-150, 1e150), "pca": (1e-150, 1e150), "whiten": (1e-150, 1e150), "quantile": (1e-150, np.inf)}
"""How far columns may reach: squares of less or more are no usual float64."""


@dataclass(frozen=True)
class Encoding:
    """What was learned from a table. A row has numbers, marks of missing ones, one-hot columns, straight ones, codes.

    `marked` are the places of the numbers with a mark. The first `scaled` columns are scaled, into `scaled_out`.
    `straight` are numbers that the scale has bent, once more. Codes are those of categories, then those of numbers
    that are names.
    """

    layout: Layout
    imputer: SimpleImputer | None
    marked: list[int]
    encoder: OneHotEncoder | None
    coder: OrdinalEncoder | None
    scalers: list[TransformerMixin]
    scaled: int
    scaled_out: int
    straight: StraightColumns | None = None
    number_codes: NumberCodes | None = None

    def rows(self, values: dict[str, Array]) -> Array:
        """Columns as their kind wants them, by name, as rows.   -> (n, columns of `names`)"""
        numbers = self.layout.numbers(values)
        unscaled = self.unscaled(numbers, values)
        scaled = unscaled[:, : self.scaled]
        for scaler in self.scalers if self.scaled else ():
            scaled = scaled_by(scaler, scaled)
        codes = self.codes(values)
        if self.number_codes is not None:
            codes = np.column_stack([codes, self.number_codes.rows(numbers)])
        return self.joined(scaled, unscaled, codes)

    def unscaled(self, numbers: Array, values: dict[str, Array]) -> Array:
        """Numbers imputed, marks, one-hot columns.   -> (n, numbers + ...)"""
        if self.encoder is None:
            return self.filled(numbers, None)
        hot = [one_hot(self._places[name], values[name]) for name in self.layout.one_hot]
        return self.filled(numbers, np.concatenate(hot, axis=1))

    def filled(self, numbers: Array, hot: Array | None) -> Array:
        """The same of numbers with NaN and of one-hot columns, in plain NumPy: it can be recorded."""
        gone = np.isnan(numbers)
        parts = [numbers if self.imputer is None else np.where(gone, self.imputer.statistics_, numbers)]
        if self.marked:
            parts.append(gone[:, self.marked].astype(float))
        if hot is not None:
            parts.append(paired(hot, list(map(len, self.layout.categories_of(self.layout.one_hot)))))
        return np.column_stack(parts)

    def joined(self, scaled: Array, unscaled: Array, codes: Array) -> Array:
        """Scaled columns, those that need no scale, straight ones, and codes."""
        straight = unscaled[:, :0] if self.straight is None else self.straight.rows(unscaled)
        parts = [part for part in (scaled, unscaled[:, self.scaled :], straight, codes) if part.shape[1]]
        return parts[0] if len(parts) == 1 else np.column_stack(parts or [scaled])

    def codes(self, values: dict[str, Array]) -> Array:
        """Codes from 1 of the columns of many categories; 0 is unknown or missing.   -> (n, such columns)"""
        if self.coder is None:
            return np.empty((len(next(iter(values.values()))), 0))
        return np.column_stack(
            [category_codes(self._places[name], values[name]) + 1.0 for name in self.layout.embedded]
        )

    @cached_property
    def _places(self) -> dict[str, dict[str, int]]:
        """The place of each category, by column: a look at a dictionary, where scikit-learn's encoders check anew."""
        return {name: {one: i for i, one in enumerate(all_)} for name, all_ in self.layout.categories.items()}

    def typical_row(self) -> dict[str, Any]:
        """A value for each column that is not empty: the median, the first category, the first date."""
        medians = (
            {}
            if self.imputer is None
            else dict(zip(self.layout.number_names(), self.imputer.statistics_.tolist(), strict=True))
        )
        row: dict[str, Any] = {}
        for name in self.layout.names:
            match self.layout.kinds[name]:
                case columns.NUMERIC:
                    row[name] = medians[name]
                case columns.BOOLEAN:
                    row[name] = False
                case columns.CATEGORY:
                    row[name] = self.layout.categories[name][0]
                case columns.TIME:
                    row[name] = moment(self.layout.dates[name]["start"])
        return row

    def names(self) -> list[str]:
        """What the columns of `rows` are called."""
        numbers, layout = self.layout.number_names(), self.layout
        marks = [f"{numbers[place]}_missing" for place in self.marked]
        for name, categories in zip(layout.one_hot, layout.categories_of(layout.one_hot), strict=True):
            marks += [f"{name}_{one}" for one in (categories[1:] if len(categories) == 2 else categories)]
        hidden = [] if self.components() else [f"hidden{i}" for i in range(self.scaled_out - self.scaled)]
        straight = [] if self.straight is None else [f"{numbers[place]}_straight" for place in self.straight.places]
        codes = [f"{name}_code" for name in layout.embedded]
        codes += [f"{name}_code" for name in self.named_numbers()]
        return [*(self.components() or numbers), *marks, *hidden, *straight, *codes]

    def straight_places(self) -> dict[int, int]:
        """Where the straight columns stand in a row, by the places of their scaled twins."""
        if self.straight is None:
            return {}
        first = len(self.names()) - len(self.code_sizes()) - len(self.straight)
        return {int(twin): first + number for number, twin in enumerate(self.straight.places)}

    def named_numbers(self) -> list[str]:
        """Numbers that are names, and have codes."""
        if self.number_codes is None:
            return []
        numbers = self.layout.number_names()
        return [numbers[place] for place in self.number_codes.places]

    def code_sizes(self) -> tuple[int, ...]:
        """How many codes each of the last columns has."""
        categories = (len(names) + 1 for names in self.layout.categories_of(self.layout.embedded))
        return (*categories, *(() if self.number_codes is None else self.number_codes.sizes))

    def components(self) -> list[str]:
        """Names of principal components, where they take the place of the numbers."""
        turned = self.scaled and any(isinstance(scaler, PCA) for scaler in self.scalers)
        return [f"pca{i}" for i in range(self.scaled_out)] if turned else []


def learn_encoding(
    layout: Layout,
    values: dict[str, Array],
    scaling: str | None,
    *,
    marks: bool,
    straight: bool,
    weights: Array | None,
    answers: Array | None,
) -> Encoding:
    """The encoding of these columns.

    marks: are missing numbers marked by a column of their own?   straight: do numbers that the scale bends stand once
    more as they are?   answers: of the rows, to tell which numbers are names and get codes; None is for no codes
    """
    numbers = layout.numbers(values)
    _refuse_spans(layout.number_names(), numbers, scaling)
    # of a date's columns the first stands for all
    first = np.array([place == 0 for group in layout.number_groups() for place in range(len(group))], bool)
    missing = np.isnan(numbers).any(axis=0) & first
    encoding = Encoding(
        layout,
        imputer=_imputer(numbers) if numbers.shape[1] else None,
        marked=np.flatnonzero(missing).tolist() if marks else [],
        encoder=_fitted(OneHotEncoder(handle_unknown="ignore", sparse_output=False), layout, layout.one_hot),
        coder=_fitted(OrdinalEncoder(**UNKNOWN), layout, layout.embedded),
        scalers=SCALERS[scaling](len(numbers)),
        scaled=0,
        scaled_out=0,
        number_codes=None if answers is None else number_codes(numbers, answers),
    )
    unscaled = by_parts(
        lambda some: encoding.unscaled(numbers[some], {name: column[some] for name, column in values.items()}),
        len(numbers),
        "F",
    )
    part = unscaled if scaling in ("robust", "separate") else unscaled[:, : numbers.shape[1]]
    width = fit_scalers(encoding.scalers, part, weights) if part.shape[1] else 0
    encoding = replace(encoding, scaled=part.shape[1], scaled_out=width)
    if not straight or not numbers.shape[1] or not encoding.scalers or encoding.components():
        return encoding
    twins = by_parts(lambda some: scaled_by(encoding.scalers[0], part[some]), len(part), "F")
    places = slice(numbers.shape[1])
    return replace(encoding, straight=straight_columns(unscaled[:, places], twins[:, places], weights))


def _imputer(numbers: Array) -> SimpleImputer:
    """An imputer of medians, fitted on them: scikit-learn's own way to medians sorts masked arrays."""
    return SimpleImputer(strategy="median").fit(np.nanmedian(numbers, axis=0)[None])


def _refuse_spans(names: list[str], numbers: Array, scaling: str | None) -> None:
    """Raise for a column whose scale, or the square of it, is no number."""
    low, high = SPANS.get(str(scaling), (0.0, np.inf))
    with np.errstate(over="ignore"):
        spans = np.nanmax(numbers, axis=0) - np.nanmin(numbers, axis=0) if numbers.size else np.empty(0)
    for name, span in zip(names, spans, strict=True):
        if span > 0 and not low < span < high:
            raise ValueError(
                f"column {name!r} spans {span:.3g}, which scaling={scaling!r} cannot reckon with: multiply it "
                "by a power of ten, or use scaling='robust'"
            )


# categories, as texts or None


def _fitted(
    encoder: OneHotEncoder | OrdinalEncoder, layout: Layout, names: list[str]
) -> OneHotEncoder | OrdinalEncoder:
    """The encoder for these columns, fitted on a row that has the first category of each; None for no columns."""
    categories = layout.categories_of(names)
    if not categories:
        return None
    encoder.set_params(categories=[np.array(one, object) for one in categories])
    return encoder.fit(np.array([[one[0] for one in categories]], object))


def one_hot(places: dict[str, int], texts: Array) -> Array:
    """A column for each category, 1 where it is; none for what is unknown.   (n,) -> (n, categories)"""
    return np.equal(category_codes(places, texts), np.arange(len(places))[:, None]).astype(np.float64).T


def paired(hot: Array, sizes: list[int]) -> Array:
    """One-hot columns, but where there are two categories, one column of -1 and +1.

    >>> paired(np.array([[1.0, 0.0, 1.0], [0.0, 1.0, 0.0], [0.0, 0.0, 0.0]]), [2, 1]).tolist()
    [[-1.0, 1.0], [1.0, 0.0], [0.0, 0.0]]
    """
    parts = np.split(hot, np.cumsum(sizes)[:-1], axis=1)
    return np.column_stack([part[:, 1:] - part[:, :1] if part.shape[1] == 2 else part for part in parts])
