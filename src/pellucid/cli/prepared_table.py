"""From files to rows that train and rows that test: columns told apart, the useless left out, leaks suspected."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from rich.text import Text

from pellucid.cli import table_columns
from pellucid.cli.failures import Failure
from pellucid.cli.larger_than_memory import LookedAt, StreamedRows, is_streamed, looked_at
from pellucid.cli.leaks import suspected_leaks
from pellucid.cli.screen import Screen
from pellucid.cli.settings import TrainSettings, known
from pellucid.cli.target import Target, target_of
from pellucid.data.dependence import Dependence, dependence_of
from pellucid.data.splits import by_fraction_of_classes, evenly
from pellucid.data.table_files import first_rows, infinite_cell, read_tables, table_files
from pellucid.data.types import Array
from pellucid.markup import listed, plural
from pellucid.processors import default_threads

if TYPE_CHECKING:
    import polars as pl

FEWEST = 10
"""Rows that a table must have."""


@dataclass(frozen=True, eq=False)
class PreparedTable:
    """The table: columns to tell by, the target, which rows train and which test, and what was noticed.

    Of a table larger than memory X has some rows, and `stream` all that train. `dependence` is what rows have in common
    (groups, or an order of time); `left_out` are columns with the reason; `without_target` and `of_new_classes` count
    rows that take no part.
    """

    files: list[Path]
    X: pl.DataFrame
    target: Target
    training: Array
    testing: Array
    stream: StreamedRows | None
    dependence: Dependence | None
    notes: list[table_columns.ColumnNote]
    left_out: dict[str, str]
    leaks: dict[str, float]
    without_target: int
    of_new_classes: int

    def part(self, rows: Array) -> tuple[pl.DataFrame, Array]:
        """(X, y) of some rows."""
        return _taken(self.X, rows), self.target.take(rows)

    def named_part(self, rows: Array) -> tuple[pl.DataFrame, Any]:
        """(X, y) of some rows; several targets are a data frame with their names."""
        import polars as pl

        X, y = self.part(rows)
        return X, y if y.ndim == 1 else pl.DataFrame(y, schema=list(self.target.names))

    def some(self, rows: Array, most: int) -> Array:
        """At most so many of the rows, evenly taken, and one of each class."""
        picked, codes = rows[evenly(len(rows), most)], self.target.strata
        if codes is None:
            return picked
        return np.union1d(picked, rows[np.unique(codes[rows], return_index=True)[1]])

    @property
    def training_rows(self) -> int:
        """How many rows train."""
        return len(self.training) if self.stream is None else self.stream.rows

    @property
    def fit_parameters(self) -> dict[str, Any]:
        """Groups or times of the training rows, for `fit`."""
        return {} if self.dependence is None else self.dependence.take(self.training).fit_parameters


def _taken(frame: pl.DataFrame, rows: Array) -> pl.DataFrame:
    """Some rows. Of most of them, in their order, each column leaves out the others, and lies in one piece then."""
    import polars as pl

    if 2 * len(rows) < frame.height or not np.all(rows[1:] > rows[:-1]):
        return frame[rows]
    taken = np.zeros(frame.height, bool)
    taken[rows] = True
    mask = pl.Series(taken)
    with ThreadPoolExecutor(default_threads()) as pool:
        return pl.DataFrame(list(pool.map(lambda column: column.filter(mask).rechunk(), frame)))


def prepared_table(settings: TrainSettings) -> PreparedTable:
    """Read the files, tell the columns apart, and split. Of a table larger than memory, some rows are read."""
    files = _asked_files(settings)
    if is_streamed(files, settings.stream):
        some = looked_at(settings, files)
        return _prepared(settings, files, some.frame, some)
    return _prepared(settings, files, read_tables(files, settings.drop or ()))


@dataclass(frozen=True, eq=False)
class FirstOfTable:
    """The first rows of a table that is being read: (X, y) as if they were all, and how many will train, about."""

    X: pl.DataFrame
    target: Target
    rows: int


def first_of_table(settings: TrainSettings) -> FirstOfTable | None:
    """The first rows of a large table; None of one that is small, streamed, or has to be read as a whole."""
    files = _asked_files(settings)
    first = None if is_streamed(files, settings.stream) else first_rows(files)
    if first is None:
        return None
    columns = _columns(settings, first.frame)
    return FirstOfTable(columns.X, columns.target, int(first.rows * (1 - settings.test)))


@dataclass(frozen=True, eq=False)
class _Columns:
    """What is told by, what is told, and what rows have in common; `texts` are those that hold dates or numbers."""

    X: pl.DataFrame
    target: Target
    dependence: Dependence | None
    texts: dict[str, str]
    left_out: dict[str, str]


def _columns(settings: TrainSettings, frame: pl.DataFrame) -> _Columns:
    """The columns of a table told apart, without those that are useless; rows without a target are left out."""
    names, frame = _asked_columns(settings, frame)
    frame = frame.drop_nulls(names)
    if frame.height < FEWEST:
        raise Failure(f"the table has {plural(frame.height, 'row')} with a target, and {FEWEST} are needed: give more")
    target = target_of(frame, names, settings.task)
    dependence, no_feature = _dependence(frame, settings)
    X = frame.drop([*names, *no_feature])
    texts = table_columns.text_kinds(X)
    left_out = table_columns.useless(X, texts) | dict.fromkeys(no_feature, "it names the groups of the split")
    X = X.drop([name for name in left_out if name in X.columns])
    if not X.width:
        raise Failure(f"no column is left to tell {listed(names)} by: {_reasons(left_out) or 'the table has no other'}")
    return _Columns(X, target, dependence, texts, left_out)


def _prepared(
    settings: TrainSettings, files: list[Path], frame: pl.DataFrame, some: LookedAt | None = None
) -> PreparedTable:
    """A table that has been read.   some: of one larger than memory, whose rows are the frame"""
    columns = _columns(settings, frame)
    X, target, stream = columns.X, columns.target, None if some is None else some.stream
    if stream is not None:
        if target.several:
            raise Failure("several labels at once are trained in memory: train one model for each, or say --no-stream")
        stream = replace(stream, data=stream.data.select(X.columns))
    training, drawn = _split(target, columns.dependence, settings) if some is None else (some.training, some.testing)
    testing = _of_known_classes(target, training, drawn)
    with ThreadPoolExecutor(1) as beside:
        leaks = beside.submit(suspected_leaks, X, target, training)
        notes = table_columns.column_notes(X, columns.texts, settings.categorical or ())
    return PreparedTable(
        files=files,
        X=X,
        target=target,
        training=training,
        testing=testing,
        stream=stream,
        dependence=columns.dependence,
        notes=notes,
        left_out=columns.left_out,
        leaks=leaks.result(),
        without_target=frame.height - X.height,
        of_new_classes=len(drawn) - len(testing),
    )


def _asked_files(settings: TrainSettings) -> list[Path]:
    """The files of the table, if all that must be said is said."""
    if not settings.data:
        raise Failure("which table? Give a file: pellucid train data.csv --target COLUMN")
    if not settings.target:
        raise Failure("which column is to be predicted? Say --target COLUMN")
    if not 0 < settings.test < 1:
        raise Failure(f"--test is a share of the rows between 0 and 1, got {settings.test:g}")
    return table_files(settings.data)


def _asked_columns(settings: TrainSettings, frame: pl.DataFrame) -> tuple[list[str], pl.DataFrame]:
    """The columns of the target, and the table without what is to be dropped; all numbers in it are finite."""
    targets = known(dict.fromkeys(settings.target or ()), frame.columns, "--target")
    dropped = known(settings.drop or (), frame.columns, "--drop")
    known(settings.categorical or (), frame.columns, "--categorical")
    if set(targets) & set(dropped):
        raise Failure(f"{listed(sorted(set(targets) & set(dropped)))} is both --target and --drop: which?")
    frame = frame.drop(dropped)
    where = infinite_cell(frame)
    if where is not None:
        raise Failure(
            f"column {where[0]!r} is infinite in row {where[1] + 1}: leave the cell empty if it is unknown, or "
            f"--drop {where[0]!r}"
        )
    return targets, frame


def _reasons(left_out: dict[str, str]) -> str:
    return "; ".join(f"{name!r}: {reason}" for name, reason in left_out.items())


def _dependence(frame: pl.DataFrame, settings: TrainSettings) -> tuple[Dependence | None, list[str]]:
    """Groups or times, and the columns that are no feature then."""
    kind, name = settings.column_of_split
    if name is None:
        return None, []
    known([name], frame.columns, f"--split {kind}:")
    column = frame[name]
    if column.null_count():
        raise Failure(f"--split {kind}:{name}: the column is empty in {plural(column.null_count(), 'row')}: fill it")
    if kind == "group":
        return dependence_of(frame, column.to_numpy(), None), [name]
    return dependence_of(frame, None, table_columns.moments_of(column)), []


def _split(target: Target, dependence: Dependence | None, settings: TrainSettings) -> tuple[Array, Array]:
    """Numbers of the rows that train and of those that test."""
    rng = np.random.RandomState(settings.seed)
    if dependence is not None:
        return dependence.hold_out(settings.test, target.strata, rng)
    count = len(target.values)
    training, testing = by_fraction_of_classes(count, target.strata, settings.test, rng)
    if len(testing) < 2:
        raise Failure(f"{settings.test:g} of {count} rows are too few to test with: raise --test")
    return training, testing


def _of_known_classes(target: Target, training: Array, testing: Array) -> Array:
    """The rows to test with, without those of classes that no row trains: the latest rows may have such."""
    codes = target.strata
    if codes is None:
        return testing
    known_rows = testing[np.isin(codes[testing], codes[training])]
    if len(known_rows) < 2:
        raise Failure("no row that is to test is of a class that is trained on: take another --split")
    return known_rows


# on the screen


def say_table(screen: Screen, table: PreparedTable, settings: TrainSettings) -> None:
    """What was inferred."""
    names = ", ".join(file.name for file in table.files[:3]) + (" ..." if len(table.files) > 3 else "")
    rows = table.training_rows + len(table.testing) + table.of_new_classes
    streamed = "" if table.stream is None else ", larger than memory: streamed"
    if table.stream is not None and table.stream.data.sharing is not None:
        streamed = ", of which each process reads its share"
    elif settings.stream:
        streamed = ", streamed"
    screen.say(
        Text.assemble(
            (names, "bold"), f": {plural(rows, 'row')}, {plural(table.X.width, 'column')} to tell by{streamed}"
        )
    )
    screen.say(table_columns.shown(table.notes))
    kind = "classification" if table.target.classes else "regression"
    screen.say(
        Text.assemble("\n", ("target ", "bold"), table.target.described()),
        Text.assemble(
            ("task   ", "bold"), (kind, "cyan"), (f", for {table.target.why} (--task says otherwise)", "dim")
        ),
    )
    how = {"random": "drawn", "time": "the latest rows", "group": "whole groups"}[settings.column_of_split[0]]
    screen.say(
        Text.assemble(
            ("rows   ", "bold"),
            f"{table.training_rows:,} to learn from, {len(table.testing):,} to test",
            (f" ({how}; seed {settings.seed})", "dim"),
        )
    )
    if table.without_target:
        screen.note(f"{plural(table.without_target, 'row')} without a target left out")
    if table.of_new_classes:
        screen.note(f"{plural(table.of_new_classes, 'row')} to test of classes that no training row has left out")
    for name, reason in table.left_out.items():
        screen.note(f"{name!r} left out: {reason}")
    for name, share in table.leaks.items():
        screen.note(
            f"{name!r} alone tells {share:.1%} of the target: does it give it away, known only afterwards? Then run "
            f"again with --drop {name!r}"
        )
