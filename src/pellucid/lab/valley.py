"""A valley to descend in, ½ (a x² + b y²), and the paths of descents through it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from pellucid import figures
from pellucid.optim import Rule, optimizer

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def height(points: Any, curvature: Sequence[float]) -> Any:
    """½ (a x² + b y²) at points, (..., 2) -> (...).

    >>> float(height([2.0, 1.0], (1.0, 20.0)))
    12.0
    """
    return 0.5 * np.sum(np.asarray(curvature) * np.square(points), axis=-1)


def descend(rule: Rule, steps: int, start: Sequence[float], curvature: Sequence[float]) -> Any:
    """The points that an update rule of the library visits in the valley.   -> (steps + 1, 2)

    >>> from pellucid.optim import SGD
    >>> descend(SGD(0.025), 2, (-4.0, 1.2), (1.0, 20.0)).round(3).tolist()
    [[-4.0, 1.2], [-3.9, 0.6], [-3.802, 0.3]]
    """
    opt, params = optimizer(rule), {"w": np.asarray(start, float)}
    state, points = opt.init(params), [params["w"]]
    for t in range(steps):
        params, state = opt.update(params, {"w": np.asarray(curvature) * params["w"]}, state, t + 1, opt.numbers(t))
        points.append(params["w"])
    return np.stack(points)


def plot_valley(paths: Mapping[str, Any], curvature: Sequence[float], ax: Axes | None = None) -> Axes:
    """Paths, (steps, 2) each, over lines of equal height. Takes and returns axes.

    >>> plot_valley({"a": [[1.0, 1.0], [0.0, 0.0]]}, (1.0, 2.0)).get_xlabel()
    'weight $w_1$'
    """
    ax = figures.axes(ax, (6.4, 3.8))
    ax.grid(False)
    points = np.concatenate([np.asarray(path) for path in paths.values()])
    low, high = points.min(axis=0), points.max(axis=0)
    edge = 0.12 * (high - low) + 1e-9
    x, y = (np.linspace(low[i] - edge[i], high[i] + (1, 8)[i] * edge[i], 120) for i in (0, 1))
    heights = height(np.stack(np.meshgrid(x, y), axis=-1), curvature)
    top = float(heights.max())
    ax.contour(x, y, heights, levels=np.geomspace(top / 500, top, 10), colors=["#CFCFCF"], linewidths=0.9)
    styles = zip(figures.COLOURS, figures.MARKERS, strict=True)
    for (name, path), (colour, marker) in zip(paths.items(), styles, strict=False):
        ax.plot(*np.asarray(path).T, color=colour, marker=marker, ms=3.5, lw=1.4, label=name)
    ax.plot(0, 0, "x", color=figures.INK, ms=8, mew=2)
    ax.set(xlabel="weight $w_1$", ylabel="weight $w_2$", ylim=(y[0], high[1] + edge[1]))
    figures.legend(ax, min(len(paths), 3))
    return ax
