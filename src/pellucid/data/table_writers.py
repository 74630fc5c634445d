"""Rows written to a file part by part, so that no more than a part of them need be in memory."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, BinaryIO, Protocol

if TYPE_CHECKING:
    import polars as pl


class TableWriter(Protocol):
    """What writes frames one below the other."""

    def write(self, frame: pl.DataFrame) -> None: ...

    def close(self) -> None: ...


class TextWriter:
    """Lines: `write_lines(frame, file, is_first)` writes those of a frame."""

    def __init__(self, file: BinaryIO, write_lines: Callable[[pl.DataFrame, Any, bool], None]) -> None:
        self.file, self.write_lines, self.is_first = file, write_lines, True

    def write(self, frame: pl.DataFrame) -> None:
        lines = io.BytesIO()  # what polars writes to a file by itself fails without the number of the error
        self.write_lines(frame, lines, self.is_first)
        self.file.write(lines.getbuffer())
        self.is_first = False

    def close(self) -> None:
        """Nothing is left to do."""


class GatheredWriter:
    """Parquet or Arrow's own format by polars, which writes all rows at once: they are gathered until then."""

    def __init__(self, file: BinaryIO, polars_name: str) -> None:
        self.file, self.polars_name = file, polars_name
        self.frames: list[pl.DataFrame] = []

    def write(self, frame: pl.DataFrame) -> None:
        self.frames.append(frame)

    def close(self) -> None:
        import polars as pl

        getattr(pl.concat(self.frames, how="vertical_relaxed"), self.polars_name)(self.file)


class ArrowWriter:
    """Parquet or Arrow's own format by pyarrow: a row group, or a batch, for each frame."""

    def __init__(self, file: BinaryIO, open_file: Callable[[Any, Any], Any]) -> None:
        self.file, self.open_file = file, open_file
        self.schema: Any = None
        self.opened: Any = None

    def write(self, frame: pl.DataFrame) -> None:
        table = frame.to_arrow()
        if self.opened is None:
            self.schema = table.schema
            self.opened = self.open_file(self.file, self.schema)
        self.opened.write_table(table.cast(self.schema))

    def close(self) -> None:
        if self.opened is not None:
            self.opened.close()


def csv_writer(separator: str) -> Callable[[BinaryIO], TableWriter]:
    """Of lines with a header."""
    return lambda file: TextWriter(
        file, lambda frame, out, is_first: frame.write_csv(out, separator=separator, include_header=is_first)
    )


def json_writer(file: BinaryIO) -> TableWriter:
    """Of a line of JSON for each row."""
    return TextWriter(file, lambda frame, out, is_first: frame.write_ndjson(out))


def parquet_writer(file: BinaryIO) -> TableWriter:
    """Of Parquet; without pyarrow, all rows at once."""
    try:
        import pyarrow.parquet
    except ImportError:
        return GatheredWriter(file, "write_parquet")
    return ArrowWriter(file, pyarrow.parquet.ParquetWriter)


def arrow_writer(file: BinaryIO) -> TableWriter:
    """Of Arrow's own format, which Feather is; without pyarrow, all rows at once."""
    try:
        import pyarrow.ipc
    except ImportError:
        return GatheredWriter(file, "write_ipc")
    return ArrowWriter(file, pyarrow.ipc.new_file)
