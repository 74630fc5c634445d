"""Dates that are written as texts: ISO 8601, 2024/03/01, 01.03.2024, 3/1/2024, 1 March 2024; with a time or without."""

from __future__ import annotations

import calendar
import re
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from pellucid.data.types import Array

AS_WRITTEN, MONTH_FIRST, DAY_FIRST = "as written", "month first", "day first"
ORDERS = (AS_WRITTEN, MONTH_FIRST, DAY_FIRST)
"""Which of the two numbers ahead of a year is the month. AS_WRITTEN: none is open, names or the year first say it."""

MONTHS = {name.lower(): number for number, name in enumerate(calendar.month_abbr) if number}
NAME = (
    r"(?P<one>jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|"
    r"oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\.?"
)
DAY = r"(?P<two>\d{1,2})(?:st|nd|rd|th)?"
WEEKDAY = r"(?:(?:mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)(?:day)?\.?,?\s+)?"
ZONE = r"(?:\s*(?:z|utc|gmt|[+-]\d\d(?::?\d\d)?))?"
CLOCK = (
    r"(?P<hour>\d{1,2}):(?P<minute>\d\d)(?::(?P<second>\d\d)(?:[.,](?P<fraction>\d+))?)?(?:\s*(?P<half>[ap])\.?m\.?)?"
)
TIME = rf"(?:(?:t|,?\s+){CLOCK}{ZONE})?"
NO_TIME = "".join(f"(?P<{part}>)" for part in ("hour", "minute", "second", "fraction", "half"))
PARTS = ("year", "one", "two", "hour", "minute", "second", "fraction", "half")


class Form(NamedTuple):
    """A way to write a date, in small letters. Group `one` is the month and `two` the day, unless it `swaps`."""

    pattern: re.Pattern[str]
    swaps: bool = False  # the order is open
    dotted: bool = False  # 01.03.2024 is written with the day first


def _form(pattern: str, *, swaps: bool = False, dotted: bool = False) -> Form:
    return Form(re.compile(pattern, re.ASCII), swaps, dotted)


FORMS = (
    _form(rf"(?P<year>\d{{4}})(?P<mark>[-/.])(?P<one>\d{{1,2}})(?P=mark)(?P<two>\d{{1,2}}){TIME}"),
    _form(rf"(?P<one>\d{{1,2}})(?P<mark>[-/])(?P<two>\d{{1,2}})(?P=mark)(?P<year>\d{{4}}){TIME}", swaps=True),
    _form(rf"(?P<one>\d{{1,2}})/(?P<two>\d{{1,2}})/(?P<year>\d\d){TIME}", swaps=True),
    _form(rf"(?P<one>\d{{1,2}})\.(?P<two>\d{{1,2}})\.(?P<year>\d{{4}}){TIME}", swaps=True, dotted=True),
    _form(rf"(?P<one>\d\d)\.(?P<two>\d\d)\.(?P<year>\d\d){TIME}", swaps=True, dotted=True),
    _form(rf"{WEEKDAY}{DAY}[-/.\s]*{NAME}[-/,\s]*(?P<year>\d{{4}}|\d\d){TIME}"),
    _form(rf"{WEEKDAY}{NAME}[-/\s]*{DAY}(?:,\s*|[-/\s]+)(?P<year>\d{{4}}){TIME}"),
    _form(rf"(?P<year>\d{{4}})[-/\s]+{NAME}[-/\s]+{DAY}{TIME}"),
    _form(rf"{NAME}[-/,\s]+(?P<year>\d{{4}})(?P<two>){NO_TIME}"),
    _form(rf"(?P<year>1[5-9]\d\d|2[01]\d\d)-(?P<one>0[1-9]|1[0-2])(?P<two>){NO_TIME}"),
    _form(
        r"(?P<year>(?:19|20)\d\d)(?P<one>\d\d)(?P<two>\d\d)(?:t(?P<hour>\d\d):?(?P<minute>\d\d)(?::?(?P<second>\d\d)"
        rf"(?:[.,](?P<fraction>\d+))?)?{ZONE})?(?P<half>)"
    ),
)
START = re.compile(
    r"\d{4}[-/.]\d|\d{4}[-/\s]+[a-z]{3}|\d{1,2}[-/.]\d{1,2}[-/.]\d|\d{8}(?:t|$)|\d{1,2}[-/.\s]*[a-z]{3}|"
    rf"\d{{1,2}}(?:st|nd|rd|th)|{WEEKDAY}(?:\d|(?:{'|'.join(MONTHS)})[a-z.]*[-/,\s]*\d)",
    re.ASCII,
)
"""What is worth a closer look."""


class Parts(NamedTuple):
    """Dates in parts, each (n,). `written`: the text has the form of a date. `micro`: of the day, -1 for no time."""

    written: Array
    year: Array
    one: Array
    two: Array
    swaps: Array
    dotted: Array
    micro: Array

    def moments(self, order: str) -> Array:
        """datetime64[us]; NaT where it is no date, or where the order of day and month is open and none is known."""
        turned = self.swaps & (order == DAY_FIRST)
        month, day = np.where(turned, self.two, self.one), np.where(turned, self.one, self.two)
        there = self.written & (self.micro >= 0) & (self.year > 0) & (month >= 1) & (month <= 12) & (day >= 1)
        there &= ~self.swaps | (order != AS_WRITTEN)
        months = np.where(there, (self.year - 1970) * 12 + month - 1, 0).astype("datetime64[M]")
        days = months.astype("datetime64[D]") + np.where(there, day - 1, 0)
        there &= days.astype("datetime64[M]") == months  # no 30th of February
        moments = days.astype("datetime64[us]") + np.where(there, self.micro, 0)
        return np.where(there, moments, np.datetime64("NaT", "us"))


def dissect(texts: list[str]) -> Parts:
    """The parts of each text (they have no space at their ends).

    >>> str(dissect(["1/3/2024 2:05 PM"]).moments(DAY_FIRST)[0])
    '2024-03-01T14:05:00.000000'
    """
    places: list[list[int]] = [[] for _ in FORMS]
    groups: list[list[tuple[str, ...]]] = [[] for _ in FORMS]
    latest = 0
    for place, text in enumerate(texts):
        low = text.lower()
        match = FORMS[latest].pattern.fullmatch(low)
        if match is None:  # it is not in the form of the text before
            if START.match(low) is None:
                continue
            matches = ((number, form.pattern.fullmatch(low)) for number, form in enumerate(FORMS))
            latest, match = next(((number, one) for number, one in matches if one is not None), (latest, None))
            if match is None:
                continue
        places[latest].append(place)
        groups[latest].append(match.groups(""))
    parts = Parts(*(np.zeros(len(texts), kind) for kind in (bool, int, int, int, bool, bool, int)))
    for form, rows, matched in zip(FORMS, places, groups, strict=True):
        if rows:
            columns = list(zip(*matched, strict=True))
            by_part = {part: columns[form.pattern.groupindex[part] - 1] for part in PARTS}
            values = (True, _years(by_part["year"]), _months(by_part["one"]), _wholes(by_part["two"], empty=1))
            for array, value in zip(parts, (*values, form.swaps, form.dotted, _micros(by_part)), strict=True):
                array[rows] = value
    return parts


def _wholes(texts: Iterable[str], empty: int = 0) -> Array:
    return np.array([int(text or empty) for text in texts], np.int64)


def _years(texts: Iterable[str]) -> Array:
    """Two digits as POSIX reads them: 69 to 99 are 1969 to 1999."""
    short = {text: int(text) + (1900 if text >= "69" else 2000) for text in set(texts) if len(text) == 2}
    return np.array([short.get(text) or int(text) for text in texts], np.int64)


def _months(texts: Iterable[str]) -> Array:
    """By name or by number."""
    months = {text: MONTHS.get(text[:3]) or int(text) for text in set(texts)}
    return np.array([months[text] for text in texts], np.int64)


def _micros(parts: dict[str, tuple[str, ...]]) -> Array:
    """Microseconds since midnight; -1 where there is no such time."""
    hour, minute, second = (_wholes(parts[part]) for part in ("hour", "minute", "second"))
    wrong, half = (hour > 23) | (minute > 59) | (second > 59), np.array(parts["half"])
    wrong |= (half != "") & ((hour < 1) | (hour > 12))
    hour = np.where(half == "", hour, hour % 12 + 12 * (half == "p"))
    fraction = _wholes(f"{text:0<6}"[:6] for text in parts["fraction"])  # what is smaller is cut off
    return np.where(wrong, -1, ((hour * 60 + minute) * 60 + second) * 1_000_000 + fraction)
