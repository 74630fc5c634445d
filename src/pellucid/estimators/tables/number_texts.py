"""Numbers that are written as texts: "12", "1,234.5", "1.234,5", "3.5%", "$99", "(7)", "5 kg"; and digits as codes."""

from __future__ import annotations

import re

import numpy as np

from pellucid.data.types import Array
from pellucid.estimators.tables.clock_texts import parse_clock
from pellucid.estimators.tables.units import without_unit

POINT, COMMA, CLOCK = "point", "comma", "clock"
MARKS = (POINT, COMMA, CLOCK)
"""What stands ahead of the decimals, where the other one may part thousands; or these are times of the day."""

CURRENCIES = "$€£¥"
MISSING_WORDS = frozenset(("", "na", "n/a", "#n/a", "<na>", "nan", "nat", "null", "none", "?", "-", "--", "."))
"""What stands for no value in columns of numbers and dates, in any case."""

CODE_DIGITS = 4
"""Digits from which numbers of one length may be codes; amounts and counts of so many have other lengths too."""

YEARS = (1500, 2200)


def _pattern(mark: str, group: str) -> re.Pattern[str]:
    whole = rf"(?:[1-9]\d{{0,2}}(?P<group>[{group} '’\u00a0\u202f])\d{{3}}(?:(?P=group)\d{{3}})*|\d+)"
    return re.compile(
        rf"(?P<sign>[-+−]?)(?P<before>[{CURRENCIES}]?)\s?"
        rf"(?P<digits>(?:{whole}(?:{mark}\d*)?|{mark}\d+)(?:[eE][-+]?\d+)?)\s?(?P<after>[{CURRENCIES}%]?)",
        re.ASCII,
    )


PATTERNS = {POINT: _pattern(r"\.", ","), COMMA: _pattern(",", ".")}
PLAIN = {
    POINT: str.maketrans("", "", ",'’ \u00a0\u202f"),
    COMMA: str.maketrans(",", ".", ".'’ \u00a0\u202f"),
}
SHOP = re.compile(f"[{CURRENCIES}]")
PERCENT = {"%": 0.01}


def currency_of(texts: list[str]) -> str:
    """The sign of the first text that has one."""
    priced = next((found for text in texts if (found := SHOP.search(text))), None)
    return "" if priced is None else priced.group()


def parse_numbers(texts: list[str], mark: str, currency: str = "") -> Array:
    """float64; NaN where it is no number, too large, or has another currency (sign, or word behind it).   -> (n,)

    Numbers in brackets are losses. Times of the day are seconds.

    >>> parse_numbers(["1,234.5", "3.5%", "1e3", "07", "(2)", "seven"], POINT).tolist()
    [1234.5, 0.035, 1000.0, 7.0, -2.0, nan]
    """
    if mark == CLOCK:
        return parse_clock(texts)
    pattern, plain, signs = PATTERNS[mark], PLAIN[mark], ("", currency)
    unit = "" if currency in CURRENCIES else currency
    numbers = np.full(len(texts), np.nan)
    for place, text in enumerate(texts):
        amount = without_unit(text, unit) if unit else text
        lost = amount.startswith("(") and amount.endswith(")")
        match = pattern.fullmatch(amount[1:-1] if lost else amount)
        if match is None:
            continue
        sign, before, digits, after = match.group("sign", "before", "digits", "after")
        if before in signs and (after in signs or after == "%") and not (lost and sign):
            number = float(digits.translate(plain)) * PERCENT.get(after, 1.0)
            numbers[place] = -number if lost or sign not in "+" else number
    numbers[np.isinf(numbers)] = np.nan
    return numbers


def code_among(texts: list[str], counts: Array) -> str | None:
    """A text that shows that these digits are codes, not amounts; None if none does.   counts: rows of each text

    Leading zeros show it, and so do whole numbers of one length that come again and again: years excepted, and round
    numbers, which are amounts.

    >>> code_among(["12", "007"], np.array([1, 1])), code_among(["10115", "80331"], np.array([9, 9]))
    ('007', '10115')
    >>> code_among(["1999", "2024"], np.array([9, 9])), code_among(["10000", "25500"], np.array([9, 9]))
    (None, None)
    """
    zeros = next((text for text in texts if len(text) > 1 and text[0] == "0" and text.isdecimal()), None)
    if zeros is not None:
        return zeros
    lengths = {len(text) for text in texts}
    if len(lengths) != 1 or lengths.pop() < CODE_DIGITS or not all(text.isdecimal() for text in texts):
        return None
    again = 2 * len(texts) <= int(np.sum(counts))
    values = [int(text) for text in texts]
    years = YEARS[0] <= min(values) and max(values) < YEARS[1]
    return (
        texts[0]
        if again and len(texts) > 1 and not years and int(np.gcd.reduce(np.array(values, object))) % 10
        else None
    )
