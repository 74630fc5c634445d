"""`pellucid inspect`: what is inside a model, and what it does with rows."""

from __future__ import annotations

import warnings
from typing import Annotated, Any

import typer
from rich.table import Table
from rich.text import Text

from pellucid.cli.curves import spark
from pellucid.cli.evaluate import TargetName
from pellucid.cli.failures import one_line_errors
from pellucid.cli.saved_model import ModelPath, SavedModel, saved_model
from pellucid.cli.screen import Debug, Json, Quiet, Screen, grid, line
from pellucid.data.splits import evenly
from pellucid.data.table_files import read_tables
from pellucid.markup import number, plural
from pellucid.nn.dimensions import outline

ROWS = 5000
"""Rows that are looked at, at most."""

SHORT, LONG, WIDE = 10, 20, 100
"""Letters of a curve, and from which width of the screen on it is a long one."""


@one_line_errors
def inspect(
    model: ModelPath,
    data: Annotated[list[str] | None, typer.Argument(metavar="[DATA]", help="Rows to look at the layers with.")] = None,
    target: TargetName = None,
    json: Json = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Show what is inside a model: columns, networks, training; with rows, every layer and what is wrong.

    Examples:

    pellucid inspect runs/houses-1

    pellucid inspect runs/houses-1 houses.csv
    """
    screen = Screen(as_json=json, quiet=quiet)
    saved = saved_model(model, tuple(target or ()))
    facts = described(saved)
    _say(screen, saved, facts)
    if data:
        facts |= _looked(screen, saved, data)
    screen.result(facts)


def described(saved: SavedModel) -> dict[str, Any]:
    """Columns, classes, networks and their training, as plain data."""
    fitted = saved.estimator.fitted
    shares = (1.0,) if fitted.crew is None else fitted.crew.shares
    networks = [
        {
            "share": float(share),
            "network": outline(each.model.net, each.model.features),
            "parameters": sum(array.size for array in each.model.params.values()),
            "epochs": each.epochs,
            "best_epoch": each.curves.best_iter,
            "validation": [float(value) for value in each.curves.validation_losses],
            "ended": each.model.history.stopped,
        }
        for each, share in zip(fitted.networks, shares, strict=True)
    ]
    preprocessor = getattr(saved.estimator, "preprocessor_", None)
    return {
        "model": str(saved.path),
        "kind": type(saved.estimator).__name__,
        "bytes": saved.path.stat().st_size,
        "target": list(saved.targets),
        "classes": list(saved.classes),
        "columns": dict(preprocessor.kinds_) if preprocessor is not None else list(saved.columns),
        "networks": networks,
    }


def _say(screen: Screen, saved: SavedModel, facts: dict[str, Any]) -> None:
    size = f"{facts['bytes'] / 1024:,.0f} KB"
    screen.say(Text.assemble((str(saved.path), "bold"), f": {facts['kind']}, {size}"))
    what = ", ".join(facts["target"]) or "a target"
    classes = f" of {', '.join(map(str, saved.classes[:8]))}" if saved.classes else ""
    screen.say(f"predicts {what}{classes} from {plural(len(facts['columns']), 'column')}")
    table = grid("column", "taken as")
    for name in facts["columns"]:
        kind = facts["columns"][name] if isinstance(facts["columns"], dict) else ""
        table.add_row(Text(name), Text(kind, "cyan"))
    screen.say(table)
    screen.heading("Networks", "how much each counts was chosen on rows that were held out")
    screen.say(_kinds(facts["networks"], SHORT if screen.console.width < WIDE else LONG))


def _kinds(networks: list[dict[str, Any]], width: int) -> Table:
    """A line for the networks of each kind, which differ by the rows that they were trained on.   width: of a curve"""
    table = grid(
        *("counts", "folds", "network", "parameters", "epochs", "kept", "validation loss"),
        right=(0, 1, 3, 4, 5),
        long=2,
    )
    kinds: dict[tuple[object, ...], list[dict[str, Any]]] = {}
    for each in networks:
        kinds.setdefault((each["network"], each["parameters"], each["epochs"]), []).append(each)
    for members in kinds.values():
        first, best = members[0], sorted({each["best_epoch"] for each in members} - {None})
        table.add_row(
            f"{sum(each['share'] for each in members):.0%}",
            str(len(members)),
            line(first["network"]),
            f"{first['parameters']:,}",
            str(first["epochs"]),
            "" if not best else str(best[0]) if len(best) == 1 else f"{best[0]}-{best[-1]}",
            Text(spark(first["validation"], width), "green"),
        )
    return table


def _layers(look: Any) -> Table:
    """Every layer in numbers; `inspect.run` has more of them."""
    table = grid(
        "layer", "activation", "units", "mean", "deviation", "saturated", "dead", "rank", right=tuple(range(2, 8))
    )
    for layer in look.layers:
        table.add_row(
            Text(layer.name),
            layer.activation or "",
            str(layer.units),
            number(layer.a.mean),
            number(layer.a.std),
            "" if layer.saturated is None else f"{layer.saturated:.0%}",
            str(len(layer.dead)),
            f"{layer.rank:.1f}",
        )
    return table


def _looked(screen: Screen, saved: SavedModel, data: list[str]) -> dict[str, Any]:
    """Layers on these rows; findings, where the target is there."""
    from pellucid import inspect as seeing

    frame = read_tables(data)
    there = bool(saved.targets) and all(name in frame.columns for name in saved.targets) and not saved.several
    frame = frame.drop_nulls(saved.targets) if there else frame
    frame = frame[evenly(frame.height, ROWS)]
    X = saved.inputs(frame, screen, ", ".join(data))
    y = saved.truth(frame, ", ".join(data)) if there else None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        look = seeing.run(saved.estimator, X, y)
        diagnosis = seeing.diagnose(saved.estimator, X, y) if y is not None else None
    screen.heading("Layers", f"of the network that counts most, on {plural(frame.height, 'row')}")
    screen.say(_layers(look))
    if diagnosis is None:
        screen.say("\nwith the target in the table, what is wrong is told, too")
        return {}
    screen.heading("Findings")
    for finding in diagnosis:
        screen.note(str(finding))
    if not len(diagnosis):
        screen.say("nothing is wrong")
    return {"findings": [{"code": one.code, "severity": one.severity, "where": one.where} for one in diagnosis]}
