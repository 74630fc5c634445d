"""A table that grows by rows, as a CSV file that is readable at any moment."""

import csv
import io
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Self, TextIO

import numpy as np

from pellucid.train.files.atomic import regular, write_atomically


class CsvLog:
    """One row per call, written through to the file at once; the header is the first row's keys.

    A later row may lack keys (the cells stay empty) or bring new ones: then the file is replaced, in one step, by one
    with the added columns. Floats are written so that reading them gives the same number. With `append` an existing
    file is continued under its own header; a last line that was cut off when its writer was killed is dropped.

    >>> import tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> with CsvLog(Path(folder.name) / "log.csv") as log:
    ...     log.row({"epoch": 1, "loss": 0.1 + 0.2})
    ...     log.row({"epoch": 2, "loss": 0.25, "val_loss": float("nan")})
    >>> print(log.path.read_text(), end="")
    epoch,loss,val_loss
    1,0.30000000000000004,
    2,0.25,nan
    >>> folder.cleanup()
    """

    def __init__(self, path: str | os.PathLike[str], *, append: bool = False) -> None:
        self.path = Path(path)
        self.columns: list[str] = []
        self._file: TextIO | None = None
        if regular(self.path) is not None and append:
            lines, complete = self._lines()
            self.columns = lines[0] if lines else []
            if not complete:
                self._rewrite(lines)

    def row(self, values: Mapping[str, object]) -> None:
        """Add a row, and new columns where it has keys that no row had before. An empty row is left out."""
        if not values:
            return
        new = [key for key in values if key not in self.columns]
        if new:
            lines = self._lines()[0] if self.columns else [[]]
            columns = [*self.columns, *new]
            self._rewrite([columns, *(line + [""] * (len(columns) - len(line)) for line in lines[1:])])
            self.columns = columns
        if self._file is None:
            self._file = open(self.path, "a", newline="", encoding="utf-8")  # noqa: SIM115  (closed by close)
        self._file.write(_line(_text(values.get(key)) for key in self.columns))
        self._file.flush()

    def close(self) -> None:
        """Close the file; the next row opens it again."""
        if self._file is not None:
            self._file.close()
            self._file = None

    def _lines(self) -> tuple[list[list[str]], bool]:
        """The file's rows, the header first, without a last one that was cut off; and whether none was."""
        text = self.path.read_bytes().decode("utf-8", errors="surrogateescape")  # a cut may go through a character
        lines = [line for line in csv.reader(io.StringIO(text, newline="")) if line]
        complete = text.endswith("\n") and text.count('"') % 2 == 0
        return (lines if complete else lines[:-1]), complete

    def _rewrite(self, lines: Iterable[list[str]]) -> None:
        self.close()
        write_atomically(self.path, "".join(map(_line, lines)).encode(errors="surrogateescape"))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _line(cells: Iterable[str]) -> str:
    out = io.StringIO(newline="")
    csv.writer(out, lineterminator="\r\n").writerow(cells)  # csv quotes a carriage return only if the line end has one
    return out.getvalue().removesuffix("\r\n") + "\n"


def _text(value: object) -> str:
    if value is None:
        return ""
    return repr(float(value)) if isinstance(value, float | np.floating) else str(value)
