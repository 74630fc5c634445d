"""Many rows in one body, worked off in parts: a CSV is answered by a CSV, JSON lines by JSON lines."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from itertools import islice
from typing import IO, Any

from pellucid.serve.bodies import temporary_file
from pellucid.serve.faults import BAD_REQUEST, OTHER_MEDIA, WRONG_VALUES, RequestFault
from pellucid.serve.predictor import Answers, Predictor
from pellucid.serve.rows import Wanted, gathered, parsed

PART = 2_000
"""Rows that are predicted at once."""

LINE = 2**20
"""Bytes of a line, characters of a row of a CSV, at most."""

CSV, LINES = "text/csv", "application/x-ndjson"
MEDIA = {
    CSV: CSV,
    "application/csv": CSV,
    LINES: LINES,
    "application/jsonl": LINES,
    "application/jsonlines": LINES,
    "application/json-lines": LINES,
}


def media_of(content_type: str) -> str:
    """Of a request, and of its answer.

    >>> media_of("text/csv; charset=utf-8")
    'text/csv'
    """
    media = MEDIA.get(content_type.partition(";")[0].strip().lower())
    if media is None:
        raise RequestFault(
            OTHER_MEDIA,
            f"Content-Type is {content_type[:80]!r}: expected {CSV} (with a line of names first) or {LINES} (an object "
            "on each line)",
            expected=[CSV, LINES],
            got=content_type[:80],
        )
    return media


def predict_batch(body: IO[bytes], media: str, predictor: Predictor, interval: float | None) -> tuple[Any, int]:
    """A file with the answers, at its beginning, and the number of rows. Nothing is answered if a row is wrong."""
    answers, rows = temporary_file(), 0
    read, write = (_csv_parts, _csv_text) if media == CSV else (_line_parts, _line_text)
    try:
        for columns, count in read(body, predictor.wanted):
            text = write(predictor.answers(columns, interval).checked(rows + 1), first=rows == 0)
            answers.write(text.encode())
            rows += count
        if not rows:
            raise RequestFault(BAD_REQUEST, "the body has no rows")
        answers.seek(0)
    except BaseException:
        answers.close()
        raise
    return answers, rows


Parts = Iterator[tuple[dict[str, Any], int]]


def _csv_parts(body: IO[bytes], wanted: Wanted) -> Parts:
    """Cells as they are: what they mean is the columns' affair, the same in every part."""
    lines = CsvLines(io.TextIOWrapper(body, "utf-8-sig", newline=""))
    reader = csv.reader(lines, strict=True)
    try:
        names = next(reader, None)
        if names is None:
            raise RequestFault(BAD_REQUEST, "the body is empty: expected a line of names, and rows below it")
        wanted.check_names(names, None)
        first = 1
        while part := list(islice(_whole_rows(reader, lines, names), PART)):
            cells = dict(zip(names, zip(*part, strict=True), strict=True))
            yield wanted.read(cells, first, texts=True), len(part)
            first += len(part)
    except UnicodeDecodeError as error:
        raise RequestFault(BAD_REQUEST, f"the body is not UTF-8 ({error.reason} at byte {error.start})") from None
    except csv.Error as error:
        raise RequestFault(BAD_REQUEST, f"the body is not a CSV: {error}, in line {reader.line_num}") from None


class CsvLines:
    """The lines of a CSV; a RequestFault for a row that goes on and on, over however many of them.

    Parameters
    ----------
    text : IO[str]
        the CSV
    """

    def __init__(self, text: IO[str]) -> None:
        self.text, self.row = text, 0  # characters of the row that is being read

    def __iter__(self) -> Iterator[str]:
        while line := self.text.readline(LINE + 1):
            self.row += len(line)
            if self.row > LINE:
                raise RequestFault(BAD_REQUEST, f"a row has more than {LINE:,} characters: expected a row on each line")
            yield line


def _whole_rows(reader: Any, lines: CsvLines, names: list[str]) -> Iterator[list[str]]:
    lines.row = 0
    for row in reader:
        lines.row = 0
        if row and len(row) != len(names):
            raise RequestFault(
                WRONG_VALUES,
                f"line {reader.line_num} has {len(row)} cells, but there are {len(names)} names",
                expected=f"{len(names)} cells",
                got=f"{len(row)} cells",
            )
        if row:
            yield row


def _line_parts(body: IO[bytes], wanted: Wanted) -> Parts:
    first, lines = 1, _lines(body)
    while part := list(islice(lines, PART)):
        rows = []
        for number, line in enumerate(part, first):
            try:
                rows.append(parsed(line))
            except RequestFault as fault:
                raise RequestFault(WRONG_VALUES, f"row {number}: {fault}", row=number) from None
        yield wanted.read(gathered(rows, wanted, first), first), len(part)
        first += len(part)


def _lines(body: IO[bytes]) -> Iterator[bytes]:
    number = 0
    while line := body.readline(LINE + 1):
        number += 1
        if len(line) > LINE:
            raise RequestFault(BAD_REQUEST, f"line {number} has more than {LINE:,} bytes: expected a row on each line")
        if line.strip():
            yield line


def _csv_text(answers: Answers, *, first: bool) -> str:
    text = io.StringIO()
    answers.frame().to_csv(text, index=False, header=first, lineterminator="\n")
    return text.getvalue()


def _line_text(answers: Answers, *, first: bool) -> str:
    return "".join(f"{json.dumps(row)}\n" for row in answers.rows())
