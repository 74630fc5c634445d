"""Files of tables as blocks: Parquet by row groups, Arrow's own format and CSV by files; read by pyarrow."""

from __future__ import annotations

import glob
import io
import os
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pellucid.data.parts import Columns, Part, part_of
from pellucid.data.sources import WAYS
from pellucid.data.text_tables import header_of, separator_of
from pellucid.errors import PellucidError, ShapeError

READ = 1 << 15
"""Rows that a file is read by."""

BUFFER = 1 << 16
"""Bytes of a column that are read from a file at a time, where a page is not larger."""

HEADER = 1 << 16
"""Bytes of a CSV that are looked at for its header."""

MEMORY = 1 << 27
"""Bytes of row groups that are read at once, about."""

FORMATS = {
    ".parquet": "parquet",
    ".pq": "parquet",
    ".feather": "feather",
    ".arrow": "feather",
    ".ipc": "feather",
    ".csv": "csv",
    ".tsv": "tsv",
}
PACKED = (".gz", ".bz2", ".zst", ".lz4")
"""What CSV may be compressed by: what Arrow unpacks."""


class FilesError(PellucidError, ValueError):
    """Files that cannot be read as one table."""


def arrow() -> Any:
    """pyarrow.dataset, or an error that says what to install."""
    try:
        import pyarrow.dataset
    except ImportError as error:
        raise FilesError("reading tables from files needs pyarrow: pip install 'pellucid[files]'") from error
    return pyarrow.dataset


@dataclass(frozen=True, eq=False)
class ArrowBlock:
    """A fragment of a data set of pyarrow's, such as a file; or all of it, where it is filtered."""

    fragment: Any
    schema: Any
    name: str
    rows: int | None

    def read(self, columns: Columns, number: int) -> Iterator[Part]:
        whole = {} if self.schema is None else {"schema": self.schema}
        options = {"batch_size": READ, "batch_readahead": 1, "fragment_readahead": 1, "use_threads": False}
        return _read_batches(
            lambda: self.fragment.to_batches(columns=columns.names, **options, **whole), columns, self.name, number
        )

    def count(self) -> int:
        return int(self.fragment.count_rows()) if self.rows is None else self.rows


@dataclass(frozen=True, eq=False)
class ParquetBlock:
    """A row group. It is read page by page: of one that is larger than memory, little is in memory."""

    fragment: Any
    schema: Any
    name: str
    rows: int

    def read(self, columns: Columns, number: int) -> Iterator[Part]:
        return _read_batches(lambda: self._batches(columns.names), columns, self.name, number)

    def _batches(self, names: list[str]) -> Iterator[Any]:
        import pyarrow.parquet

        fragment, keys = self.fragment, arrow().get_partition_keys(self.fragment.partition_expression)
        file = pyarrow.parquet.ParquetFile(
            fragment.path, filesystem=fragment.filesystem, buffer_size=BUFFER, pre_buffer=False
        )
        stored = [name for name in names if name not in keys]
        wanted = pyarrow.schema([self.schema.field(name) for name in names])
        with file:
            groups = [group.id for group in fragment.row_groups]
            for batch in file.iter_batches(READ, groups, stored, use_threads=False):
                columns = [
                    pyarrow.repeat(pyarrow.scalar(keys[field.name], field.type), len(batch))
                    if field.name in keys
                    else batch.column(field.name).cast(field.type)
                    for field in wanted
                ]
                yield pyarrow.RecordBatch.from_arrays(columns, schema=wanted)

    def count(self) -> int:
        return self.rows


def _read_batches(open_file: Callable[[], Iterator[Any]], columns: Columns, name: str, number: int) -> Iterator[Part]:
    """Batches of Arrow's as parts; its errors in one line, with the file."""
    import pyarrow as pa

    first = 0
    try:
        for batch in open_file():
            if batch.num_rows:
                yield part_of(batch, columns, name, number, first)
                first += batch.num_rows
    except (pa.ArrowException, OSError) as error:
        raise FilesError(f"{name}: {str(error).splitlines()[0]}") from error


class ArrowSource:
    """The files of a data set of pyarrow's."""

    named, has_target = True, False

    def __init__(self, dataset: Any, schema: Any = None) -> None:
        schema = dataset.schema if schema is None else schema
        self.names = tuple(schema.names)
        self.blocks: list[ArrowBlock | ParquetBlock] = []
        try:
            fragments = list(dataset.get_fragments())
        except ValueError:  # of a filtered data set there are none
            self.blocks, self.ways = [ArrowBlock(dataset, None, "the data set", None)], 1
            self.identity = f"a filtered data set of {', '.join(self.names)}"
            return
        largest, described = 1, []
        for fragment in fragments:
            name = getattr(fragment, "path", "a table")
            groups = getattr(fragment, "row_groups", None)
            if groups:
                sizes = [int(group.num_rows) for group in groups]
                largest = max(largest, *(int(group.total_byte_size) for group in groups))
                pieces = zip(fragment.split_by_row_group(), sizes, strict=True)
                self.blocks += [ParquetBlock(piece, schema, name, rows) for piece, rows in pieces if rows]
            else:
                guessed = "Csv" in type(getattr(fragment, "format", None)).__name__
                sizes = [-1 if guessed else int(fragment.count_rows())]
                if sizes[0]:
                    self.blocks.append(ArrowBlock(fragment, schema, name, None if guessed else sizes[0]))
            described.append(f"{os.path.basename(name)} {sizes}")
        self.ways = max(1, min(WAYS, MEMORY // largest))
        self.identity = f"{len(fragments)} files, {zlib.crc32('; '.join(described).encode()):08x}"


def arrow_source(files: Any, exact: Sequence[str] = ()) -> ArrowSource:
    """A path, a folder, a glob, or a list of paths; or a data set of pyarrow's.

    exact: columns of CSV whose whole numbers stay such
    """
    ds = arrow()
    if isinstance(files, ds.Dataset):
        return ArrowSource(files)
    paths = _paths(files)
    kinds = {_format(path) for path in paths}
    if len(kinds) > 1:
        raise FilesError(f"the files are of several formats, {', '.join(sorted(kinds))}: give those of one")
    form = _reader(kinds.pop(), paths)
    try:
        dataset = ds.dataset(paths, format=form)
        schema = _common_schema(list(dataset.get_fragments()), form, exact)
    except (OSError, ValueError) as error:
        if isinstance(error, FilesError):
            raise
        raise FilesError(f"{paths[0]}: {str(error).splitlines()[0]}") from error
    return ArrowSource(ds.dataset(paths, format=form, schema=schema), schema)


def _paths(files: Any) -> list[str]:
    """The files that are meant, in the order of their names."""
    if isinstance(files, str | os.PathLike):
        named = os.fspath(files)
        paths = (
            [str(path) for path in Path(named).rglob("*") if _format(path, strict=False)]
            if os.path.isdir(named)
            else glob.glob(named, recursive=True) or ([named] if os.path.exists(named) else [])
        )
        paths = sorted(path for path in paths if os.path.isfile(path))
    else:
        paths = [os.fspath(path) for path in files]
    absent = [path for path in paths if not os.path.isfile(path)]
    if absent:
        raise FilesError(f"{absent[0]}: there is no such file")
    if not paths:
        raise FilesError(f"{os.fspath(files) if not isinstance(files, Sequence | list) else files!r}: no files match")
    return paths


def is_read_in_parts(path: Any) -> bool:
    """Can rows of such a file be read without those before and behind them, as far as its ending says?"""
    return bool(_format(path, strict=False))


def _format(path: Any, *, strict: bool = True) -> str:
    """What the ending says."""
    suffixes = [suffix for suffix in Path(path).suffixes if suffix.lower() not in PACKED]
    form = FORMATS.get(suffixes[-1].lower() if suffixes else "", "")
    if not form and strict:
        raise FilesError(f"{path}: the ending says no format that is read ({', '.join(FORMATS)})")
    return form


def _reader(kind: str, paths: Sequence[str]) -> Any:
    if kind not in ("csv", "tsv"):
        return kind
    import pyarrow.csv

    separators = {path: "\t" if kind == "tsv" else _separator(path) for path in paths}
    first, *others = separators
    strange = [path for path in others if separators[path] != separators[first]]
    if strange:
        raise FilesError(
            f"{strange[0]}: its header is separated by {separators[strange[0]]!r}, that of {first} by "
            f"{separators[first]!r}: give files of one"
        )
    return arrow().CsvFileFormat(parse_options=pyarrow.csv.ParseOptions(delimiter=separators[first]))


def _separator(path: str) -> str:
    """What stands between the columns of a CSV, told by its header as for tables in memory."""
    import pyarrow as pa

    try:
        with pa.input_stream(path) as content:
            return separator_of(header_of(io.BytesIO(content.read(HEADER))))
    except (pa.ArrowException, OSError) as error:
        raise FilesError(f"{path}: {str(error).splitlines()[0]}") from error


def _common_schema(fragments: list[Any], form: Any, exact: Sequence[str]) -> Any:
    """The columns of all files: the same names, with types that hold the values of all."""
    import pyarrow as pa

    schemas = [fragment.physical_schema for fragment in fragments]
    first = schemas[0]
    for fragment, schema in zip(fragments, schemas, strict=True):
        absent = [name for name in first.names if name not in schema.names]
        extra = [name for name in schema.names if name not in first.names]
        if absent or extra:
            faults = [f"it lacks {', '.join(absent[:5])}"] * bool(absent) + [f"it has {', '.join(extra[:5])}"] * bool(
                extra
            )
            raise FilesError(
                f"{fragment.path}: its columns are not those of {fragments[0].path}: {', and '.join(faults)}"
            )
    twice = [name for name in first.names if first.names.count(name) > 1]
    if twice:
        raise ShapeError(f"{fragments[0].path}: there are several columns {twice[0]!r}: give each a name of its own")
    try:
        schema = pa.unify_schemas(schemas, promote_options="permissive")
    except pa.ArrowException as error:
        raise FilesError(f"{fragments[0].path} and others: {str(error).splitlines()[0]}") from error
    if form in ("parquet", "feather"):
        return schema
    # types of CSV are guessed from the first rows: whole numbers may go on with decimals, nothing with anything
    wider = {pa.int64(): pa.float64(), pa.null(): pa.string()}
    return pa.schema(
        [field if field.name in exact else field.with_type(wider.get(field.type, field.type)) for field in schema]
    )
