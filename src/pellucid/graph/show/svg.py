"""A drawing as a self-contained SVG picture: no scripts, no style sheets, no fonts to fetch."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Iterator

from pellucid.graph.show.drawing import COLOURS, Box, Drawing
from pellucid.graph.show.layout import Place, Point, arrange

FONT = "'DejaVu Sans', 'Segoe UI', 'Helvetica Neue', 'Noto Sans', 'Noto Sans Math', Arial, sans-serif"
HEADING, SMALL, LABEL, TITLE = 14.0, 11.5, 11.0, 16.0  # font sizes
MARGIN = 24.0
PAPER, INK, MUTED, ARROW = "#fcfcfe", "#1f2933", "#5b6773", "#7b8794"
SCOPE_INK, SCOPE_EDGE, SCOPE_HALO = "#46639b", "#c5cfe2", "#f1f3f6"


def svg(drawing: Drawing) -> str:
    """The picture, top to bottom, as the text of an SVG file.

    >>> picture = svg(Drawing("one", (Box(0, ("x",), "input"),), ()))
    >>> picture.startswith("<svg"), picture.endswith("</svg>\\n")
    (True, True)
    """
    layout = arrange(drawing, _box_size, lambda scope: text_width(_scope_name(scope), LABEL) + 22)
    title_height = 38.0 if drawing.title else 0.0
    width = max(layout.width, text_width(drawing.title, TITLE)) + 2 * MARGIN
    height = layout.height + 2 * MARGIN + title_height
    # Several pictures share the ids of one HTML page: equal ids only for equal pictures.
    head = "arrow-" + hashlib.sha256(repr(drawing).encode("utf-8", "replace")).hexdigest()[:12]
    left, top = (width - layout.width) / 2, MARGIN + title_height
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" width="{_n(width)}" height="{_n(height)}" '
        f'viewBox="0 0 {_n(width)} {_n(height)}" font-family="{FONT}" text-anchor="middle">',
        f"<title>{_escape(drawing.title or 'graph')}</title>",
        f'<defs><marker id="{head}" viewBox="0 0 8 8" refX="7.5" refY="4" markerWidth="8" markerHeight="8" '
        f'markerUnits="userSpaceOnUse" orient="auto">'
        f'<path d="M0 0.8L8 4L0 7.2z" fill="{ARROW}"/></marker></defs>',
        f'<rect width="{_n(width)}" height="{_n(height)}" rx="10" fill="{PAPER}"/>',
    ]
    if drawing.title:
        parts.append(_text(drawing.title, width / 2, MARGIN + TITLE, TITLE, INK, weight="600"))
    parts.append(f'<g transform="translate({_n(left)} {_n(top)})">')
    parts.extend(_scope_ground(place) for _, place in layout.groups)
    parts.append(f'<g fill="none" stroke="{ARROW}" stroke-width="1.3" stroke-linejoin="round">')
    parts.extend(f'<path d="{_curve(route)}" marker-end="url(#{head})"/>' for route in layout.routes)
    parts.append("</g>")
    parts.extend(_scope_label(scope, place) for scope, place in layout.groups)
    for box in drawing.boxes:
        parts.extend(_draw_box(box, layout.boxes[box.key]))
    parts.append("</g></svg>\n")
    return "\n".join(parts)


def text_width(text: str, size: float) -> float:
    """The width of `text` in a wide sans-serif font, estimated generously. Combining marks have none."""
    return size * sum(_advance(char) for char in text)


def _advance(char: str) -> float:
    if unicodedata.category(char) in ("Mn", "Me", "Cf"):
        return 0.0
    if unicodedata.east_asian_width(char) in "WF":
        return 1.1
    if unicodedata.decomposition(char).startswith(("<sub>", "<super>")):
        return 0.45
    if char in "iljI.,:;'|!":
        return 0.34
    if char in " ()[]frt/":
        return 0.42
    if char in "mwMW%@" or unicodedata.category(char) == "Sm":
        return 0.9
    return 0.72 if char.isupper() else 0.64


def _box_size(box: Box) -> tuple[float, float]:
    width = max((text_width(line, size) for line, size, _ in _lines(box)), default=0.0)
    height = sum(line_height for _, _, line_height in _lines(box))
    return max(52.0, width + 24), height + 14


def _lines(box: Box) -> Iterator[tuple[str, float, float]]:
    """Text, font size and line height of every line."""
    for i, line in enumerate(box.lines):
        yield (line, SMALL, 16.0) if i else (line, HEADING, 20.0)


def _draw_box(box: Box, place: Place) -> Iterator[str]:
    fill, edge = COLOURS[box.kind]
    yield (
        f'<rect {_corner(place)} rx="{9 if box.kind == "operation" else 14}" fill="{fill}" stroke="{edge}" '
        'stroke-width="1.3"/>'
    )
    y = place.y - place.height / 2 + 7
    for i, (line, size, line_height) in enumerate(_lines(box)):
        yield _text(line, place.x, y + line_height / 2 + 0.36 * size, size, MUTED if i else INK)
        y += line_height


def _scope_ground(place: Place) -> str:
    return f'<rect {_corner(place)} rx="14" fill="{SCOPE_INK}" fill-opacity="0.07" stroke="{SCOPE_EDGE}"/>'


def _scope_label(scope: str, place: Place) -> str:
    x, y = place.x - place.width / 2 + 11, place.y - place.height / 2 + 17
    # Arrows may cross the name: a halo keeps it readable.
    halo = f'paint-order="stroke" stroke="{SCOPE_HALO}" stroke-width="4" stroke-linejoin="round"'
    return _text(_scope_name(scope), x, y, LABEL, SCOPE_INK, weight="600", anchor="start", more=halo)


def _scope_name(scope: str) -> str:
    """Only the last part: the rest is written on the groups around it."""
    return scope.rpartition("/")[2]


def _curve(route: tuple[Point, ...]) -> str:
    """Straight down, a curve with vertical ends, straight down, ..."""
    path = f"M{_xy(route[0])}L{_xy(route[1])}"
    for i in range(2, len(route), 2):
        (x0, y0), (x1, y1) = route[i - 1], route[i]
        bend = 0.55 * (y1 - y0)
        path += f"C{_xy((x0, y0 + bend))} {_xy((x1, y1 - bend))} {_xy((x1, y1))}L{_xy(route[i + 1])}"
    return path


def _text(
    text: str,
    x: float,
    y: float,
    size: float,
    colour: str,
    weight: str = "400",
    anchor: str = "middle",
    more: str = "",
) -> str:
    return (
        f'<text x="{_n(x)}" y="{_n(y)}" font-size="{_n(size)}" font-weight="{weight}" text-anchor="{anchor}" '
        f'fill="{colour}" {more}>{_escape(text)}</text>'
    )


def _escape(text: str) -> str:
    """Text for XML; what XML cannot hold (control characters, lone surrogates) becomes U+FFFD."""
    text = re.sub(r"[^\t\n\r\u0020-\uD7FF\uE000-\uFFFD\U00010000-\U0010FFFF]", "\ufffd", text)
    for char, entity in (("&", "&amp;"), ("<", "&lt;"), (">", "&gt;"), ('"', "&quot;")):
        text = text.replace(char, entity)
    return text


def _corner(place: Place) -> str:
    x, y = place.x - place.width / 2, place.y - place.height / 2
    return f'x="{_n(x)}" y="{_n(y)}" width="{_n(place.width)}" height="{_n(place.height)}"'


def _xy(point: Point) -> str:
    return f"{_n(point[0])} {_n(point[1])}"


def _n(number: float) -> str:
    """A coordinate, to a tenth of a pixel."""
    return f"{round(number, 1) + 0.0:.1f}".removesuffix(".0")
