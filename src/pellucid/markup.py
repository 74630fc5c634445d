"""How results show themselves: in few words at a prompt, as a small table in a notebook.

The HTML has no colours of its own, so that it can be read on light and on dark pages.
"""

from __future__ import annotations

import html
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

WORD = 40
"""Characters of a value that `brief` shows as it is; longer ones are counted."""


def plural(count: int, word: str) -> str:
    """
    >>> plural(1, "layer"), plural(1200, "layer")
    ('1 layer', '1,200 layers')
    """
    return f"{count:,} {word}{'' if count == 1 else 's'}"


def listed(names: Sequence[object], most: int = 20) -> str:
    """Names in a sentence.

    >>> listed(["age", "sex"]), listed("abc", most=2)
    ("'age', 'sex'", "'a', 'b' and 1 more")
    """
    text = ", ".join(map(repr, names[:most]))
    return text if len(names) <= most else f"{text} and {len(names) - most} more"


def short(value: float) -> str:
    """A number in four digits at most, as a person reads it.

    >>> short(0.123456), short(1500000.0), short(float("nan"))
    ('0.1235', '1.5e+06', 'nan')
    """
    return f"{float(value):.4g}"


def number(value: float) -> str:
    """Four digits, with thousands parted.

    >>> [number(v) for v in (0.123456, 12.3456, 48213.7, 250000.0, 0.00001234)]
    ['0.1235', '12.35', '48,214', '250,000', '1.234e-05']
    """
    return f"{value:,.0f}" if abs(value) >= 10_000 else f"{value:.4g}"


def counted(arrays: Mapping[str, Any]) -> str:
    """Named arrays by how much they hold.

    >>> counted({"weight": np.ones((3, 4)), "bias": np.ones(4)}), counted({})
    ('2 arrays of 16 numbers', 'none')
    """
    if not arrays:
        return "none"
    return f"{plural(len(arrays), 'array')} of {plural(sum(map(np.size, arrays.values())), 'number')}"


def brief(record: Any) -> str:
    """A record by its fields: what is short as it is, what is long by its size.

    >>> from dataclasses import make_dataclass
    >>> brief(make_dataclass("Run", ["rate", "losses"])(0.1, list(range(1000))))
    'Run(rate=0.1, losses: 1,000 items)'
    """
    names = [field.name for field in fields(record)] if is_dataclass(record) else record._fields
    return f"{type(record).__name__}({', '.join(_field(name, getattr(record, name)) for name in names)})"


def _field(name: str, value: Any) -> str:
    shape = getattr(value, "shape", None)
    if isinstance(shape, tuple) and shape:
        return f"{name}: {'×'.join(map(str, shape))} {value.dtype}"
    many = hasattr(value, "__len__") and len(value) > WORD  # not written out, only to be counted
    text = "" if many else short(value) if isinstance(value, float) else repr(value)
    if text and len(text) <= WORD and "\n" not in text:
        return f"{name}={text}"
    if isinstance(value, str):
        return f"{name}={value[: WORD - 6]!r}..."
    return f"{name}: {plural(len(value), 'item')}" if hasattr(value, "__len__") else f"{name}: {type(value).__name__}"


class Brief:
    """A record of many numbers that prints as a page of text: `brief` at a prompt, the page in a notebook.

    Dataclasses say `repr=False` beside it, for theirs would come first.
    """

    __slots__ = ()

    def __repr__(self) -> str:
        return brief(self)

    def _repr_html_(self) -> str:
        return page(str(self))


def page(text: str, lines: int | None = None) -> str:
    """Text in columns, as it is; with a limit, its first lines.

    >>> print(page("a < b\\nb\\nc", lines=2))
    <pre>a &lt; b
    b
    … 1 more line: print it to see all</pre>
    """
    shown = text.splitlines()
    if lines is not None and len(shown) > lines:
        shown = [*shown[:lines], f"… {plural(len(shown) - lines, 'more line')}: print it to see all"]
    return f"<pre>{html.escape(chr(10).join(shown))}</pre>"


def folded(title: str, text: str) -> str:
    """A line that opens to a page of text."""
    return f"<details><summary>{html.escape(title)}</summary>{page(text)}</details>"


def table(
    rows: Iterable[Sequence[str]], head: Sequence[str] = (), *, caption: str = "", numbers: Collection[int] = ()
) -> str:
    """Rows of text as an HTML table; the columns in `numbers` are set flush right.

    >>> print(table([["a<b", "1"]], ["name", "count"], numbers=[1]))
    <table>
    <thead><tr><th style='text-align:left'>name</th><th style='text-align:right'>count</th></tr></thead>
    <tbody>
    <tr><td style='text-align:left'>a&lt;b</td><td style='text-align:right'>1</td></tr>
    </tbody></table>
    """
    title = f"<caption style='text-align:left;white-space:nowrap'>{html.escape(caption)}</caption>" if caption else ""
    top = f"\n<thead>{_row('th', head, numbers)}</thead>" if head else ""
    body = "\n".join(_row("td", row, numbers) for row in rows)
    return f"<table>{title}{top}\n<tbody>\n{body}\n</tbody></table>"


def _row(tag: str, cells: Sequence[str], numbers: Collection[int]) -> str:
    sides = ("right" if c in numbers else "left" for c in range(len(cells)))
    return f"<tr>{''.join(map(_cell, (tag,) * len(cells), cells, sides))}</tr>"


def _cell(tag: str, text: str, side: str) -> str:
    return f"<{tag} style='text-align:{side}'>{html.escape(text)}</{tag}>"
