"""`pellucid warmup`: kernels compiled ahead of time, for a container or a first fit that does not wait."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from pellucid.cli.told import print_json, told


def warmup(
    model: Annotated[
        Path | None, typer.Argument(help="A model's file: compile what its predictions need, and nothing else.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="For machines.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Say nothing.")] = False,
) -> None:
    """Compile kernels now, so that a first fit or prediction does not wait for them.

    Examples: `pellucid warmup`, `pellucid warmup model.pel`. A second call finds them and returns at once.
    """
    from rich.console import Console

    from pellucid.estimators.warmup import warmup as warm
    from pellucid.loading import load

    with told():
        loaded = None if model is None else load(model)
        console = Console(stderr=True, quiet=quiet or as_json)
        with console.status("compiling kernels for this machine, some seconds") as status:
            done = warm(loaded, tell=lambda part: status.update(f"compiling: {part}"))
    if as_json:
        print_json(asdict(done))
    elif not quiet:
        typer.echo(str(done))
