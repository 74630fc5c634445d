"""`pellucid predict`: what a model says of new rows, in a file."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import typer

from pellucid.cli.failures import Failure, one_line_errors
from pellucid.cli.larger_than_memory import is_streamed, streamed_frames
from pellucid.cli.saved_model import DataPaths, ModelPath, SavedModel, saved_model
from pellucid.cli.screen import Debug, Json, Quiet, Screen
from pellucid.cli.settings import known
from pellucid.data.table_files import FORMS, PACKINGS, form_of, read_table_file, table_files
from pellucid.data.table_writers import TableWriter
from pellucid.markup import plural
from pellucid.whole_files import whole_file

if TYPE_CHECKING:
    import polars as pl

CHUNK = 50_000
"""Rows that are predicted at once."""


@one_line_errors
def predict(
    model: ModelPath,
    data: DataPaths,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "-o",
            metavar="FILE",
            help="CSV, TSV, Parquet, Feather or JSON lines, by its suffix; else CSV is printed.",
        ),
    ] = None,
    probabilities: Annotated[
        bool, typer.Option("--probabilities/--no-probabilities", help="A column for each class.")
    ] = True,
    interval: Annotated[
        float | None,
        typer.Option(metavar="SHARE", help="Ends that hold the truth with this probability, such as 0.9; for numbers."),
    ] = None,
    keep: Annotated[
        list[str] | None, typer.Option(metavar="COLUMN", help="Copy a column of the table; may be repeated.")
    ] = None,
    keep_all: Annotated[bool, typer.Option("--keep-all", help="Copy all of them.")] = False,
    json: Json = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Predict the rows of a table.

    Columns are taken by their names: their order does not matter, and others are left aside.

    Examples:

    pellucid predict runs/houses-1 new.csv -o predicted.csv

    pellucid predict runs/houses-1 new.csv --interval 0.9 --keep id > predicted.csv
    """
    screen = Screen(as_json=json, quiet=quiet or (out is None and not json))
    if out is not None and out.suffix.lower() in PACKINGS:
        raise Failure(f"{out}: predictions are written unpacked: leave {out.suffix} out")
    form = FORMS[".csv"] if out is None else form_of(out)
    saved = saved_model(model)
    if interval is not None and (saved.classes or not 0 < interval < 1):
        what = "the model tells classes: their probabilities are there" if saved.classes else f"got {interval:g}"
        raise Failure(f"--interval is a probability between 0 and 1, for a model of numbers; {what}")
    parts = _predicted(saved, data, screen, keep or [], keep_all, probabilities, interval)
    if out is None and json:
        import polars as pl

        answers = pl.concat(parts, how="vertical_relaxed")
        screen.result({"rows": answers.height, "columns": answers.columns, "predictions": answers.to_dicts()})
        return
    with contextlib.nullcontext(sys.stdout.buffer) if out is None else whole_file(out) as file:
        rows, columns = _written(parts, form.writer(file))
    screen.say(f"{plural(rows, 'row')} predicted: {out}", wrap=False)
    screen.result({"rows": rows, "columns": columns, "file": str(out)})


def _written(parts: Iterator[pl.DataFrame], writer: TableWriter) -> tuple[int, list[str]]:
    """Write answers as they come; how many rows there are, of which columns."""
    rows, columns = 0, list[str]()
    for part in parts:
        writer.write(part)
        rows, columns = rows + part.height, part.columns
    writer.close()
    return rows, columns


def _predicted(
    saved: SavedModel,
    data: list[str],
    screen: Screen,
    keep: list[str],
    keep_all: bool,
    probabilities: bool,
    interval: float | None,
) -> Iterator[pl.DataFrame]:
    """Answers for each part of each file."""
    for file in table_files(data):
        for number, frame in enumerate(_frames(file)):
            copied = frame.columns if keep_all else known(keep, frame.columns, "--keep")
            said = screen if not number else Screen(quiet=True)
            answers = answers_of(saved, saved.inputs(frame, said, str(file)), probabilities, interval)
            taken = [name for name in answers.columns if name in copied]
            if taken:
                raise Failure(f"--keep {taken[0]!r}: a column of the predictions has this name: rename it in {file}")
            yield frame.select(copied).hstack(answers) if copied else answers


def _frames(file: Path) -> Iterator[pl.DataFrame]:
    """The rows of a file in parts; one that is larger than memory is read in parts, too."""
    if is_streamed([file], None):
        yield from streamed_frames(file)
        return
    whole = read_table_file(file)
    for start in range(0, whole.height, CHUNK):
        yield whole[start : start + CHUNK]


def answers_of(
    saved: SavedModel, X: pl.DataFrame, probabilities: bool = True, interval: float | None = None
) -> pl.DataFrame:
    """A column for each target, and for each class its probability, or the ends of the interval."""
    import polars as pl

    estimator, names = saved.estimator, saved.targets or ("target",)
    answer = np.asarray(estimator.predict(X))
    columns: dict[str, Any] = {}
    for place, values in enumerate(np.atleast_2d(answer.T) if answer.ndim > 1 or not saved.classes else [answer]):
        columns[f"predicted_{names[place] if len(names) > place else place + 1}"] = values
    if saved.classes and probabilities and hasattr(estimator, "predict_proba"):
        likely = np.asarray(estimator.predict_proba(X), np.float64)
        labels = names if saved.several else saved.classes
        columns |= {f"probability_{label}": likely[:, place] for place, label in enumerate(labels)}
    if interval is not None:
        for end, values in zip(("low", "high"), estimator.predict_interval(X, interval), strict=True):
            for place, column in enumerate(np.atleast_2d(np.asarray(values).T)):
                columns[f"{end}_{names[place] if len(names) > place else place + 1}"] = column
    return pl.DataFrame(columns)
