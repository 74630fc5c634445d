"""Columns of texts that hold dates or numbers, as a CSV brings them: recognised in `fit`, read the same way later."""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from numbers import Real
from typing import NamedTuple, TypedDict

import numpy as np
import pandas as pd

from pellucid.data.types import Array
from pellucid.errors import ColumnWarning
from pellucid.estimators.tables.coded_texts import factorized
from pellucid.estimators.tables.columns import NUMERIC, TIME, Table, are_texts, is_missing, numbers, times
from pellucid.estimators.tables.date_texts import AS_WRITTEN, DAY_FIRST, MONTH_FIRST, ORDERS, dissect
from pellucid.estimators.tables.number_texts import (
    CLOCK,
    COMMA,
    MARKS,
    MISSING_WORDS,
    POINT,
    code_among,
    currency_of,
    parse_numbers,
)
from pellucid.estimators.tables.units import unit_of, without_unit
from pellucid.notices import notice

STRAYS = 0.05
"""Share of the values that may be something else, and are then missing."""

MOST = 0.5
"""Share of new values that cannot be read from which on they are not strays: the column is written otherwise."""

FEW = 8
"""Up to so many different numbers beside other texts are categories, and not worth a word."""

ALL_DIFFERENT, TELLING = 0.9, 50
"""Different texts for each row, from which categories tell nothing; of fewer rows one cannot say."""

FORMS = {TIME: ORDERS, NUMERIC: MARKS}
WORDS = {TIME: "dates", NUMERIC: "numbers"}
READERS = {TIME: times, NUMERIC: numbers}
TEXTS = "OUT"
"""Kinds of dtypes that may hold texts."""


class TextUse(TypedDict):
    """How texts are read: what they hold (TIME or NUMERIC), in which form, and in which currency or unit ("": none)."""

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


def distinct_texts(column: Array) -> Distinct:
    """The different texts among the values of a column."""
    if are_texts(column):
        of_row, texts = factorized(column)
        of_distinct, stripped = pd.factorize(np.array([*(text.strip() for text in texts), None], object))
        return Distinct(stripped.tolist(), of_distinct[of_row])  # -1, a missing one, is the last: None
    stripped = np.array([value.strip() if isinstance(value, str) else None for value in column.tolist()], object)
    of_row, texts = factorized(stripped)
    return Distinct(texts, of_row)


def read_texts(table: Table, uses: dict[str, TextUse]) -> Table:
    """The table with its texts that hold dates or numbers as such; what cannot be read is missing.

    Where that is most of a column, a warning says so: it is written otherwise than in `fit`.
    """
    columns = dict(zip(table.names, table.columns, strict=True))
    read = {}
    for name, use in uses.items():
        if columns[name].dtype.kind in TEXTS:
            distinct = distinct_texts(columns[name])
            one = Candidate(use, distinct, _told(distinct), read_values(distinct.texts, use))
            read[name] = _in_rows(name, columns[name], distinct, one.values, use)
            if one.counts.any() and one.share > MOST:
                _say_unread(name, one)
    return _with_columns(table, read)


def read_values(texts: list[str], use: TextUse) -> Array:
    """Texts as dates or numbers; what cannot be read is missing.   -> (len(texts),)

    >>> read_values(["1,5", "none"], {"kind": NUMERIC, "form": COMMA, "currency": ""})
    array([1.5, nan])
    """
    if use["kind"] == TIME:
        return dissect(texts).moments(use["form"])
    return parse_numbers(texts, use["form"], use["currency"])


def _in_rows(name: str, column: Array, distinct: Distinct, values: Array, use: TextUse) -> Array:
    """Values of the different texts as values of rows, beside those that came as numbers or dates."""
    texts = distinct.of_row >= 0
    if texts.all():
        return values[distinct.of_row]
    others = column.astype(object)
    others[texts] = None
    rows = READERS[use["kind"]](name, others)
    rows[texts] = values[distinct.of_row[texts]]
    return rows


def _with_columns(table: Table, columns: dict[str, Array]) -> Table:
    return table._replace(
        columns=[columns.get(name, column) for name, column in zip(table.names, table.columns, strict=True)],
        texts=[text and name not in columns for name, text in zip(table.names, table.texts, strict=True)],
    )


# recognition


@dataclass(frozen=True)
class Candidate:
    """Texts as dates or numbers. `counts`: rows of each, 0 for words for missing. `doubt`: may be read otherwise."""

    use: TextUse
    distinct: Distinct
    counts: Array
    values: Array
    doubt: str = ""

    @property
    def wrong(self) -> Array:
        """Texts that are something else."""
        return _unread(self.values) & (self.counts > 0)

    @property
    def strays(self) -> int:
        """Rows that hold something else."""
        return int(np.sum(self.counts[self.wrong]))

    @property
    def share(self) -> float:
        return self.strays / int(np.sum(self.counts))

    def read(self) -> tuple[list[str], Array]:
        """The texts that are read, and their rows."""
        places = np.flatnonzero(~_unread(self.values))
        return [self.distinct.texts[place] for place in places], self.counts[places]

    def stray(self) -> str:
        """The first text that is not."""
        return self.distinct.texts[int(np.flatnonzero(self.wrong)[0])]


def _unread(values: Array) -> Array:
    return np.isnat(values) if values.dtype.kind == "M" else np.isnan(values)


class Recognised(NamedTuple):
    """How to read the columns of texts that hold dates or numbers; the table read so.

    different: columns of texts of which nearly each is another, with an example
    """

    uses: dict[str, TextUse]
    table: Table
    different: dict[str, str]


def recognise(table: Table, categorical: set[str]) -> Recognised:
    """What texts of a table hold; says which columns are dates or numbers.

    Declared categories, and columns that the user calls `categorical`, are left alone.
    """
    uses: dict[str, Candidate] = {}
    mixed: dict[str, Candidate] = {}
    codes: dict[str, str] = {}
    different: dict[str, str] = {}
    read: dict[str, Array] = {}
    for name, column, declared in zip(table.names, table.columns, table.declared, strict=True):
        if declared or name in categorical or column.dtype.kind not in TEXTS:
            continue
        distinct = distinct_texts(column)
        best = _candidate(column, distinct)
        if best is None or best.share > STRAYS:
            if best is not None and best.share < 0.5 and len(best.read()[0]) > FEW:
                mixed[name] = best
            elif len(distinct.texts) >= max(ALL_DIFFERENT * np.sum(distinct.of_row >= 0), TELLING):
                different[name] = distinct.texts[0]
        elif best.use["kind"] == NUMERIC and (code := _code(best)) is not None:
            codes[name] = code
        else:
            uses[name], read[name] = best, _in_rows(name, column, best.distinct, best.values, best.use)
    for kind, what in WORDS.items():
        _say_uses({name: one for name, one in uses.items() if one.use["kind"] == kind}, what)
        _say_mixed({name: one for name, one in mixed.items() if one.use["kind"] == kind}, what)
    _say_codes(codes)
    by_name = {name: candidate.use for name, candidate in uses.items()}
    return Recognised(by_name, _with_columns(table, read), different)


def _candidate(column: Array, distinct: Distinct) -> Candidate | None:
    """The column as dates or as numbers, as far as the values that are no texts allow it; None where neither is."""
    counts = _told(distinct)
    if not counts.any():
        return None
    others = [value for value in column[distinct.of_row < 0].tolist() if not is_missing(value)]
    dates = amounts = None
    if all(isinstance(value, datetime.date | np.datetime64) for value in others):
        dates = _as_dates(distinct, counts)
        if dates.share <= STRAYS:
            return dates
    if all(isinstance(value, Real | Decimal) and not isinstance(value, bool) for value in others):
        amounts = _as_numbers(distinct, counts)
    return min(filter(None, (dates, amounts)), key=lambda candidate: candidate.share, default=None)


def _told(distinct: Distinct) -> Array:
    """Rows of each text; 0 of words for missing."""
    counts = np.bincount(distinct.of_row[distinct.of_row >= 0], minlength=len(distinct.texts))
    counts[[text.lower() in MISSING_WORDS for text in distinct.texts]] = 0
    return np.asarray(counts)


def _as_dates(distinct: Distinct, counts: Array) -> Candidate:
    """With the order of day and month that fits more rows; where both fit, the day first if points are between them."""
    parts = dissect(distinct.texts)
    if not parts.swaps.any():
        return Candidate(
            {"kind": TIME, "form": AS_WRITTEN, "currency": ""}, distinct, counts, parts.moments(AS_WRITTEN)
        )
    orders = (DAY_FIRST, MONTH_FIRST) if parts.dotted.any() else (MONTH_FIRST, DAY_FIRST)
    first, second = (
        Candidate({"kind": TIME, "form": order, "currency": ""}, distinct, counts, parts.moments(order))
        for order in orders
    )
    best, other = (first, second) if first.strays <= second.strays else (second, first)
    differs = ~_unread(best.values) & ~_unread(other.values) & (best.values != other.values) & ~parts.dotted
    return _with_doubt(best, other, differs)


def _as_numbers(distinct: Distinct, counts: Array) -> Candidate:
    """With the decimal mark that fits more rows, the point if both do; or else with a unit, or as times of the day."""
    bare = _amounts(distinct, counts, currency_of(distinct.texts))
    if bare.share <= STRAYS:
        return bare
    others = []
    if unit := unit_of(distinct.texts, FEW):
        others.append(_amounts(distinct, counts, unit))
    if any(":" in text for text in distinct.texts):
        others.append(_numbers(distinct, counts, CLOCK, ""))
    return min((bare, *others), key=lambda candidate: candidate.strays)


def _numbers(distinct: Distinct, counts: Array, form: str, currency: str) -> Candidate:
    use: TextUse = {"kind": NUMERIC, "form": form, "currency": currency}
    return Candidate(use, distinct, counts, read_values(distinct.texts, use))


def _amounts(distinct: Distinct, counts: Array, currency: str) -> Candidate:
    """With the decimal mark that fits more rows, the point if both do."""
    point, comma = (_numbers(distinct, counts, mark, currency) for mark in (POINT, COMMA))
    if comma.strays < point.strays:
        return comma
    commas = np.array(["," in text for text in distinct.texts], bool)
    return _with_doubt(point, comma, commas & ~_unread(comma.values) & (point.values != comma.values))


def _code(numbers: Candidate) -> str | None:
    """A text that shows that these are codes."""
    texts, counts = numbers.read()
    return code_among([without_unit(text, numbers.use["currency"]) for text in texts], counts)


def _with_doubt(best: Candidate, other: Candidate, differs: Array) -> Candidate:
    """Where nothing in the column decides, with a text that may be read otherwise."""
    if best.strays < other.strays or not differs.any():
        return best
    return replace(best, doubt=best.distinct.texts[int(np.flatnonzero(differs)[0])])


# what is said: first sentences are the same for all members of an ensemble, which say it once


def _say_uses(uses: dict[str, Candidate], what: str) -> None:
    if not uses:
        return
    first = next(iter(uses.values()))
    remedy = "pandas.to_datetime" if what == "dates" else "pandas.to_numeric"
    sentences = [
        f"Texts are read as {what}: {_columns(uses)}. An example is {first.read()[0][0]!r}. To keep them as "
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
        if one.use["form"] == CLOCK:
            sentences.append(f"In {name!r} they are times, in seconds.")
        if one.strays:
            sentences.append(
                f"In {name!r}, {one.strays} {'value is' if one.strays == 1 else 'values are'} no {what[:-1]}, such as "
                f"{one.stray()!r:.40}, and taken as missing."
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


def _say_mixed(mixed: dict[str, Candidate], what: str) -> None:
    if mixed:
        worst = max(mixed.values(), key=lambda one: one.share)
        notice(
            f"Texts that are mostly {what} stay categories: {_columns(mixed)}. Up to {worst.share:.0%} are none, such "
            f"as {worst.stray()!r:.40}. To have {what}, make the others missing; to be silent, name the columns in "
            "categorical=.",
            ColumnWarning,
        )


def _say_unread(name: str, one: Candidate) -> None:
    what, form = WORDS[one.use["kind"]], one.use["form"]
    decimals = f"decimal {form}" if form in (POINT, COMMA) else form
    written = "" if form == AS_WRITTEN else f" ({decimals})"
    notice(
        f"Column {name!r}: texts were read as {what}{written} in fit, and {one.share:.0%} of these cannot be read so, "
        f"such as {one.stray()!r:.40}. They are taken as missing: write them as the rows of fit are written, or hand "
        f"over {what}.",
        ColumnWarning,
    )


def _columns(names: Mapping[str, object]) -> str:
    listed = ", ".join(map(repr, list(names)[:10])) + (f" and {len(names) - 10} more" if len(names) > 10 else "")
    return f"{'column' if len(names) == 1 else 'columns'} {listed}"
