"""`pellucid compare`: runs beside each other, as a table and as curves."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from rich.text import Text

from pellucid.cli.curves import braille
from pellucid.cli.failures import Failure, one_line_errors
from pellucid.cli.run_folder import RunFolder
from pellucid.cli.scores import LOWER
from pellucid.cli.screen import Debug, Json, Quiet, Screen, grid, line
from pellucid.markup import number

Curve = tuple[list[float], list[float]]


@one_line_errors
def compare(
    runs: Annotated[list[Path], typer.Argument(metavar="RUN RUN...", help="Run folders.")],
    out: Annotated[
        Path, typer.Option("--out", "-o", metavar="FILE", help="The curves as a picture: .png, .svg or .pdf.")
    ] = Path("compare.png"),
    json: Json = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Compare runs: scores on their test rows, settings that differ, and validation curves over each other.

    Example: pellucid compare runs/houses-1 runs/houses-2 -o curves.svg
    """
    screen = Screen(as_json=json, quiet=quiet)
    folders = {str(path): RunFolder.existing(path) for path in runs}
    if len(folders) < 2:
        raise Failure("compare takes two runs or more: pellucid compare runs/a-1 runs/a-2")
    metrics = {name: folder.metrics() for name, folder in folders.items()}
    kinds = {(tuple(one["target"]), one["task"]) for one in metrics.values()}
    if len(kinds) > 1:
        raise Failure(
            "the runs are of different targets: " + " and ".join(sorted(" ".join(names) for names, _ in kinds))
        )
    differences = differing({name: folder.settings().__dict__ for name, folder in folders.items()})
    by_run = {name: one["test"]["network"] for name, one in metrics.items()}
    names = list(dict.fromkeys(score for one in by_run.values() for score in one))
    table = grid("run", *names, "seconds", *differences, right=tuple(range(1, len(names) + 2)), long=0)
    for name, marks in by_run.items():
        cells = [_cell(marks, score, by_run) for score in names]
        seconds = metrics[name].get("seconds")
        settings = [Text("auto" if values[name] is None else str(values[name])) for values in differences.values()]
        table.add_row(line(name), *cells, "" if seconds is None else f"{seconds:.1f}", *settings)
    screen.say(table)
    quantity, curves = curves_of(folders)
    screen.heading(f"{quantity} by epoch", "of the network that counts most")
    screen.say(braille(curves, screen.console.width))
    picture = _picture(curves, quantity, out, screen)
    screen.result({"runs": by_run, "settings": differences, "curves": curves, "quantity": quantity, "picture": picture})


def _cell(marks: dict[str, float], score: str, by_run: dict[str, dict[str, float]]) -> Text:
    if score not in marks:
        return Text("")
    values = [one[score] for one in by_run.values() if score in one]
    best = min(values) if score in LOWER else max(values)
    return Text(number(marks[score]), "bold green" if marks[score] == best else "")


def differing(settings: dict[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """Settings that are not the same in all runs, each with its value in every run.

    >>> differing({"a": {"rate": 0.1, "seed": 0}, "b": {"rate": 0.1, "seed": 1}})
    {'seed': {'a': 0, 'b': 1}}
    """
    first = next(iter(settings.values()))
    names = [name for name in first if len({str(values[name]) for values in settings.values()}) > 1 and name != "out"]
    return {name: {run: values[name] for run, values in settings.items()} for name in names}


def curves_of(folders: dict[str, RunFolder]) -> tuple[str, dict[str, Curve]]:
    """The validation loss of each run by epoch, or the training loss where one has no other."""
    histories = {name: folder.history() for name, folder in folders.items()}
    held = all("val_loss" in rows[0] for rows in histories.values() if rows)
    quantity = "val_loss" if held else "loss"
    curves = {
        name: ([row["epoch"] for row in rows], [row[quantity] for row in rows]) for name, rows in histories.items()
    }
    return quantity, curves


def _picture(curves: dict[str, Curve], quantity: str, out: Path, screen: Screen) -> str | None:
    """Write the curves as a picture; say how to have it where matplotlib is not there."""
    try:
        import matplotlib as mpl
    except ImportError:
        screen.note("a picture of the curves needs matplotlib: pip install 'pellucid[plot]'")
        return None
    mpl.use("Agg")
    from matplotlib import pyplot as plt

    from pellucid.figures import COLOURS, annotate, axes, end_of, figure_of

    if out.suffix.lower() not in (".png", ".svg", ".pdf"):
        raise Failure(f"{out}: pictures are .png, .svg or .pdf")
    ax = axes(None)
    ends = []
    for place, (name, (x, y)) in enumerate(curves.items()):
        colour = COLOURS[place % len(COLOURS)]
        ax.plot(x, y, color=colour, lw=2.0)
        ends.append(end_of(x, y, name, colour))
    ax.set(xlabel="epoch", ylabel=quantity)
    ax.margins(x=0)
    annotate(ax, ends, [], weight="bold")
    out.parent.mkdir(parents=True, exist_ok=True)
    figure = figure_of(ax)
    figure.savefig(out, bbox_inches="tight", dpi=150)
    plt.close(figure)
    screen.say(f"\nthe curves as a picture: {out}", wrap=False)
    return str(out)
