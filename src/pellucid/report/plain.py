"""Records as plain data for the page: lists, texts and numbers of few digits; what is not finite is null."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

DIGITS = 5
"""Significant digits of a number on the page."""


def plain(value: Any) -> Any:
    """
    >>> plain({"a": np.array([1 / 3, np.nan]), "b": (1, "x", None)})
    {'a': [0.33333, None], 'b': [1, 'x', None]}
    """
    if value is None or isinstance(value, str | bool):
        return value
    if hasattr(value, "for_page"):  # a record that knows a shorter form of itself
        return value.for_page()
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, Mapping):
        return {str(key): plain(entry) for key, entry in value.items()}
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if isinstance(value, list | tuple):
        return [plain(entry) for entry in value]
    if isinstance(value, int | np.integer):
        return int(value)
    if isinstance(value, float | np.floating):
        return _rounded(float(value))
    return str(value)


def _rounded(number: float) -> float | int | None:
    if not math.isfinite(number):
        return None
    short = float(f"{number:.{DIGITS}g}")
    return int(short) if short.is_integer() and abs(short) < 1e9 else short


def block(data: Any) -> str:
    """Plain data as JSON that can stand inside a script element.

    >>> block({"name": "</script>"})
    '{"name":"\\\\u003c/script>"}'
    """
    text = json.dumps(plain(data), ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    for sign in "<\u2028\u2029":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return text
