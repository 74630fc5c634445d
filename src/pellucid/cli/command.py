"""The command `pellucid`: one function for each of its words."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from pellucid import __version__
from pellucid.cli.lab import lab
from pellucid.cli.train import train

app = typer.Typer(
    help="Multilayer perceptrons that you can see through.", no_args_is_help=True, rich_markup_mode="rich"
)
app.command(name="train")(train)
app.command()(lab)


@app.callback(invoke_without_command=True)
def pellucid(
    version: Annotated[bool, typer.Option("--version", help="Print the version.", is_eager=True)] = False,
) -> None:
    if version:
        typer.echo(f"pellucid {__version__}")
        raise typer.Exit


@app.command()
def demo(
    out: Annotated[Path | None, typer.Option(metavar="FOLDER", help="Keep the model's file here.")] = None,
    lecture: Annotated[bool, typer.Option(help="Trace tables, and XOR by gradient descent, instead.")] = False,
) -> None:
    """Train, compare, save, load and use a model of a real table."""
    from rich.console import Console

    from pellucid.demo import show_lecture, show_table_model

    if lecture:
        show_lecture(Console())
    else:
        show_table_model(Console(), out)


def main(arguments: Sequence[str] | None = None) -> None:
    """The command line; returns where all went well."""
    try:
        app(args=None if arguments is None else list(arguments), prog_name="pellucid")
    except SystemExit as end:
        if end.code:
            raise
