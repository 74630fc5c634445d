"""Tables as text (CSV): the separator, the header, the encoding, and rows that are too long or too short."""

from __future__ import annotations

import codecs
import csv
import io
from collections.abc import Iterable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from pellucid.errors import TableFileError
from pellucid.markup import listed

if TYPE_CHECKING:
    import polars as pl

SEPARATORS = (",", ";", "\t", "|")
MISSING = (
    *("", "NA", "N/A", "n/a", "#N/A", "<NA>", "NaN", "nan", "-NaN", "-nan", "NULL", "null", "None"),
    *("#NA", "#N/A N/A", "1.#IND", "-1.#IND", "1.#QNAN", "-1.#QNAN"),
)
"""What stands for nothing in a cell: pandas' list."""

LOOKED_AT = 10_000
"""Rows by which kinds of columns are told; where a later one is of another kind, all are looked at."""

PIECE = 1 << 20
"""Bytes that are looked at a time, until there are so many rows."""

BOMS = {codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16", codecs.BOM_UTF8: "utf-8-sig"}


def read_text_table(content: io.BytesIO | Path, where: str, separator: str = "") -> pl.DataFrame:
    """A table whose first line has the names of the columns; `where` it is from is said in errors.

    Without a separator, it is the one of , ; | and tab that the header has most of.
    """
    import polars as pl

    content = _as_utf8(content, where)
    head = _head(content)
    if not head.strip():
        raise TableFileError(f"{where} is empty: it has no rows and no columns")
    separator = separator or separator_of(head)
    names = _names(head, separator, where)
    frame = _parsed(content, where, separator)
    frame.columns = names
    if frame.height and frame[:, -1].null_count():  # what a short row leaves empty
        _refuse_short_rows(_bytes(content), separator, len(names), where)
        frame = frame.filter(~pl.all_horizontal(pl.all().is_null()))  # lines with nothing on them
    return frame


def _as_utf8(content: io.BytesIO | Path, where: str) -> io.BytesIO | Path:
    """As it is, unless its first bytes say that it is written in another way."""
    if isinstance(content, Path):
        with open(content, "rb") as file:
            start = file.read(4)
    else:
        start = content.getvalue()[:4]
    encoding = next((name for mark, name in BOMS.items() if start.startswith(mark)), None)
    if encoding is None:
        return content
    try:
        return io.BytesIO(_bytes(content).decode(encoding).encode())
    except UnicodeDecodeError as error:
        raise TableFileError(
            f"{where} begins as {encoding}, but is not: {error.reason} at byte {error.start}"
        ) from None


def _bytes(content: io.BytesIO | Path) -> bytes:
    return content.read_bytes() if isinstance(content, Path) else content.getvalue()


def _head(content: io.BytesIO | Path) -> str:
    """The header: the first line that is not empty, with the lines that its quotes run over."""
    file = open(content, "rb") if isinstance(content, Path) else io.BytesIO(content.getvalue())  # noqa: SIM115
    with file:
        return header_of(file)


def header_of(lines: Iterable[bytes]) -> str:
    """The first of the lines that is not empty, with those that its quotes run over."""
    header = ""
    for line in lines:
        header += line.decode("utf-8", errors="replace")
        if header.strip() and header.count('"') % 2 == 0:
            break
    return header.strip("\r\n")


def separator_of(header: str) -> str:
    """The one of , ; | and tab that the header has most of, outside of quotes.

    >>> separator_of('a;b;"c,d,e,f"')
    ';'
    """
    unquoted = "".join(header.split('"')[::2])
    return max(SEPARATORS, key=unquoted.count)


def _names(head: str, separator: str, where: str) -> list[str]:
    """The names of the columns; one without a name is called by its place."""
    cells = next(csv.reader(io.StringIO(head, newline=""), delimiter=separator))
    names = [cell.strip() or f"column {place}" for place, cell in enumerate(cells, 1)]
    repeated = sorted({name for name in names if names.count(name) > 1})
    if repeated:
        raise TableFileError(
            f"{where} has several columns of one name, {listed(repeated)}: rename them in its first line"
        )
    return names


def _parsed(content: io.BytesIO | Path, where: str, separator: str) -> pl.DataFrame:
    import polars as pl

    def read(source: io.BytesIO | Path = content, **more: Any) -> pl.DataFrame:
        source = source if isinstance(source, Path) else io.BytesIO(source.getvalue())
        return pl.read_csv(source, separator=separator, **more)

    def careful(rows: int | None) -> pl.DataFrame:
        return read(null_values=list(MISSING), infer_schema_length=rows)

    def by_kinds_of(start: io.BytesIO | Path) -> pl.DataFrame:
        """What `careful` reads, in half its time: words for nothing are looked for afterwards, in texts alone."""
        first = read(start, null_values=list(MISSING), infer_schema_length=LOOKED_AT, n_rows=LOOKED_AT)
        if first.height < LOOKED_AT:  # these are all, or texts run over several lines
            return first if start is content else by_kinds_of(content)
        read(start, schema_overrides=first.dtypes, n_rows=LOOKED_AT)  # such a word among numbers is told early
        return _without_words_for_nothing(read(schema_overrides=first.dtypes))

    try:
        for attempt in (partial(by_kinds_of, _start(content)), partial(careful, LOOKED_AT)):
            try:
                return attempt()
            except pl.exceptions.ComputeError as error:
                if "could not parse" not in str(error):
                    raise
        return careful(None)
    except pl.exceptions.PolarsError as error:
        words = str(error)
        if "utf-8" in words.lower() or "utf8" in words.lower():
            raise _wrong_encoding(_bytes(content), where) from None
        _refuse_open_quote(_bytes(content), where)
        if "more fields" in words:
            _refuse_other_rows(_bytes(content), separator, where)
        if "empty" in words.lower():
            raise TableFileError(f"{where} is empty: it has no rows and no columns") from None
        raise


def _start(content: io.BytesIO | Path) -> io.BytesIO | Path:
    """More than LOOKED_AT lines, which are read in no time; the whole where it has no more, or a text would be cut."""
    with open(content, "rb") if isinstance(content, Path) else io.BytesIO(content.getvalue()) as file:
        lines, start = 0, b""
        while lines <= LOOKED_AT:
            piece = file.read(PIECE)
            if not piece:
                return content
            lines, start = lines + piece.count(b"\n"), start + piece
    start = start[: start.rfind(b"\n") + 1]
    return content if start.count(b'"') % 2 else io.BytesIO(start)


def _without_words_for_nothing(frame: pl.DataFrame) -> pl.DataFrame:
    """Nothing in the place of texts of MISSING, and of "nan" in columns of floats."""
    import polars as pl
    import polars.selectors as cs

    texts, floats = frame.select(cs.string()), frame.select(cs.float())
    spoken = texts.select(pl.all().is_in(MISSING).any())
    broken = floats.select(pl.all().is_nan().any())
    named = [column.name for column in (*spoken, *broken) if column.item()]
    mended = [
        pl.col(name).fill_nan(None)
        if name in floats.columns
        else pl.when(~pl.col(name).is_in(MISSING)).then(pl.col(name))
        for name in named
    ]
    return frame.with_columns(mended)


def _wrong_encoding(raw: bytes, where: str) -> TableFileError:
    try:
        raw.decode()
        place = 0
    except UnicodeDecodeError as error:
        place = error.start
    line = raw.count(b"\n", 0, place) + 1
    return TableFileError(
        f"{where} is not written in UTF-8: byte 0x{raw[place]:02x} in line {line} is none of its letters. Convert it: "
        f"iconv -f latin1 -t utf-8 {where} > new.csv"
    )


def _refuse_open_quote(raw: bytes, where: str) -> None:
    """Raise where a text begins with a quote and does not end with one: the rest of the file is in it."""
    if raw.count(b'"') % 2:
        after = np.cumsum([line.count(b'"') for line in raw.split(b"\n")]) % 2
        line = int(np.flatnonzero(after == 0)[-1]) + 2 if (after == 0).any() else 1
        raise TableFileError(
            f"{where}: line {line} has a quote that is not closed: close it, or double it inside a text"
        )


# rows with more or fewer cells than the header


def _refuse_other_rows(raw: bytes, separator: str, where: str) -> None:
    """Raise for the first row with another number of cells."""
    reader = csv.reader(io.StringIO(raw.decode(), newline=""), delimiter=separator)
    expected = 0
    for row in reader:
        expected = expected or len(row)
        if row and len(row) != expected:
            raise TableFileError(
                f"{where}: line {reader.line_num} has {len(row)} cells, the first line has {expected}: mend that line "
                f"(a text with a {separator!r} in it stands in quotes)"
            )


def _refuse_short_rows(raw: bytes, separator: str, columns: int, where: str) -> None:
    """The same, where it is not known whether there is one: lines are counted at once if no text has quotes."""
    if b'"' not in raw:
        letters = np.frombuffer(raw, np.uint8)
        ends = np.flatnonzero(letters == ord("\n"))
        ends = ends if len(ends) and ends[-1] == len(raw) - 1 else np.append(ends, len(raw))
        before = np.searchsorted(np.flatnonzero(letters == ord(separator)), ends)
        cells = np.diff(before, prepend=0) + 1
        lengths = np.diff(ends, prepend=-1) - 1
        if not np.any((cells != columns) & (lengths > 1)):
            return
    _refuse_other_rows(raw, separator, where)
