"""`pellucid export`: a model in a form that runs without Pellucid."""

from __future__ import annotations

import enum
from importlib import import_module
from pathlib import Path
from typing import Annotated

import typer

from pellucid.cli.failures import Failure, one_line_errors
from pellucid.cli.saved_model import ModelPath, saved_model
from pellucid.cli.screen import Debug, Json, Quiet, Screen


class ExportForm(enum.StrEnum):
    """Forms of exported models."""

    ONNX = "onnx"
    C = "c"
    JSON = "json"
    NUMPY = "numpy"


SUFFIXES = {ExportForm.ONNX: ".onnx", ExportForm.C: ".c", ExportForm.JSON: ".json", ExportForm.NUMPY: ".py"}


@one_line_errors
def export(
    model: ModelPath,
    to: Annotated[ExportForm | None, typer.Option("--to", help="By default, by the suffix of the file.")] = None,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", metavar="FILE", help="By default beside the model.")
    ] = None,
    json: Json = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Write a model with its preprocessing as ONNX, C, JSON, or a script of NumPy.

    Examples:

    pellucid export runs/houses-1 --to onnx

    pellucid export runs/houses-1 -o houses.c
    """
    screen = Screen(as_json=json, quiet=quiet)
    form = to if to is not None else _form(out)
    saved = saved_model(model)
    path = out if out is not None else saved.path.with_suffix(SUFFIXES[form])
    import_module("pellucid.export").write(saved.estimator, path, to=str(form))
    screen.say(f"{path}: {path.stat().st_size / 1024:,.0f} KB, preprocessing included", wrap=False)
    screen.result({"file": str(path), "to": str(form), "bytes": path.stat().st_size})


def _form(out: Path | None) -> ExportForm:
    if out is None:
        raise Failure(f"export to what? Say --to {', '.join(ExportForm)}, or name a file with -o")
    for form, suffix in SUFFIXES.items():
        if out.suffix.lower() == suffix:
            return form
    raise Failure(f"{out}: its suffix is none of {', '.join(SUFFIXES.values())}: say --to onnx, c, json or numpy")
