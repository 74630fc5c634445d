"""Units behind numbers that are written as texts: "12.5 kg", "30 days", "99 EUR"."""

from __future__ import annotations

import re
from collections import Counter

UNIT = re.compile(r"[(]?[-+−]?(?:\d[\d.,'’\s]*|[.,]\d+)(?:[eE][-+]?\d+)?\s?(?P<unit>°?[^\W\d_°][^\s\d()]*\d?)[)]?")

LOOKED_AT = 1000
"""Texts that tell the unit of a column."""


def unit_of(texts: list[str], few: int) -> str:
    """The word behind the numbers, in the singular; "" if most have none, or there are not more than a few of them.

    Numbers of few kinds with a word behind them are as good as categories, and may be names of things.

    >>> unit_of(["1 day", "2 days", "30 days", "NA"], 2), unit_of(["12a", "13b", "14c"], 2), unit_of(["36 months"], 2)
    ('day', '', '')
    """
    some = texts[:: -(-len(texts) // LOOKED_AT)]
    words = Counter(_singular(match["unit"]) for text in some if (match := UNIT.fullmatch(text)))
    unit, count = max(words.items(), key=lambda pair: pair[1], default=("", 0))
    return unit if 2 * count > len(some) and count > few else ""


def without_unit(text: str, unit: str) -> str:
    """The text ahead of its unit; as it is if it has none.

    >>> without_unit("2 days", "day"), without_unit("7", "day")
    ('2', '7')
    """
    for word in (unit, f"{unit}s"):
        if word and text.endswith(word):
            return text.removesuffix(word).rstrip()
    return text


def _singular(word: str) -> str:
    return word[:-1] if len(word) > 2 and word.isalpha() and word.endswith("s") else word
