"""Pictures of the experiments on generalisation and on preprocessing; each takes and returns axes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from pellucid.lab.generalization import NOISE, BySize, CurveFits, MoreData, curve
from pellucid.lab.housing import Ablation, Averaging, Stopping
from pellucid.lab.plots import BLUE, GREEN, GREY, INK, ORANGE, _axes, _label, _plain
from pellucid.lab.preprocessing import Decorrelation, PolarRings, Signs, polar

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def plot_fit(found: CurveFits, degree: int, ax: Axes | None = None) -> Axes:
    """The points, the curve behind them, and one fit."""
    ax = _axes(ax)
    x = np.linspace(0, 1, 400)
    ax.plot(x, curve(x), color=GREEN, lw=1.5)
    ax.plot(x, found.at(degree)(x), color=ORANGE, lw=2)
    ax.plot(found.x, found.y, "o", color=BLUE, ms=5, mfc="white", mew=1.5)
    ax.set(ylim=(-2, 2), xticks=[0, 1], yticks=[-1, 0, 1], title=f"degree {degree}")
    return ax


def plot_degrees(found: CurveFits, ax: Axes | None = None) -> Axes:
    """RMSE over the degree: on the training points it only falls, on fresh points it rises again.

    >>> from pellucid.lab.generalization import curve_fits
    >>> plot_degrees(curve_fits()).get_xlabel()
    'degree of the polynomial'
    """
    ax = _axes(ax)
    for values, colour, mark, name in ((found.test, ORANGE, "s", "fresh"), (found.train, BLUE, "o", "training")):
        ax.plot(found.degrees, values, mark + "-", color=colour, ms=5)
        _label(ax, found.degrees[-1], values[-1], name, colour)
    ax.axhline(NOISE, color=GREY, lw=1, ls="--")
    ax.annotate("noise", (found.degrees[0], NOISE), xytext=(0, 3), textcoords="offset points", color=GREY)
    ax.set(xlabel="degree of the polynomial", ylabel="RMSE", xticks=found.degrees, ylim=(-0.03, None))
    ax.set_title(f"{len(found.x)} training points")
    return ax


def plot_more_data(found: MoreData, ax: Axes | None = None) -> Axes:
    """RMSE of one degree over the number of points: the errors meet at the noise.

    >>> plot_more_data(MoreData(9, (10, 100), (0.0, 0.27), (0.6, 0.32))).get_xlabel()
    'training points'
    """
    ax = _axes(ax)
    for values, colour, mark, name in ((found.test, ORANGE, "s", "fresh"), (found.train, BLUE, "o", "training")):
        ax.semilogx(found.sizes, values, mark + "-", color=colour, ms=5)
        place: dict[str, Any] = {"xytext": (10, -2), "textcoords": "offset points", "color": colour, "va": "center"}
        ax.annotate(name, (found.sizes[0], values[0]), **place)
    ax.axhline(NOISE, color=GREY, lw=1, ls="--")
    ax.set(xlabel="training points", ylabel="RMSE, median", ylim=(-0.03, None))
    ax.set_xticks(found.sizes, [f"{n:,}" for n in found.sizes], minor=False)
    ax.set_title(f"degree {found.degree}, more data")
    return ax


def plot_by_size(found: BySize, ax: Axes | None = None) -> Axes:
    """Bias², variance and noise, stacked; their sum meets the measured error.

    >>> from pellucid.lab.generalization import bias_variance_by_size
    >>> plot_by_size(bias_variance_by_size((0, 3), repetitions=5)).get_ylabel()
    'mean squared error'
    """
    ax = _axes(ax)
    parts = found.parts
    heights = [np.array([getattr(p, name) for p in parts]) for name in ("noise", "variance", "bias_squared")]
    bottom = np.zeros(len(parts))
    names = ("noise", "variance", "bias²")
    for height, name, colour in zip(heights, names, ("#D9D9D9", BLUE, ORANGE), strict=True):
        shown = np.maximum(height, 0)  # an estimate of bias² may lie slightly below 0
        ax.bar(found.sizes, shown, bottom=bottom, color=colour, width=0.8, alpha=0.85, label=name)
        bottom = bottom + shown
    errors = [p.mse_error for p in parts]
    ax.errorbar(
        found.sizes, [p.mse for p in parts], errors, fmt="o", color=INK, ms=5, capsize=3, label="measured error"
    )
    ax.plot(found.sizes, found.train, "^--", color=GREEN, ms=5, lw=1.2, label="error on training rows")
    ax.legend(frameon=False)
    ax.set(xlabel="degree of the polynomial", ylabel="mean squared error", xticks=found.sizes)
    ax.set_title("Bias falls and variance rises with the size of the model")
    return ax


def plot_stopping(run: Stopping, ax: Axes | None = None) -> Axes:
    """Training and validation error over the epochs; the epoch that was kept, and where training stopped."""
    ax = _axes(ax)
    train, held = run.curves()
    epochs = np.arange(1, len(train) + 1)
    for values, colour, name in ((train, BLUE, "training"), (held, ORANGE, "validation")):
        ax.plot(epochs[: run.stopped_epoch], values[: run.stopped_epoch], color=colour, lw=2)
        ax.plot(epochs[run.stopped_epoch - 1 :], values[run.stopped_epoch - 1 :], color=colour, lw=1, alpha=0.5)
        _label(ax, epochs[-1], values[-1], name, colour)
    ax.plot([run.best_epoch], [held[run.best_epoch - 1]], "o", color=INK, zorder=3)
    ax.axvline(run.best_epoch, color=INK, lw=1, ls="--")
    ax.axvline(run.stopped_epoch, color=GREY, lw=1, ls=":")
    top: dict[str, Any] = {"xycoords": ("data", "axes fraction"), "va": "top"}
    ax.annotate(f"kept: \nepoch {run.best_epoch} ", (run.best_epoch, 0.98), color=INK, ha="right", **top)
    stopped = f" stopped after {run.patience} epochs\n without improvement"
    ax.annotate(stopped, (run.stopped_epoch, 0.98), color=GREY, **top)
    ax.set(xlabel="epoch", ylabel="RMSE, 100,000 dollars", ylim=(0, 1.25 * float(held[5:].max())))
    ax.set_title("Values of houses: early stopping")
    return ax


def plot_averaging(found: Averaging, ax: Axes | None = None) -> Axes:
    """Each member's test error, and that of the average of the first ones.

    >>> plot_averaging(Averaging((0.7, 0.6), (0.7, 0.6), "")).get_xlabel()
    'networks averaged'
    """
    ax = _axes(ax)
    count = np.arange(1, len(found.members) + 1)
    ax.plot(count, found.members, "o", color=GREY, ms=6)
    ax.plot(count, found.averages, "s-", color=BLUE, ms=5)
    mean = float(np.mean(found.members))
    ax.axhline(mean, color=GREY, lw=1, ls="--")
    _label(ax, count[-1], mean, "one network,\nmean", GREY)
    _label(ax, count[-1], found.averages[-1], "average", BLUE)
    ax.set(xlabel="networks averaged", ylabel="RMSE test", xticks=count)
    ax.set_title("One network (dots) and the average")
    return ax


def plot_ablation(found: Ablation, ax: Axes | None = None) -> Axes:
    """For each variant the training and the test error, and the gap between them.

    >>> plot_ablation(Ablation(("plain",), np.ones((1, 2)), 2 * np.ones((1, 2)))).get_xlabel()
    'RMSE'
    """
    ax = _axes(ax)
    for i, (train, test) in enumerate(zip(found.train.mean(axis=1), found.test.mean(axis=1), strict=True)):
        ax.plot([train, test], [i, i], color="0.75", lw=3, zorder=1)
        ax.plot(found.train[i], np.full(len(found.train[i]), i), "|", color=BLUE, ms=8, alpha=0.5)
        ax.plot(found.test[i], np.full(len(found.test[i]), i), "|", color=ORANGE, ms=8, alpha=0.5)
        ax.plot(train, i, "o", color=BLUE, ms=8)
        ax.plot(test, i, "s", color=ORANGE, ms=8)
        ax.annotate(f"gap {test - train:.2f}", ((train + test) / 2, i), xytext=(0, 5), **_above())
    for values, colour, name in ((found.train, BLUE, "training"), (found.test, ORANGE, "test")):
        ax.annotate(name, (values[0].mean(), 0), xytext=(0, 10), color=colour, **_above())
    ax.set(xlabel="RMSE", ylim=(len(found.variants) - 0.6, -0.7))
    ax.set_yticks(range(len(found.variants)), found.variants)
    ax.set_title("Same network, same rows")
    return ax


def _above() -> dict[str, Any]:
    return {"textcoords": "offset points", "ha": "center", "va": "bottom"}


def plot_decorrelation(found: Decorrelation, axes: Any) -> Any:
    """The points raw, centred, on their main axes, and whitened."""
    titles = {"raw": "raw", "centre": "centred", "pca": "standardised, PCA", "whiten": "whitened"}
    for ax, (step, title) in zip(axes, titles.items(), strict=True):
        _plain(ax)
        ax.plot(*found.points[step].T, ".", color=BLUE, ms=4, alpha=0.6)
        ax.axhline(0, color=INK, lw=0.8)
        ax.axvline(0, color=INK, lw=0.8)
        ax.set(xlim=(-6, 10), ylim=(-4.5, 5.5), aspect="equal", title=title)
    return axes


def plot_signs(raw: Signs, centred: Signs, axes: Any) -> Any:
    """Gradients of two weights of a unit, one dot for each sample: in two quarters of the plane, and in all."""
    for ax, found, title in zip(axes, (raw, centred), ("positive inputs", "centred inputs"), strict=True):
        _plain(ax)
        ax.plot(*found.gradients[:, :2].T, ".", color=ORANGE, ms=4, alpha=0.7)
        ax.axhline(0, color=INK, lw=0.8)
        ax.axvline(0, color=INK, lw=0.8)
        reach = 1.1 * float(np.abs(found.gradients[:, :2]).max())
        ax.set(xlim=(-reach, reach), ylim=(-reach, reach), aspect="equal", title=f"gradients, {title}")
        ax.set(xlabel=r"$\partial L/\partial w_1$", ylabel=r"$\partial L/\partial w_2$")
    return axes


def plot_polar(found: PolarRings, axes: Any) -> Any:
    """The rings in the plane, and as radius and angle with the line that tells them apart."""
    left, right = axes
    for ax, points in ((left, found.X), (right, polar(found.X))):
        _plain(ax)
        for label, colour, mark in ((0, BLUE, "o"), (1, ORANGE, "s")):
            ax.plot(*points[found.y == label].T, mark, color=colour, ms=3)
    right.axvline(found.radius, color=INK, lw=1.5)
    left.set(aspect="equal", xlabel="x", ylabel="y", title=f"linear model: {found.accuracy:.1%}")
    right.set(xlabel="r", ylabel="θ", title=f"the same on (r, θ): {found.polar_accuracy:.1%}")
    return axes
