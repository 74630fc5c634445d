"""Words of C: numbers, texts, names and arrays as C99 writes them."""

from __future__ import annotations

import math
import re
import textwrap
from collections.abc import Iterable
from typing import Any

import numpy as np

from pellucid.data.types import Array
from pellucid.errors import ExportError

TYPES = {"f4": "float", "f8": "double"}

KEYWORDS = frozenset(
    (
        *("auto", "break", "case", "char", "const", "continue", "default", "do", "double", "else", "enum", "extern"),
        *("float", "for", "goto", "if", "inline", "int", "long", "register", "restrict", "return", "short", "signed"),
        *("sizeof", "static", "struct", "switch", "typedef", "union", "unsigned", "void", "volatile", "while"),
    )
)


LATER_KEYWORDS = frozenset(
    (
        *("alignas", "alignof", "bool", "constexpr", "false", "nullptr", "static_assert", "thread_local", "true"),
        *("typeof", "typeof_unqual"),
    )
)
"""Of C23: a file is read by newer compilers, too."""

MACROS = frozenset(
    (
        *("NULL", "NAN", "INFINITY", "HUGE_VAL", "HUGE_VALF", "HUGE_VALL", "FP_INFINITE", "FP_NAN", "FP_NORMAL"),
        *("FP_SUBNORMAL", "FP_ZERO", "FP_FAST_FMA", "FP_FAST_FMAF", "FP_FAST_FMAL", "FP_ILOGB0", "FP_ILOGBNAN"),
        *("MATH_ERRNO", "MATH_ERREXCEPT", "math_errhandling", "MAXFLOAT", "M_E", "M_LOG2E", "M_LOG10E", "M_LN2"),
        *("M_LN10", "M_PI", "M_PI_2", "M_PI_4", "M_1_PI", "M_2_PI", "M_2_SQRTPI", "M_SQRT2", "M_SQRT1_2"),
        *("errno", "stdin", "stdout", "stderr", "EOF", "linux", "unix", "i386"),
    )
)
"""Words that headers, and some compilers, put something else in the place of."""


def c_type(dtype: Any) -> str:
    """float, double, or int for whole numbers and truth values."""
    return TYPES.get(np.dtype(dtype).str[1:], "int")


def number(value: Any, type_: str) -> str:
    """A number as a constant of this type.

    >>> number(2, "float"), number(0.1, "double"), number(-3, "int")
    ('2.0f', '0.1', '-3')
    """
    if type_ == "int":
        return str(int(value))
    value = float(value)
    if not math.isfinite(value):
        return "NAN" if math.isnan(value) else "INFINITY" if value > 0 else "-INFINITY"
    text = f"{float(np.float32(value)):.9g}" if type_ == "float" else repr(value)
    if not re.search(r"[.e]", text):
        text += ".0"
    return text + "f" * (type_ == "float")


def array(name: str, values: Array) -> str:
    """A constant array.

    >>> array("w", np.array([1.0, 2.5], np.float32))
    'static const float w[2] = {\\n    1.0f, 2.5f\\n};'
    """
    type_ = c_type(values.dtype)
    listed = ", ".join(number(value, type_) for value in values.ravel().tolist())
    body = textwrap.fill(listed, 110, initial_indent="    ", subsequent_indent="    ", break_long_words=False)
    return f"static const {type_} {name}[{max(values.size, 1)}] = {{\n{body}\n}};"


def text(value: str) -> str:
    """A text in quotes: UTF-8, whatever is not plain in octal.

    >>> text('a "b" ü?')
    '"a \\\\"b\\\\" \\\\303\\\\274\\\\077"'
    """
    if "\0" in value:
        raise ExportError(f"the text {value!r} holds a zero character, where texts of C end: rename it, and fit anew")
    try:
        raw = value.encode("utf-8")
    except UnicodeEncodeError:
        raise ExportError(
            f"the text {value!r} is no valid Unicode, so C cannot hold it: rename it, and fit anew"
        ) from None
    # two of ? may begin a trigraph
    shown = (chr(byte) if 32 <= byte < 127 and byte != ord("?") else f"\\{byte:03o}" for byte in raw)
    return '"' + "".join({'"': '\\"', "\\": "\\\\"}.get(one, one) for one in shown) + '"'


def comment(value: str) -> str:
    """A text that can stand in a comment."""
    return re.sub(r"[\r\n]+", " ", value).replace("*/", "* /").replace("/*", "/ *").replace("??/", "? ?/")


def identifiers(names: Iterable[str], taken: Iterable[str] = ()) -> list[str]:
    """A name of C for each, all different, and none of those that are `taken`.

    >>> identifiers(["age", "hours/week", "2nd", "int", "age "])
    ['age', 'hours_week', 'x2nd', 'int_', 'age_']
    """
    used = KEYWORDS | LATER_KEYWORDS | MACROS | set(taken)
    words = []
    for name in names:
        word = re.sub(r"[^0-9A-Za-z_]", "_", name) or "x"
        word = f"x{word}" if word[0].isdigit() or word[0] == "_" else word
        while word in used:
            word += "_"
        used |= {word}
        words.append(word)
    return words
