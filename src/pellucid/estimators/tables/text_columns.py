"""Columns of texts that hold dates or numbers, as a CSV brings them: recognised in `fit`, read the same way later."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from numbers import Real
from typing import NamedTuple, TypedDict

import numpy as np
import pandas as pd

from pellucid.data.types import Array
from pellucid.errors import ColumnWarning
from pellucid.estimators.tables.columns import NUMERIC, TIME, Table, is_missing
from pellucid.estimators.tables.date_texts import AS_WRITTEN, DAY_FIRST, MONTH_FIRST, ORDERS, dissect
from pellucid.estimators.tables.number_texts import (
    COMMA,
    MARKS,
    MISSING_WORDS,
    POINT,
    code_among,
    currency_of,
    parse_numbers,
)
from pellucid.notices import notice

STRAYS = 0.05
"""Share of the values that may be something else, and are then missing."""

FEW = 8
"""Up to so many different numbers beside other texts are categories, and not worth a word."""

FORMS = {TIME: ORDERS, NUMERIC: MARKS}


class TextUse(TypedDict):
    """How texts are read: what they hold (TIME or NUMERIC), in which form, and in which currency ("" for none)."""

    kind: str
    form: str
    currency: str


def is_text_use(use: TextUse) -> bool:
    """Is it one that `recognise` makes?"""
    return use.keys() == TextUse.__annotations__.keys() and use["form"] in FORMS.get(use["kind"], ())


# the texts of a column


class Distinct(NamedTuple):
    """The different texts of a column, without space at their ends. `of_row`: which one it is, -1 for no text."""

    texts: list[str]
    of_row: Array

    def spread(self, values: Array, nothing: object) -> Array:
        """Values of the texts as values of the rows."""
        return np.append(values, np.array([nothing], values.dtype))[self.of_row]


def distinct_texts(column: Array) -> Distinct:
    """The different texts among the values of a column."""
    texts = np.array([value.strip() if isinstance(value, str) else None for value in column.tolist()], object)
    of_row, distinct = pd.factorize(texts)
    return Distinct(distinct.tolist(), of_row)


def read_texts(column: Array, use: TextUse, read: Callable[[Array], Array]) -> Array:
    """A column whose texts are dates or numbers; what is no such thing is missing. `read` is for all but texts."""
    if column.dtype.kind not in "OUT":
        return read(column)
    distinct = distinct_texts(column)
    texts = distinct.of_row >= 0
    parsed = distinct.spread(parse(distinct.texts, use), np.nan if use["kind"] == NUMERIC else np.datetime64("NaT"))
    if texts.all():
        return parsed
    values = read(np.where(texts, None, column))
    values[texts] = parsed[texts]
    return values


def parse(texts: list[str], use: TextUse) -> Array:
    """float64 or datetime64[us], NaN or NaT where it is neither."""
    if use["kind"] == TIME:
        return dissect(texts).moments(use["form"])
    return parse_numbers(texts, use["form"], use["currency"])


# recognition


@dataclass(frozen=True)
class Candidate:
    """Texts as dates or numbers. `counts` are the rows of each text, `doubt` is one that may be read otherwise."""

    use: TextUse
    texts: list[str]
    counts: Array
    wrong: Array
    doubt: str = ""

    @property
    def strays(self) -> int:
        """Rows that hold something else."""
        return int(np.sum(self.counts[self.wrong]))

    @property
    def share(self) -> float:
        return self.strays / int(np.sum(self.counts))

    def example(self, wrong: bool) -> str:
        """The first text that is read, or the first that is not."""
        return self.texts[int(np.flatnonzero(self.wrong == wrong)[0])]


def recognise(table: Table, categorical: set[str]) -> dict[str, TextUse]:
    """How to read the columns of texts that hold dates or numbers; says so. Declared categories are left alone."""
    uses: dict[str, Candidate] = {}
    mixed: dict[str, Candidate] = {}
    codes: dict[str, str] = {}
    for name, column, declared in zip(table.names, table.columns, table.declared, strict=True):
        if declared or name in categorical or column.dtype.kind not in "OUT":
            continue
        best = min(_candidates(column), key=lambda candidate: candidate.share, default=None)
        if best is None:
            continue
        if best.share > STRAYS:
            if best.share < 0.5 and np.sum(~best.wrong) > FEW:
                mixed[name] = best
        elif best.use["kind"] == NUMERIC and (code := code_among(*_parsed(best))) is not None:
            codes[name] = code
        else:
            uses[name] = best
    for kind, what in ((TIME, "dates"), (NUMERIC, "numbers")):
        _say_uses({name: one for name, one in uses.items() if one.use["kind"] == kind}, what)
    _say_codes(codes)
    _say_mixed(mixed)
    return {name: candidate.use for name, candidate in uses.items()}


def _candidates(column: Array) -> Iterator[Candidate]:
    """The column as dates and as numbers, as far as the values that are no texts allow it."""
    distinct = distinct_texts(column)
    counts = np.bincount(distinct.of_row[distinct.of_row >= 0], minlength=len(distinct.texts))
    present = np.array([text.lower() not in MISSING_WORDS for text in distinct.texts], bool)
    texts = [text for text, there in zip(distinct.texts, present, strict=True) if there]
    if not texts:
        return
    others = [value for value in column[distinct.of_row < 0].tolist() if not is_missing(value)]
    if all(isinstance(value, datetime.date | np.datetime64) for value in others):
        yield _as_dates(texts, counts[present])
    if all(isinstance(value, Real | Decimal) and not isinstance(value, bool) for value in others):
        yield _as_numbers(texts, counts[present])


def _as_dates(texts: list[str], counts: Array) -> Candidate:
    """With the order of day and month that fits more rows; where both fit, the day first if points are between them."""
    parts = dissect(texts)
    orders = (DAY_FIRST, MONTH_FIRST) if parts.dotted.any() else (MONTH_FIRST, DAY_FIRST)
    first, second = (parts.moments(order) for order in orders)
    rows = [int(np.sum(counts[np.isnat(moments)])) for moments in (first, second)]
    order, moments = (orders[0], first) if rows[0] <= rows[1] else (orders[1], second)
    open_ones = np.flatnonzero(~np.isnat(first) & ~np.isnat(second) & (first != second) & ~parts.dotted)
    doubt = texts[open_ones[0]] if len(open_ones) and rows[0] == rows[1] else ""
    use: TextUse = {"kind": TIME, "form": order if parts.swaps.any() else AS_WRITTEN, "currency": ""}
    return Candidate(use, texts, counts, np.isnat(moments), doubt)


def _as_numbers(texts: list[str], counts: Array) -> Candidate:
    """With the decimal mark that fits more rows, the point if both do."""
    currency = currency_of(texts)
    point, comma = (parse_numbers(texts, mark, currency) for mark in (POINT, COMMA))
    rows = [int(np.sum(counts[np.isnan(numbers)])) for numbers in (point, comma)]
    mark, numbers = (POINT, point) if rows[0] <= rows[1] else (COMMA, comma)
    open_ones = [place for place in np.flatnonzero(~np.isnan(comma) & (point != comma)) if "," in texts[place]]
    doubt = texts[open_ones[0]] if open_ones and rows[0] == rows[1] else ""
    use: TextUse = {"kind": NUMERIC, "form": mark, "currency": currency}
    return Candidate(use, texts, counts, np.isnan(numbers), doubt)


def _parsed(candidate: Candidate) -> tuple[list[str], Array]:
    """The texts that are read, and their rows."""
    right = ~candidate.wrong
    return [text for text, there in zip(candidate.texts, right, strict=True) if there], candidate.counts[right]


# what is said: first sentences are the same for all members of an ensemble, which say it once


def _say_uses(uses: dict[str, Candidate], what: str) -> None:
    if not uses:
        return
    first = next(iter(uses.values()))
    remedy = "pandas.to_datetime" if what == "dates" else "pandas.to_numeric"
    sentences = [
        f"Texts are read as {what}: {_columns(uses)}. An example is {first.example(wrong=False)!r}. To keep them as "
        f"categories, name them in categorical=; to be silent, hand over {what} ({remedy})."
    ]
    for name, one in uses.items():
        if one.doubt and what == "dates":
            other = DAY_FIRST if one.use["form"] == MONTH_FIRST else MONTH_FIRST
            sentences.append(
                f"In {name!r}, {one.doubt!r} may be {other}: {one.use['form']} was taken, for nothing in the column "
                f"decides. If it is {other}, give pandas.to_datetime(X[{name!r}], dayfirst={other == DAY_FIRST})."
            )
        elif one.doubt:
            sentences.append(f"In {name!r}, the comma of {one.doubt!r} was taken to part thousands, not decimals.")
        if one.strays:
            sentences.append(
                f"In {name!r}, {one.strays} {'value is' if one.strays == 1 else 'values are'} no {what[:-1]}, such as "
                f"{one.example(wrong=True)!r:.40}, and taken as missing."
            )
    notice(" ".join(sentences), ColumnWarning)


def _say_codes(codes: dict[str, str]) -> None:
    if codes:
        notice(
            f"Texts of digits are taken for codes and stay categories: {_columns(codes)}. An example is "
            f"{next(iter(codes.values()))!r}. To be silent, name them in categorical=; if they are numbers, hand over "
            "numbers (pandas.to_numeric).",
            ColumnWarning,
        )


def _say_mixed(mixed: dict[str, Candidate]) -> None:
    for kind, what in ((TIME, "dates"), (NUMERIC, "numbers")):
        columns = {name: one for name, one in mixed.items() if one.use["kind"] == kind}
        if columns:
            worst = max(columns.values(), key=lambda one: one.share)
            notice(
                f"Texts that are mostly {what} stay categories: {_columns(columns)}. Up to {worst.share:.0%} are "
                f"none, such as {worst.example(wrong=True)!r:.40}. To have {what}, make the others missing; to be "
                "silent, name the columns in categorical=.",
                ColumnWarning,
            )


def _columns(names: Mapping[str, object]) -> str:
    listed = ", ".join(map(repr, list(names)[:10])) + (f" and {len(names) - 10} more" if len(names) > 10 else "")
    return f"{'column' if len(names) == 1 else 'columns'} {listed}"
