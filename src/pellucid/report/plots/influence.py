"""What it uses: pictures of importance, of dependence, and of the plane of two inputs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from pellucid.figures import BLUE, COLOURS, INK, MARKERS, axes, grid, legend, plain
from pellucid.report.numbers.influence import Dependence, Importance, dependence
from pellucid.report.numbers.influence import importance as importance_of
from pellucid.report.numbers.regions import Regions
from pellucid.report.numbers.regions import regions as regions_of
from pellucid.report.plots.records import measured
from pellucid.report.predictor import predictor
from pellucid.report.rows import sample

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def importance(thing: Any, X: Any = None, y: Any = None, *, ax: Axes | None = None) -> Axes:
    """Permutation importance of the columns, largest first."""
    record = measured(Importance, thing, X, y, importance_of, "importance")
    ax = axes(ax, (6.0, 1.0 + 0.28 * len(record.columns)))
    places = np.arange(len(record.columns))
    ax.barh(places, record.mean, xerr=record.std, color=BLUE, height=0.7, error_kw={"ecolor": INK, "lw": 1.2})
    ax.set_yticks(places, record.columns)
    ax.invert_yaxis()
    ax.grid(axis="y", visible=False)
    ax.set_xlabel(f"{record.score} lost when shuffled")
    return ax


def partial_dependence(
    thing: Any, X: Any = None, y: Any = None, columns: tuple[str | int, ...] | None = None, *, axes: Any = None
) -> Any:
    """The mean prediction over the values of each column; `thing` is a model, or a tuple of records.

    `columns` are names or numbers; the first six where none are given. The band holds 80 % of the rows.
    """
    records = _dependences(thing, X, y, columns)
    flat = grid(len(records), (3.0, 2.4), axes, columns=3, who="partial_dependence", what="columns")
    for ax, record in zip(flat, records, strict=True):
        plain(ax)
        x = np.arange(len(record.values)) if record.categories else record.values
        for k, label in enumerate(record.labels):
            style = {"marker": "o", "ls": "none"} if record.categories else {"lw": 2}
            ax.plot(x, record.mean[k], color=COLOURS[record.places[k] % 6], label=label, **style)
            if len(record.labels) == 1 and record.categories:
                ax.vlines(x, record.low[k], record.high[k], color=BLUE, alpha=0.3, lw=6)
            elif len(record.labels) == 1:
                ax.fill_between(x, record.low[k], record.high[k], color=BLUE, alpha=0.15, lw=0)
        if record.categories:
            ax.set_xticks(x, [str(value)[:10] for value in record.values], rotation=35, ha="right")
        else:
            ax.plot(record.marks, np.full(len(record.marks), 0.02), "|", color=INK, transform=ax.get_xaxis_transform())
        if len(record.labels) > 1:
            ax.legend(frameon=False, fontsize=8)
        ax.set_title(record.column, fontsize=10, loc="left")
    return flat


def _dependences(thing: Any, X: Any, y: Any, columns: Any) -> tuple[Dependence, ...]:
    if isinstance(thing, Dependence):
        return (thing,)
    if isinstance(thing, tuple | list) and all(isinstance(each, Dependence) for each in thing):
        return tuple(thing)
    rows = sample(X, y)
    if rows is None:
        raise ValueError("partial_dependence: expects X and y beside the model, or records of report(...).numbers")
    names = rows.columns
    places = range(len(names)) if columns is None else [c if isinstance(c, int) else names.index(c) for c in columns]
    records = dependence(predictor(thing, y), rows, tuple(places))
    if not records:
        raise ValueError("partial_dependence: there is nothing to draw for these columns")
    return records


def regions(thing: Any, X: Any = None, y: Any = None, *, ax: Axes | None = None) -> Axes:
    """What a model of two inputs predicts all over their plane, with rows on it."""
    record = measured(Regions, thing, X, y, regions_of, "regions")
    ax = axes(ax, (5.2, 4.2))
    ax.grid(False)
    if record.labels:
        _draw_classes(ax, record)
    else:
        shades = ax.contourf(record.x, record.y, record.values[0], levels=14, cmap="viridis", alpha=0.85)
        low, high = shades.get_clim()
        ax.scatter(
            record.points[:, 0],
            record.points[:, 1],
            c=record.targets,
            cmap="viridis",
            s=18,
            ec="white",
            lw=0.6,
            vmin=low,
            vmax=high,
        )
        ax.figure.colorbar(shades, ax=ax)
    ax.set(xlabel=record.columns[0], ylabel=record.columns[1])
    return ax


def _draw_classes(ax: Axes, record: Regions) -> None:
    if len(record.labels) == 2:
        from matplotlib.colors import LinearSegmentedColormap

        shades = LinearSegmentedColormap.from_list("classes", [COLOURS[0], "white", COLOURS[1]])
        ax.contourf(record.x, record.y, record.values[0], levels=np.linspace(0, 1, 11), cmap=shades, alpha=0.45)
        if record.values[0].min() < 0.5 < record.values[0].max():
            ax.contour(record.x, record.y, record.values[0], levels=[0.5], colors=INK, linewidths=1.5)
    else:
        for k, values in enumerate(record.values):
            if values.max() > 0:
                ax.contourf(record.x, record.y, values, levels=[0.0, np.inf], colors=[COLOURS[k % 6]], alpha=0.3)
    for k, label in enumerate(record.labels):
        own = record.points[record.targets == k]
        ax.plot(*own.T, MARKERS[k % 6], color=COLOURS[k % 6], ms=4.5, mec="white", mew=0.5, ls="none", label=label)
    legend(ax, max(min(len(record.labels), 4), 1))
