"""`pellucid report`: the page about a run, made again."""

from __future__ import annotations

import webbrowser
from pathlib import Path
from typing import Annotated

import typer

from pellucid.cli.failures import one_line_errors
from pellucid.cli.run_folder import RunFolder
from pellucid.cli.saved_model import saved_model
from pellucid.cli.screen import Debug, Json, Quiet, Screen

RunPath = Annotated[Path, typer.Argument(metavar="RUN", help="A run folder.")]


@one_line_errors
def report(
    run: RunPath,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", metavar="FILE", help="By default report.html of the run.")
    ] = None,
    look: Annotated[bool, typer.Option("--open", help="Open it in a browser.")] = False,
    json: Json = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Write the page about a run: curves, layers, quality, what columns are worth.

    The table of the run is read again, from where it was.

    Example: pellucid report runs/houses-1 --open
    """
    from pellucid.cli.prepared_table import prepared_table
    from pellucid.cli.training import write_report

    screen = Screen(as_json=json, quiet=quiet)
    folder = RunFolder.existing(run)
    saved, settings = saved_model(run), folder.settings()
    path = write_report(saved.estimator, prepared_table(settings), settings, folder, out)
    screen.say(f"{path}: open it in a browser", wrap=False)
    screen.result({"report": str(path)})
    if look:
        webbrowser.open(path.resolve().as_uri())
