"""`pellucid train`: from a table to a model, explained, in a folder of its own."""

from __future__ import annotations

import contextlib
import dataclasses
import inspect
import sys
from pathlib import Path
from typing import Annotated, Any, get_type_hints

import typer

from pellucid.cli.failures import one_line_errors
from pellucid.cli.interrupts import stoppable
from pellucid.cli.run_folder import DONE, RunFolder
from pellucid.cli.screen import Debug, Json, Quiet, Screen
from pellucid.cli.settings import RUN, TrainSettings

Config = Annotated[
    Path | None,
    typer.Option(
        "--config", metavar="FILE", help="Settings of a run (config.toml); options go first.", rich_help_panel=RUN
    ),
]
Resume = Annotated[
    Path | None,
    typer.Option("--resume", metavar="RUN", help="Complete a run that was stopped or killed.", rich_help_panel=RUN),
]
Processes = Annotated[
    int | None,
    typer.Option(
        "--processes",
        metavar="N",
        min=1,
        help="Train by N processes of this machine together, each with its share of the table (needs the extra jax).",
        rich_help_panel=RUN,
    ),
]


def _train(
    context: typer.Context,
    config: Config = None,
    resume: Resume = None,
    processes: Processes = None,
    json: Json = False,
    quiet: Quiet = False,
    debug: Debug = False,
    **settings: Any,
) -> None:
    """Train a model of a table, test it, explain it, and write it to a folder.

    Kinds of columns and the task are told by the table; missing values, categories and dates are taken care of.

    Examples:

    pellucid train houses.csv --target price

    pellucid train 'sales/*.parquet' -t turnover --split time:day --drop id

    pellucid train patients.csv.gz -t outcome --quality best --out runs/final

    pellucid train --config runs/houses-1/config.toml --seed 1
    """
    from pellucid.cli.processes import hush_libraries, is_one_of_several, launch, trained_together
    from pellucid.cli.training import run

    if processes is None and resume is not None and RunFolder.existing(resume).state().get("together"):
        processes = 1  # which reads the table as several do
    if processes is not None and not is_one_of_several():
        launch(sys.argv[2:], processes, resume)
        return
    if is_one_of_several():
        hush_libraries()
    screen = Screen(as_json=json, quiet=quiet)
    together = trained_together() if is_one_of_several() else contextlib.nullcontext()
    with stoppable() as stop, together:
        if resume is not None:
            folder = RunFolder.existing(resume)
            if folder.state().get("stage") == DONE:
                screen.say(f"{resume} is complete: there is nothing to resume")
                screen.result(folder.metrics())
                return
            screen.result(run(folder.settings(), screen, stop, folder))
            return
        given = TrainSettings.from_toml(config) if config is not None else {}
        said = {name: value for name, value in settings.items() if _was_said(context, name)}
        if config is not None and "out" not in said:
            given.pop("out", None)  # that folder holds the first run
        screen.result(run(TrainSettings.of(given | said), screen, stop))


def _was_said(context: typer.Context, name: str) -> bool:
    """Is an option on the command line? (typer's contexts have sources of their own kind, or click's.)"""
    source = context.get_parameter_source(name)
    return source is not None and not source.name.startswith("DEFAULT")


def with_settings(function: Any, settings: type) -> Any:
    """A command whose `**settings` are options: one for each field of a record of settings."""
    own = inspect.signature(function)
    hints = get_type_hints(settings, include_extras=True)
    fields = [
        inspect.Parameter(
            field.name, inspect.Parameter.KEYWORD_ONLY, default=field.default, annotation=hints[field.name]
        )
        for field in dataclasses.fields(settings)
    ]
    kept = [
        parameter.replace(
            kind=inspect.Parameter.KEYWORD_ONLY, annotation=get_type_hints(function, include_extras=True)[name]
        )
        for name, parameter in own.parameters.items()
        if parameter.kind is not inspect.Parameter.VAR_KEYWORD
    ]
    command = one_line_errors(function)
    command.__signature__ = own.replace(parameters=[*fields, *kept])  # type: ignore[attr-defined]
    command.__annotations__ = {each.name: each.annotation for each in (*fields, *kept)}
    return command


train = with_settings(_train, TrainSettings)
