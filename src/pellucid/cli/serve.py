"""`pellucid serve`: a model behind HTTP."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from pellucid.cli.failures import needs, one_line_errors
from pellucid.cli.screen import Debug, Quiet, Screen

NEEDED = ("starlette", "uvicorn", "prometheus_client")
ENDPOINTS = (
    "GET  /schema          columns, types, an example",
    "POST /predict         a row, rows or columns as JSON",
    "POST /predict/batch   text/csv or application/x-ndjson",
    "GET  /health, /metrics",
)


@one_line_errors
def serve(
    model: Annotated[Path, typer.Argument(help="The model's file.")],
    host: Annotated[str, typer.Option(help="An address of this machine; 0.0.0.0 is all of them.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="0 takes a free one.")] = 8000,
    workers: Annotated[int, typer.Option(min=1, help="Processes, each with the model.")] = 1,
    threads: Annotated[
        int | None, typer.Option(min=1, help="Predictions at once in each process; by default the processors.")
    ] = None,
    limit: Annotated[float, typer.Option(metavar="MB", min=0.001, help="Size of a body of /predict.")] = 8.0,
    batch_limit: Annotated[float, typer.Option(metavar="MB", min=0.001, help="Of /predict/batch.")] = 1000.0,
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="A line for each request.")] = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Serve predictions of a model over HTTP; only this machine reaches it, unless --host says otherwise.

    Examples:

    pellucid serve model.pel

    pellucid serve model.pel --host 0.0.0.0 --port 80 --workers 4
    """
    for package in NEEDED:
        needs(package, "serve", "serve")
    from pellucid.serve import Limits, run

    screen = Screen(quiet=quiet)

    def tell(address: str) -> None:
        screen.say(f"{model} at {address}   Ctrl-C ends it", wrap=False)
        for line in ENDPOINTS:
            screen.say(f"  {line}")

    limits = Limits(int(limit * 1e6), int(batch_limit * 1e6), threads)
    run(model, host, port, workers=workers, limits=limits, tell=tell, verbose=verbose)
