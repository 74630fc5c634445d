"""HTML in Python: elements whose content is escaped unless it is HTML already."""

from __future__ import annotations

import html
from collections.abc import Collection, Iterable, Sequence
from typing import Any


class Markup(str):
    """Text that is HTML already."""

    __slots__ = ()


def element(tag: str, *content: Any, **attributes: Any) -> Markup:
    """An element. Underscores in names of attributes are hyphens, one at the end is dropped; None leaves one out.

    >>> element("p", "a < b ", element("b", "c"), class_="note")
    '<p class="note">a &lt; b <b>c</b></p>'
    """
    written = "".join(
        f' {name.removesuffix("_").replace("_", "-")}="{html.escape(str(value))}"'
        for name, value in attributes.items()
        if value is not None
    )
    return Markup(f"<{tag}{written}>{joined(content)}</{tag}>")


def joined(content: Iterable[Any]) -> Markup:
    """Several pieces, one after the other; what is not HTML is escaped, None is nothing."""
    pieces = (piece for piece in content if piece is not None)
    return Markup("".join(piece if isinstance(piece, Markup) else html.escape(str(piece)) for piece in pieces))


def table(rows: Iterable[Sequence[Any]], head: Sequence[Any] = (), *, numbers: Collection[int] = ()) -> Markup:
    """A table that scrolls sideways where it is too wide; the columns in `numbers` are set flush right."""

    def line(tag: str, cells: Sequence[Any]) -> Markup:
        scope = {"scope": "col"} if tag == "th" else {}
        return element(
            "tr", *(element(tag, cell, class_="num" if c in numbers else None, **scope) for c, cell in enumerate(cells))
        )

    top = element("thead", line("th", head)) if head else None
    body = element("tbody", *(line("td", row) for row in rows))
    return element("div", element("table", top, body), class_="scroll", tabindex="0")


def chart(kind: str, key: str, title: str, caption: Any = "", *, wide: bool = False, **more: Any) -> Markup:
    """A place for a chart that the page draws from the data under `key`, with words that say what to notice."""
    return element(
        "figure",
        element("h4", title),
        element("div", class_="chart", data_chart=kind, data_key=key, role="img", aria_label=title, **more),
        element("figcaption", caption) if caption else None,
        class_="wide" if wide else None,
    )


def heading(text: str, level: int = 3) -> Markup:
    return element(f"h{level}", text)


def paragraph(*content: Any, class_: str | None = None) -> Markup:
    return element("p", *content, class_=class_)


def absent(what: str, how: str) -> Markup:
    """A line in the place of something that cannot be shown, and how to get it (as code)."""
    return paragraph(what, " ", element("code", how) if how else None, class_="absent")


def code(text: str) -> Markup:
    """A program, with a button that copies it."""
    return element(
        "div",
        element("pre", element("code", text), tabindex="0"),
        element("button", "Copy", type="button", class_="copy"),
        class_="code",
    )
