"""`pellucid evaluate`: scores of a model on rows with a target."""

from __future__ import annotations

from typing import Annotated

import typer

from pellucid.cli import scores
from pellucid.cli.failures import one_line_errors
from pellucid.cli.saved_model import DataPaths, ModelPath, saved_model
from pellucid.cli.screen import Debug, Json, Quiet, Screen
from pellucid.cli.settings import known
from pellucid.data.table_files import read_tables
from pellucid.markup import plural

TargetName = Annotated[
    list[str] | None,
    typer.Option("--target", "-t", metavar="COLUMN", help="Where the model file alone does not know it."),
]


@one_line_errors
def evaluate(
    model: ModelPath,
    data: DataPaths,
    target: TargetName = None,
    json: Json = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Score a model on the rows of a table that has the target.

    Examples:

    pellucid evaluate runs/houses-1 later.csv

    pellucid evaluate model.pel later.csv --target price --json
    """
    screen = Screen(as_json=json, quiet=quiet)
    saved = saved_model(model, tuple(target or ()))
    frame = read_tables(data)
    known(saved.targets, frame.columns, "the target")
    where = ", ".join(data)
    rows = frame.drop_nulls(saved.targets)
    inputs, truth = saved.inputs(rows, screen, where), saved.truth(rows, where)
    if rows.height < frame.height:
        screen.note(f"{plural(frame.height - rows.height, 'row')} without a target left out")
    marks = scores.scores_of(saved.estimator, inputs, truth, several=saved.several)
    screen.say(f"{saved.path} on {plural(rows.height, 'row')} of {where}", scores.shown({"network": marks}))
    screen.result({"model": str(saved.path), "rows": rows.height, "scores": marks})
