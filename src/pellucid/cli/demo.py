"""`pellucid demo`: `pellucid train` on a table that comes with the package, from a picture to what to look at next."""

from __future__ import annotations

import tempfile
from importlib.resources import as_file, files
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.text import Text

from pellucid.cli.failures import one_line_errors
from pellucid.cli.interrupts import stoppable
from pellucid.cli.run_folder import REPORT, RunFolder
from pellucid.cli.screen import Debug, Json, Quiet, Screen
from pellucid.cli.settings import TrainSettings

TABLE = "adult"
EPOCHS, FOLDS = 12, 1
"""Fewer than "auto" takes for these rows, so that it is soon done, on busy machines too."""

DRAWN = ("age", "education_num")


@one_line_errors
def demo(
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", metavar="FOLDER", help="Where the run goes; by default a new temporary folder."),
    ] = None,
    lecture: Annotated[
        bool, typer.Option("--lecture", help="Trace tables, and XOR by gradient descent, instead.")
    ] = False,
    json: Json = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Train, test and explain a model of a real table that comes with the package; under a minute.

    Example: pellucid demo --out runs/demo
    """
    if lecture:
        from pellucid.demo import show_lecture

        show_lecture(Console())
        return
    from pellucid.cli.training import run
    from pellucid.datasets.tables import TABLES

    screen = Screen(as_json=json, quiet=quiet)
    info = TABLES[TABLE]
    folder = Path(tempfile.mkdtemp(prefix="pellucid-")) / "demo" if out is None else out
    screen.say(Text.assemble(("Pellucid ", "bold"), info.title), Text(f"{info.citation} ({info.licence})\n", "dim"))
    screen.say(_opening(screen.console))
    with as_file(files("pellucid.datasets").joinpath(f"{TABLE}.csv.xz")) as path, stoppable() as stop:
        screen.say(
            Text.assemble(
                ("\n$ ", "dim"),
                (f"pellucid train {path.name} --target {info.target} --epochs {EPOCHS} --folds {FOLDS}\n", "bold cyan"),
            )
        )
        settings = TrainSettings([str(path)], [info.target], epochs=EPOCHS, folds=FOLDS, out=str(folder))
        outcome = run(settings, screen, stop)
    _say_next(screen, RunFolder(folder))
    screen.result(outcome)


def _opening(console: Console) -> Text:
    """The table as a picture: who earns more, by age and schooling."""
    from pellucid.datasets import load
    from pellucid.demo.picture import picture

    table = load(TABLE)
    x, y = (table.X[name].to_numpy(float) for name in DRAWN)
    is_so = (table.y == ">50K").to_numpy()
    names = "age", "years at school; the lighter, the more earn over $50,000"
    return picture(x, y, is_so, names, colour=console.color_system is not None and not console.no_color)


def _say_next(screen: Screen, folder: RunFolder) -> None:
    screen.heading("What to look at next")
    for words, why in (
        (f"{folder[REPORT]}", "open it in a browser: curves, layers, quality, what columns are worth"),
        (f"pellucid inspect {folder.path}", "the networks inside"),
        ("pellucid train YOUR.csv --target COLUMN", "the same with a table of yours"),
        ("pellucid demo --lecture", "how derivatives are made"),
        ("pellucid lab", "the experiments of the lectures"),
    ):
        screen.say(Text.assemble("  ", (words, "cyan")), wrap=False)
        screen.say(Text(f"      {why}", "dim"))
