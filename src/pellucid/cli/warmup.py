"""`pellucid warmup`: kernels compiled ahead of time, for a container or a first fit that does not wait."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from pellucid.cli.failures import one_line_errors
from pellucid.cli.screen import Debug, Json, Quiet, Screen


@one_line_errors
def warmup(
    model: Annotated[
        Path | None, typer.Argument(help="A model's file: compile what its predictions need, and nothing else.")
    ] = None,
    json: Json = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Compile kernels now, so that a first fit or prediction does not wait for them.

    A second call finds them and returns at once.

    Examples:

    pellucid warmup

    pellucid warmup model.pel
    """
    from rich.console import Console

    from pellucid.estimators.warmup import warmup as warm
    from pellucid.loading import load

    screen = Screen(as_json=json, quiet=quiet)
    loaded = None if model is None else load(model)
    console = Console(stderr=True, quiet=screen.silent)
    with console.status("compiling kernels for this machine, some seconds") as status:
        compiled = warm(loaded, tell=lambda part: status.update(f"compiling: {part}"))
    screen.say(str(compiled))
    screen.result(asdict(compiled))
