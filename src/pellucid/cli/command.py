"""The command `pellucid`: its words, each in a file of its own."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Annotated, Any

import typer

from pellucid import __version__
from pellucid.cli.bench import bench
from pellucid.cli.compare import compare
from pellucid.cli.demo import demo
from pellucid.cli.evaluate import evaluate
from pellucid.cli.export import export
from pellucid.cli.failures import WrongWords, end
from pellucid.cli.info import info
from pellucid.cli.inspect import inspect
from pellucid.cli.lab import lab
from pellucid.cli.predict import predict
from pellucid.cli.report import report
from pellucid.cli.serve import serve
from pellucid.cli.train import train
from pellucid.cli.tune import tune
from pellucid.cli.warmup import warmup

app = typer.Typer(
    help="Multilayer perceptrons that you can see through: from a table to a trained, explained, exported model.",
    epilog="Begin with: pellucid demo, or pellucid train YOUR.csv --target COLUMN",
    context_settings={"help_option_names": ["-h", "--help"]},
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,  # errors are one line; with --debug they are Python's own
)
MODELS, LOOKING, LEARNING, MACHINE = "Make and use models", "Look at them", "Learn", "This machine"
for word, panel in {
    **dict.fromkeys((train, predict, evaluate, tune, export, serve), MODELS),
    **dict.fromkeys((inspect, report, compare), LOOKING),
    **dict.fromkeys((demo, lab), LEARNING),
    **dict.fromkeys((info, warmup, bench), MACHINE),
}.items():
    app.command(name=word.__name__.lstrip("_"), rich_help_panel=panel)(word)


@app.callback(invoke_without_command=True)
def pellucid(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Print the version.", is_eager=True)] = False,
) -> None:
    if version:
        typer.echo(f"pellucid {__version__}")
        raise typer.Exit
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


def main(arguments: Sequence[str] | None = None) -> None:
    """The command line; returns where all went well."""
    words = sys.argv[1:] if arguments is None else list(arguments)
    try:
        try:
            code = app(args=words, prog_name="pellucid", standalone_mode=False)
        except WrongWords as error:
            end(_said_of(error), as_json="--json" in words)
    except typer.Exit as exit:
        code = exit.exit_code
    if code:
        sys.exit(code)


def _said_of(error: Any) -> str:
    """What typer has to say of wrong words, and where the right ones are."""
    path = error.ctx.command_path if error.ctx is not None else "pellucid"
    return f"{' '.join(error.format_message().split()).rstrip('.')}: see {path} --help"
