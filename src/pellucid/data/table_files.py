"""Tables in files: CSV, TSV, Parquet, Feather, JSON lines, compressed or not, one file or many, as one polars frame."""

from __future__ import annotations

import bz2
import glob
import gzip
import io
import lzma
import os
import zlib
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from pellucid.data.table_writers import TableWriter, arrow_writer, csv_writer, json_writer, parquet_writer
from pellucid.data.text_tables import read_text_table
from pellucid.errors import TableFileError
from pellucid.markup import listed

if TYPE_CHECKING:
    import polars as pl

LARGE = 1 << 24
"""Bytes from which a table of text takes some time to read."""

START = 1 << 20
"""Bytes whose rows are its first."""

FIRST = 1000
"""Rows by which it is told that texts are no numbers."""


@dataclass(frozen=True)
class Form:
    """A form of files: its name, how its content (bytes, or a path) becomes a frame, and what writes frames into it."""

    name: str
    read: Callable[[Any, str], pl.DataFrame]
    writer: Callable[[BinaryIO], TableWriter]


def _csv(separator: str) -> Form:
    from_text = lambda content, where: read_text_table(content, where, separator)
    return Form("CSV", from_text, csv_writer(separator or ","))


def _polars(name: str, reader: str, writer: Callable[[BinaryIO], TableWriter]) -> Form:
    """A form that polars reads by itself, by the name of its function."""

    def read(content: Any, where: str) -> pl.DataFrame:
        import polars as pl

        frame: pl.DataFrame = getattr(pl, reader)(content)
        return frame

    return Form(name, read, writer)


FORMS: dict[str, Form] = {
    ".csv": _csv(""),
    ".txt": _csv(""),
    ".tsv": _csv("\t"),
    ".tab": _csv("\t"),
    ".parquet": _polars("Parquet", "read_parquet", parquet_writer),
    ".pq": _polars("Parquet", "read_parquet", parquet_writer),
    ".feather": _polars("Feather", "read_ipc", arrow_writer),
    ".arrow": _polars("Arrow", "read_ipc", arrow_writer),
    ".ipc": _polars("Arrow", "read_ipc", arrow_writer),
    ".jsonl": _polars("JSON lines", "read_ndjson", json_writer),
    ".ndjson": _polars("JSON lines", "read_ndjson", json_writer),
}
"""By the suffix of a file."""


def _zstd(packed: bytes) -> bytes:
    try:
        import zstandard
    except ImportError:
        raise TableFileError(
            "it is packed by zstd, which needs a package: pip install zstandard, or unpack it"
        ) from None
    return zstandard.ZstdDecompressor().decompressobj().decompress(packed)


PACKINGS: dict[str, Callable[[bytes], bytes]] = {
    ".gz": gzip.decompress,
    ".bz2": bz2.decompress,
    ".xz": lzma.decompress,
    ".zst": _zstd,
}
"""How a file is unpacked, by its last suffix."""

PIPES = ("-", "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0")
"""What stands for standard input."""

Names = str | os.PathLike[str] | Sequence[str | os.PathLike[str]]


def table_files(names: Names) -> list[Path]:
    """The files that names and patterns stand for; an error where there are none.

    Parameters
    ----------
    names : str | PathLike | Sequence
        paths, or patterns such as "data/*.csv"; files of a pattern come in the order of their names

    Returns
    -------
    list[Path]
        each is there, and has a suffix that is known
    """
    single = isinstance(names, str | os.PathLike)
    asked: Iterable[Any] = [names] if single else names  # type: ignore[assignment]
    files: list[Path] = []
    for name in map(os.fspath, asked):
        if name in PIPES:
            raise TableFileError(
                f"{name}: a table is read from a file, for it is looked at more than once: write what comes through "
                "the pipe into one, such as data.csv"
            )
        if os.path.exists(name):
            files.append(Path(name))
            continue
        matches = sorted(glob.glob(name, recursive=True)) if glob.has_magic(name) else []
        if not matches:
            what = "no file matches this pattern" if glob.has_magic(name) else "there is no such file"
            raise TableFileError(f"{name}: {what}; the folder is {Path.cwd()}")
        files += map(Path, matches)
    if not files:
        raise TableFileError("no file was named: give a path such as data.csv")
    for file in files:
        if file.is_dir():
            raise TableFileError(f"{file} is a folder: name its files, such as '{file}/*.csv'")
        form_of(file)
    return files


def form_of(path: str | os.PathLike[str]) -> Form:
    """The form of a file, by its suffix; one that tells how it is packed is looked past."""
    file = Path(path)
    suffix = (Path(file.stem) if file.suffix.lower() in PACKINGS else file).suffix.lower()
    if suffix not in FORMS:
        raise TableFileError(
            f"{file}: the suffix {suffix!r} is not known: tables are {', '.join(FORMS)}, and any of them packed "
            f"({', '.join(PACKINGS)})"
        )
    return FORMS[suffix]


def read_tables(names: Names, dropped: Collection[str] = ()) -> pl.DataFrame:
    """The rows of one or several files, one after the other.

    Files must have the same columns, in any order. Columns of CSV are numbers, truths or texts; what stands for a
    missing value is an empty cell, or a word such as NA.

    Parameters
    ----------
    names : str | PathLike | Sequence
        paths, or patterns such as "data/*.parquet"
    dropped : collection of str
        columns that will not be used, and may hold anything

    Returns
    -------
    polars.DataFrame
        at least two columns and one row; a `TableFileError` says in one line what is wrong with a file

    Examples
    --------
    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> _ = (folder / "one.csv").write_text("size,colour\\n1,red\\n2,NA\\n")
    >>> _ = (folder / "two.csv").write_text("colour,size\\nblue,3.5\\n")
    >>> read_tables(folder / "*.csv").rows()
    [(1.0, 'red'), (2.0, None), (3.5, 'blue')]
    """
    import polars as pl

    files = table_files(names)
    frames = [read_table_file(file, dropped) for file in files]
    first = frames[0]
    for file, frame in zip(files[1:], frames[1:], strict=True):
        absent, extra = set(first.columns) - set(frame.columns), set(frame.columns) - set(first.columns)
        if absent or extra:
            faults = [f"missing: {listed(sorted(absent))}"] * bool(absent)
            faults += [f"only there: {listed(sorted(extra))}"] * bool(extra)
            raise TableFileError(f"{file} has other columns than {files[0]} ({'; '.join(faults)}): make them the same")
    if len(frames) == 1:
        return first
    try:
        return pl.concat([frame.select(first.columns) for frame in frames], how="vertical_relaxed", rechunk=True)
    except (pl.exceptions.SchemaError, pl.exceptions.PolarsError) as error:
        raise TableFileError(f"{files[0]} and {len(files) - 1} more do not go together: {first_line(error)}") from None


@dataclass(frozen=True, eq=False)
class FirstRows:
    """The first rows of files, and how many rows all of them have, about."""

    frame: pl.DataFrame
    rows: int


def first_rows(files: Sequence[Path]) -> FirstRows | None:
    """The first rows of files that take some time to read; None of others, and of those that are read as a whole.

    files: as `table_files` names them
    """
    first, size = files[0], sum(file.stat().st_size for file in files)
    if form_of(first).name != "CSV" or first.suffix.lower() in PACKINGS or size < LARGE:
        return None
    with open(first, "rb") as file:
        start = file.read(START)
    start = start[: start.rfind(b"\n") + 1]
    frame = _checked(form_of(first).read(io.BytesIO(start), str(first)), first)
    return FirstRows(frame, int(frame.height * size / len(start)))


def read_table_file(path: str | os.PathLike[str], dropped: Collection[str] = ()) -> pl.DataFrame:
    """The rows of one file, with columns of kinds that can be learned from; see `read_tables`."""
    import polars as pl

    file = Path(path)
    form = form_of(file)
    try:
        if not file.stat().st_size:
            raise TableFileError(f"{file} is empty: it has no rows and no columns")
        content: Any = io.BytesIO(_unpacked(file)) if file.suffix.lower() in PACKINGS else file
        frame = form.read(content, str(file))
    except PermissionError:
        raise TableFileError(f"{file} may not be read by you: chmod u+r it, or copy it") from None
    except pl.exceptions.PolarsError as error:
        raise TableFileError(f"{file} cannot be read as {form.name}: {first_line(error)}") from None
    return _checked(frame, file, dropped)


def _unpacked(file: Path) -> bytes:
    try:
        return PACKINGS[file.suffix.lower()](file.read_bytes())
    except TableFileError as error:
        raise TableFileError(f"{file}: {error}") from None
    except (OSError, EOFError, lzma.LZMAError, zlib.error, ValueError) as error:
        if isinstance(error, PermissionError):
            raise
        raise TableFileError(
            f"{file} cannot be unpacked as {file.suffix}: {first_line(error)}; is it cut short, or misnamed?"
        ) from None
    except Exception as error:
        if type(error).__name__ != "ZstdError":
            raise
        raise TableFileError(f"{file} cannot be unpacked as {file.suffix}: {first_line(error)}") from None


def _checked(frame: pl.DataFrame, file: Path, dropped: Collection[str] = ()) -> pl.DataFrame:
    """The frame, if rows can be learned from it; its rarer kinds of columns as numbers."""
    import polars as pl

    if not frame.height:
        raise TableFileError(f"{file} has no rows, only the names of {frame.width} columns")
    if frame.width == 1:
        raise TableFileError(
            f"{file} has one column only, {frame.columns[0]!r:.60}: a target and something to tell it by are needed. "
            "Is the separator one of , ; | and tab?"
        )
    for name, dtype in frame.schema.items():
        if name in dropped:
            continue
        if dtype.is_nested() or dtype in (pl.Binary, pl.Object):
            raise TableFileError(
                f"{file}: column {name!r} holds {dtype}, expected a number, text, truth or date in each cell: take it "
                "apart, or leave it out (--drop)"
            )
        if dtype.is_decimal() or str(dtype) in ("Int128", "UInt128"):
            frame = frame.with_columns(pl.col(name).cast(pl.Float64))
        elif dtype == pl.Time:
            frame = frame.with_columns(pl.col(name).cast(pl.Duration))
    return frame


def infinite_cell(frame: pl.DataFrame) -> tuple[str, int] | None:
    """The column and the row (from 0) of the first infinite number, also one that is spelled as text."""
    import polars as pl
    import polars.selectors as cs

    sums = frame.select(cs.float().sum().is_finite())  # as nearly always, and quicker than a look at each
    for name, dtype in frame.schema.items():
        column = frame[name]
        if name in sums.columns and not sums[name].item():
            infinite = column.is_infinite()
        elif dtype == pl.String and _spells_numbers(column.head(FIRST)) and _spells_numbers(column):
            infinite = _spelled_infinite(column)
        else:
            continue
        place = infinite.fill_null(False).arg_max()
        if place is not None and infinite[place]:
            return name, int(place)
    return None


def _spelled_infinite(texts: pl.Series) -> pl.Series:
    return texts.str.contains(r"(?i)^\s*[+-]?inf(inity)?\s*$").fill_null(False)


def _spells_numbers(texts: pl.Series) -> bool:
    """Is every text a number, infinite or not? Then "inf" is none of its words."""
    import polars as pl

    numbers = texts.cast(pl.Float64, strict=False).is_not_null()
    return bool((numbers | texts.is_null() | _spelled_infinite(texts)).all())


def first_line(error: BaseException) -> str:
    """What an error of a library says, without its advice on that library."""
    return next(iter(str(error).splitlines()), "") or type(error).__name__
