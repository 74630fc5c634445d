"""`pellucid tune`: a search for settings that suit a table."""

from __future__ import annotations

import warnings
from typing import Annotated, Any

import typer
from rich.text import Text

from pellucid.cli import run_folder
from pellucid.cli.failures import Interrupted, needs, one_line_errors
from pellucid.cli.interrupts import stoppable
from pellucid.cli.screen import Debug, Json, Quiet, Screen, grid
from pellucid.cli.settings import Column, Quality, Task, TrainSettings
from pellucid.markup import number

SHOWN = 8
"""Trials that are shown, the best first."""


@one_line_errors
def tune(
    data: Annotated[list[str], typer.Argument(metavar="DATA", help="Files, or a pattern in quotes.")],
    target: Annotated[Column, typer.Option("--target", "-t", metavar="COLUMN", help="What is to be predicted.")] = None,
    drop: Annotated[Column, typer.Option("--drop", "-d", metavar="COLUMN", help="Leave a column out.")] = None,
    split: Annotated[str, typer.Option(metavar="random|time:COLUMN|group:COLUMN", help="Which rows test.")] = "random",
    task: Annotated[Task, typer.Option(help="Classes or numbers; auto tells by the target.")] = Task.AUTO,
    quality: Annotated[Quality, typer.Option(help="What every trial is worth.")] = Quality.FAST,
    budget: Annotated[float | None, typer.Option(metavar="SECONDS", help="For all; 60 without --trials.")] = None,
    trials: Annotated[int | None, typer.Option(metavar="N", help="Settings that are tried at most.")] = None,
    metric: Annotated[str | None, typer.Option("--metric", "-m", metavar="NAME", help="What is best.")] = None,
    storage: Annotated[
        str | None, typer.Option(metavar="ADDRESS", help="Of a database: several processes share one search.")
    ] = None,
    out: Annotated[str | None, typer.Option("--out", "-o", metavar="FOLDER", help="Folder of the run.")] = None,
    seed: Annotated[int, typer.Option("--seed", "-s", help="Of everything that is drawn.")] = 0,
    json: Json = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Search for settings that suit a table, and train with the best; writes a run folder, too.

    Needs Optuna: pip install 'pellucid[optuna]'.

    With --storage, as sqlite:///search.db, several processes or machines work on one search of --trials.

    Example: pellucid tune houses.csv --target price --budget 300
    """
    needs("optuna", "optuna", "tune")
    from pellucid.cli.prepared_table import prepared_table, say_table
    from pellucid.cli.run_folder import RunFolder, fingerprint_of
    from pellucid.cli.training import written
    from pellucid.cli.unfitted_estimator import unfitted
    from pellucid.estimators import tune as search

    screen = Screen(as_json=json, quiet=quiet)
    settings = TrainSettings(
        data, target, drop, split=split, stream=False, task=task, quality=quality, metric=metric, out=out, seed=seed
    )
    table = prepared_table(settings)
    estimator = unfitted(settings, table.target)
    folder = RunFolder.new(out, table.files)
    folder.begin(settings, fingerprint_of(table.files))
    say_table(screen, table, settings)
    X, y = table.part(table.training)
    with stoppable() as stop, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the table of columns tells what they are taken for
        found = search(
            X,
            y,
            budget=budget,
            trials=trials,
            estimator=estimator,
            metric=metric,
            random_state=seed,
            storage=storage,
            study=" ".join((*table.target.names, fingerprint_of(table.files)[:12])),
            verbose=not screen.silent,
            **table.fit_parameters,
        )
    best: Any = found.best_estimator
    best.save(folder[run_folder.MODEL])
    found.to_frame().to_csv(folder["trials.csv"], index=False)
    folder.reach(run_folder.TRAINED, seconds=found.seconds)
    _say_trials(screen, found)
    outcome = written(best, table, folder, screen, [])
    folder.reach(run_folder.DONE)
    screen.say(f"\n{folder.path}: the model, metrics.json, trials.csv", wrap=False)
    screen.result(outcome | {"best": found.best_params, "trials": len(found.trials)})
    if stop.signal is not None:
        raise Interrupted(stop.signal, f"the best model so far is in {folder.path}")


def _say_trials(screen: Screen, found: Any) -> None:
    screen.heading("Trials", f"{len(found.trials)} in {found.seconds:.0f} s, the best first")
    table = grid("trial", found.metric, "settings", right=(0, 1), long=2)
    for trial in found.ranked()[:SHOWN]:
        settings = ", ".join(f"{name} {_short(value)}" for name, value in trial.params.items())
        table.add_row(str(trial.number), number(float(trial.value)), Text(settings or "as they come"))
    screen.say(table)


def _short(value: object) -> str:
    return number(value) if isinstance(value, float) else str(value)
