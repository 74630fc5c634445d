"""Errors of a command in one line, with the exit code 2; what nobody expected keeps its traceback."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import typer

from pellucid.errors import PellucidError


@contextmanager
def told() -> Iterator[None]:
    """What the user can mend is told, and ends the command."""
    try:
        yield
    except (PellucidError, OSError) as error:
        typer.echo(f"error: {' '.join(str(error).split())}", err=True)
        raise typer.Exit(2) from None


def print_json(data: Any) -> None:
    """For machines, on one line of standard output; numbers that JSON lacks are null."""
    typer.echo(json.dumps(_strict(data), default=str))


def _strict(data: Any) -> Any:
    if isinstance(data, dict):
        return {str(key): _strict(value) for key, value in data.items()}
    if isinstance(data, list | tuple):
        return [_strict(value) for value in data]
    return None if isinstance(data, float) and data - data != 0.0 else data
