"""Pictures of the experiments on generalisation and on preprocessing; each takes and returns axes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from pellucid.figures import BLUE, GREEN, GREY, INK, ORANGE, End, Mark, annotate, end_of, grid, legend, plain
from pellucid.figures import axes as axes_or_new
from pellucid.lab.generalization import NOISE, BySize, CurveFits, MoreData, curve
from pellucid.lab.housing import Ablation, Averaging, Stopping
from pellucid.lab.plots import SIZE
from pellucid.lab.preprocessing import Decorrelation, PolarRings, Signs, polar

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def plot_fit(fits: CurveFits, degree: int, ax: Axes | None = None) -> Axes:
    """The points, the curve behind them, and one fit."""
    ax = axes_or_new(ax, SIZE)
    x = np.linspace(0, 1, 400)
    ax.plot(x, curve(x), color=GREEN, lw=1.5)
    ax.plot(x, fits.at(degree)(x), color=ORANGE, lw=2)
    ax.plot(fits.x, fits.y, "o", color=BLUE, ms=5, mfc="white", mew=1.5)
    ax.set(ylim=(-2, 2), xticks=[0, 1], yticks=[-1, 0, 1], title=f"degree {degree}")
    return ax


def plot_degrees(fits: CurveFits, ax: Axes | None = None) -> Axes:
    """RMSE over the degree: on the training points it only falls, on fresh points it rises again.

    >>> from pellucid.lab.generalization import curve_fits
    >>> plot_degrees(curve_fits()).get_xlabel()
    'degree of the polynomial'
    """
    ax = axes_or_new(ax, SIZE)
    _errors(ax, fits.degrees, fits.test, fits.train)
    ax.set(xlabel="degree of the polynomial", ylabel="RMSE", xticks=fits.degrees)
    ax.set_title(f"{len(fits.x)} training points")
    return ax


def _errors(ax: Axes, x: Any, test: Any, train: Any) -> None:
    """The errors on fresh and on training points, and the noise below which no error on fresh points can fall."""
    names = [End(float(x[-1]), NOISE, "noise", GREY)]
    for values, colour, mark, name in ((test, ORANGE, "s", "fresh"), (train, BLUE, "o", "training")):
        ax.plot(x, values, mark + "-", color=colour, ms=5)
        names.append(end_of(x, values, name, colour))
    ax.plot([x[0], x[-1]], [NOISE, NOISE], color=GREY, lw=1, ls="--")
    annotate(ax, names, bottom=-0.03)


def plot_more_data(data: MoreData, ax: Axes | None = None) -> Axes:
    """RMSE of one degree over the number of points: the errors meet at the noise.

    >>> plot_more_data(MoreData(9, (10, 100), (0.0, 0.27), (0.6, 0.32))).get_xlabel()
    'training points'
    """
    ax = axes_or_new(ax, SIZE)
    ax.set(xscale="log", xlabel="training points", ylabel="RMSE, median")
    _errors(ax, data.sizes, data.test, data.train)
    ax.set_xticks(data.sizes, [f"{n:,}" for n in data.sizes])
    ax.minorticks_off()
    ax.set_title(f"degree {data.degree}, more data")
    return ax


def plot_by_size(by_size: BySize, ax: Axes | None = None) -> Axes:
    """Bias², variance and noise, stacked; their sum meets the measured error.

    >>> from pellucid.lab.generalization import bias_variance_by_size
    >>> plot_by_size(bias_variance_by_size((0, 3), repetitions=5)).get_ylabel()
    'mean squared error'
    """
    ax = axes_or_new(ax, SIZE)
    parts = by_size.parts
    heights = [np.array([getattr(p, name) for p in parts]) for name in ("noise", "variance", "bias_squared")]
    bottom = np.zeros(len(parts))
    names = ("noise", "variance", "bias²")
    for height, name, colour in zip(heights, names, ("#D9D9D9", BLUE, ORANGE), strict=True):
        bars = np.maximum(height, 0)  # an estimate of bias² may lie slightly below 0
        ax.bar(by_size.sizes, bars, bottom=bottom, color=colour, width=0.8, alpha=0.85, label=name)
        bottom = bottom + bars
    errors = [p.mse_error for p in parts]
    ax.errorbar(
        by_size.sizes, [p.mse for p in parts], errors, fmt="o", color=INK, ms=5, capsize=3, label="measured error"
    )
    ax.plot(by_size.sizes, by_size.train, "^--", color=GREEN, ms=5, lw=1.2, label="error on training rows")
    ax.set(xlabel="degree of the polynomial", ylabel="mean squared error", xticks=by_size.sizes)
    ax.set_title("Bias falls and variance rises with the size of the model")
    legend(ax, columns=3)
    return ax


def plot_stopping(run: Stopping, ax: Axes | None = None) -> Axes:
    """Training and validation error over the epochs; the epoch that was kept, and where training stopped."""
    ax = axes_or_new(ax, SIZE)
    train, validation = run.curves()
    epochs = np.arange(1, len(train) + 1)
    top = 1.1 * float(validation[5:].max())
    names = []
    for values, colour, name in ((train, BLUE, "training"), (validation, ORANGE, "validation")):
        errors = np.where(values > top, np.nan, values)  # the first epochs would leave no room for the others
        ax.plot(epochs[: run.stopped_epoch], errors[: run.stopped_epoch], color=colour, lw=2)
        ax.plot(epochs[run.stopped_epoch - 1 :], errors[run.stopped_epoch - 1 :], color=colour, lw=1, alpha=0.5)
        names.append(end_of(epochs, errors, name, colour))
    ax.plot([run.best_epoch], [validation[run.best_epoch - 1]], "o", color=INK, zorder=3)
    ax.set(xlabel="epoch", ylabel="RMSE, 100,000 dollars")
    ax.set_title("Values of houses: early stopping")
    ax.margins(x=0)
    reason = f"stopped after {run.patience} epochs\nwithout improvement"
    marks = [Mark(run.best_epoch, f"kept: epoch {run.best_epoch}", INK), Mark(run.stopped_epoch, reason, GREY, ":")]
    annotate(ax, names, marks, bottom=0, top=top)
    return ax


def plot_averaging(averaging: Averaging, ax: Axes | None = None) -> Axes:
    """Each member's test error, and that of the average of the first ones.

    >>> plot_averaging(Averaging((0.7, 0.6), (0.7, 0.6), "")).get_xlabel()
    'networks averaged'
    """
    ax = axes_or_new(ax, SIZE)
    count = np.arange(1, len(averaging.members) + 1)
    ax.plot(count, averaging.members, "o", color=GREY, ms=6)
    ax.plot(count, averaging.averages, "s-", color=BLUE, ms=5)
    mean = float(np.mean(averaging.members))
    ax.plot([count[0], count[-1]], [mean, mean], color=GREY, lw=1, ls="--")
    ax.set(xlabel="networks averaged", ylabel="RMSE test", xticks=count)
    ax.set_title("One network (dots) and the average")
    mean_name = End(float(count[-1]), mean, "one network,\nmean", GREY)
    annotate(ax, [mean_name, end_of(count, averaging.averages, "average", BLUE)])
    return ax


def plot_ablation(ablation: Ablation, ax: Axes | None = None) -> Axes:
    """For each variant the training and the test error, and the gap between them.

    >>> plot_ablation(Ablation(("plain",), np.ones((1, 2)), 2 * np.ones((1, 2)))).get_xlabel()
    'RMSE'
    """
    ax = axes_or_new(ax, SIZE)
    for i, (train, test) in enumerate(zip(ablation.train.mean(axis=1), ablation.test.mean(axis=1), strict=True)):
        ax.plot([train, test], [i, i], color="0.75", lw=3, zorder=1)
        ax.plot(ablation.train[i], np.full(len(ablation.train[i]), i), "|", color=BLUE, ms=8, alpha=0.5)
        ax.plot(ablation.test[i], np.full(len(ablation.test[i]), i), "|", color=ORANGE, ms=8, alpha=0.5)
        ax.plot(train, i, "o", color=BLUE, ms=8)
        ax.plot(test, i, "s", color=ORANGE, ms=8)
        ax.annotate(f"gap {test - train:.2f}", ((train + test) / 2, i), xytext=(0, 5), **_above())
    for values, colour, name in ((ablation.train, BLUE, "training"), (ablation.test, ORANGE, "test")):
        ax.annotate(name, (values[0].mean(), 0), xytext=(0, 10), color=colour, **_above())
    ax.set(xlabel="RMSE", ylim=(len(ablation.variants) - 0.6, -0.7))
    ax.set_yticks(range(len(ablation.variants)), ablation.variants)
    ax.set_title("Same network, same rows")
    return ax


def _above() -> dict[str, Any]:
    return {"textcoords": "offset points", "ha": "center", "va": "bottom"}


def plot_decorrelation(decorrelation: Decorrelation, axes: Any = None) -> Any:
    """The points raw, centred, on their main axes, and whitened. Takes and returns four axes."""
    titles = {"raw": "raw", "centre": "centred", "pca": "standardised, PCA", "whiten": "whitened"}
    axes = grid(4, (3.2, 3.0), axes, who="plot_decorrelation")
    everything = np.concatenate([decorrelation.points[step] for step in titles])
    low, high = everything.min(axis=0) - 0.5, everything.max(axis=0) + 0.5  # one window, to compare what is seen in it
    for ax, (step, title) in zip(axes, titles.items(), strict=True):
        plain(ax)
        ax.plot(*decorrelation.points[step].T, ".", color=BLUE, ms=4, alpha=0.6)
        ax.axhline(0, color=INK, lw=0.8)
        ax.axvline(0, color=INK, lw=0.8)
        ax.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]), aspect="equal", title=title)
    return axes


def plot_signs(raw: Signs, centred: Signs, axes: Any = None) -> Any:
    """Gradients of two weights of a unit, one dot for each sample: in two quarters of the plane, and in all.

    Takes and returns a pair of axes.
    """
    axes = grid(2, (3.4, 3.2), axes, who="plot_signs")
    for ax, signs, title in zip(axes, (raw, centred), ("positive inputs", "centred inputs"), strict=True):
        plain(ax)
        ax.plot(*signs.gradients[:, :2].T, ".", color=ORANGE, ms=4, alpha=0.7)
        ax.axhline(0, color=INK, lw=0.8)
        ax.axvline(0, color=INK, lw=0.8)
        reach = 1.1 * float(np.abs(signs.gradients[:, :2]).max())
        ax.set(xlim=(-reach, reach), ylim=(-reach, reach), aspect="equal", title=f"gradients, {title}")
        ax.set(xlabel=r"$\partial L/\partial w_1$", ylabel=r"$\partial L/\partial w_2$")
    return axes


def plot_polar(rings: PolarRings, axes: Any = None) -> Any:
    """The rings in the plane, and as radius and angle with the line that tells them apart. Takes and returns axes."""
    left, right = grid(2, (3.4, 3.2), axes, who="plot_polar")
    for ax, points in ((left, rings.X), (right, polar(rings.X))):
        plain(ax)
        for label, colour, mark in ((0, BLUE, "o"), (1, ORANGE, "s")):
            ax.plot(*points[rings.y == label].T, mark, color=colour, ms=3)
    right.axvline(rings.radius, color=INK, lw=1.5)
    left.set(aspect="equal", xlabel="x", ylabel="y", title=f"linear model: {rings.accuracy:.1%}")
    right.set(xlabel="r", ylabel="θ", title=f"the same on (r, θ): {rings.polar_accuracy:.1%}")
    return left, right
