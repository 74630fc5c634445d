"""Far more parameters than rows, and still it generalises: the error over the width has two descents."""

from __future__ import annotations

from typing import Any

import numpy as np

from pellucid import Model, figures, nn, optim
from pellucid.lab import Outcome, Picture, Table, experiment

ROWS, FEATURES, NOISE = 40, 8, 0.3
RIDGE = 0.1


@experiment(
    "double-descent",
    "More parameters than rows: the second descent of the test error",
    lectures=("kth",),
    topic="generalisation",
    claim="Networks such as GoogLeNet and VGG are trained with far fewer points than parameters, and still generalise. "
    "Why is not well understood. Part of it can be seen in a small model: double descent.",
    setting="40 noisy rows of 8 inputs, fresh rows without noise to test; a hidden layer of random ReLUs that is not "
    "trained, and output weights by least squares: of all exact solutions the one of smallest norm. The number of "
    "units goes from 2 to 1,000. The same with a small ridge penalty. In the full setting networks that are trained as "
    "a whole, too.",
    criterion="The largest test error (median of the data sets) is at a width between 0.6 and 1.6 times the rows, and "
    "at least five times that of the widest model; the widest model fits the training rows exactly, and its test error "
    "is lower than that of the width a fourth of the rows; with the ridge penalty the error at the peak is less than a "
    "tenth of what it is without.",
    notice=(
        "Where the width meets the number of rows there is exactly one solution that fits, and it needs huge weights.",
        "Beyond there are many solutions; that of smallest norm is taken, and it gets smoother with more units.",
        "A little ridge penalty removes the peak: size alone says little about overfitting.",
    ),
    further=(
        'lab.run("double-descent", noise=0.0)',
        'lab.run("double-descent", ridge=0.01)',
        'lab.run("double-descent", full=True)',
    ),
    knobs={
        "noise": "standard deviation of the noise in the training targets",
        "ridge": "strength of the penalty of the second curve",
        "seeds": "how many data sets and random layers",
        "networks": "train networks of many widths as a whole, too",
    },
    full={"seeds": 50, "networks": True},
)
def double_descent(noise: float = NOISE, ridge: float = RIDGE, seeds: int = 12, networks: bool = False) -> Outcome:
    widths = np.unique(np.geomspace(2, 1000, 20).round().astype(int))
    widths = np.union1d(widths, [ROWS // 4, ROWS])
    test, train, penalised, norms = (np.zeros((seeds, len(widths))) for _ in range(4))
    for s in range(seeds):
        rng = np.random.default_rng(s)
        X, y, fresh, truth = _rows(rng, noise)
        for i, width in enumerate(widths):
            U, c = rng.normal(size=(FEATURES, width)) / np.sqrt(FEATURES), rng.normal(size=width)
            H, G = (np.maximum(part @ U + c, 0) / np.sqrt(width) for part in (X, fresh))
            w = shortest(H, y)
            v = H.T @ np.linalg.solve(H @ H.T + ridge * np.eye(ROWS), y)
            train[s, i], test[s, i] = np.mean((H @ w - y) ** 2), np.mean((G @ w - truth) ** 2)
            penalised[s, i], norms[s, i] = np.mean((G @ v - truth) ** 2), np.linalg.norm(w)
    curve, smooth, fitted = (np.median(errors, axis=0) for errors in (test, penalised, train))
    peak, quarter = int(np.argmax(curve)), int(np.searchsorted(widths, ROWS // 4))
    passed = (
        0.6 <= widths[peak] / ROWS <= 1.6
        and curve[peak] > 5 * curve[-1]
        and fitted[-1] < 1e-10
        and curve[-1] < curve[quarter]
        and smooth[peak] < curve[peak] / 10
    )
    trained = _trained(noise) if networks else {}
    return Outcome(
        bool(passed),
        f"The test error is {curve[quarter]:.2f} with {widths[quarter]} units, {curve[peak]:.3g} with {widths[peak]} "
        f"(there are {ROWS} rows) and {curve[-1]:.2f} with {widths[-1]}; with a ridge penalty it is "
        f"{smooth[peak]:.2f} where the peak was.",
        {
            "widths": widths,
            "test": curve,
            "train": fitted,
            "ridge": smooth,
            "norms": np.median(norms, axis=0),
            "mlp": trained,
        },
        (),
        (
            Table(
                f"Medians of {seeds} data sets",
                ("units", "training error", "test error", "test error, ridge", "norm of output weights"),
                [
                    [int(widths[i]), float(fitted[i]), float(curve[i]), float(smooth[i]), float(np.median(norms[:, i]))]
                    for i in sorted({0, quarter, len(widths) // 2, peak, len(widths) - 4, len(widths) - 1})
                ],
            ),
            *_table(trained),
        ),
        (
            Picture(
                "widths",
                "Mean squared error on fresh rows (median of the data sets) over the number of units, both on "
                "logarithmic scales. It falls, rises to a peak where there are as many units as rows, and falls again. "
                "Training errors below 0.001 are left out.",
                lambda: _draw(widths, curve, fitted, smooth, noise),
            ),
            *(
                [
                    Picture(
                        "networks",
                        "Networks that are trained as a whole, mean of five data sets: from 8 units on next to nothing "
                        "is left of the training error, and several times wider ones are still better on fresh rows. "
                        "There is no peak.",
                        lambda: _mlp(trained),
                    )
                ]
                if trained
                else []
            ),
        ),
    )


def shortest(H: Any, y: Any) -> Any:
    """Least squares, and of several solutions the one of smallest norm."""
    if H.shape[1] > 2 * len(H):  # far from singular: the same by a small system
        return H.T @ np.linalg.solve(H @ H.T, y)
    return np.linalg.lstsq(H, y, rcond=None)[0]


def _rows(rng: np.random.Generator, noise: float) -> tuple[Any, Any, Any, Any]:
    """Training rows, and fresh ones without noise."""
    X, fresh = rng.normal(size=(ROWS, FEATURES)), rng.normal(size=(300, FEATURES))

    def f(x: Any) -> Any:
        return x[:, 0] + np.abs(x[:, 1]) - np.sqrt(2 / np.pi) + 0.5 * x[:, 2]

    return X, f(X) + noise * rng.normal(size=ROWS), fresh, f(fresh)


def _trained(noise: float) -> dict[int, tuple[float, float]]:
    """Training and test error of networks by width, mean of five data sets."""
    errors = {}
    for width in (2, 4, 8, 16, 32, 64, 128, 256, 512):
        pairs = []
        for s in range(5):
            X, y, fresh, truth = _rows(np.random.default_rng(s), noise)
            model = Model(
                nn.mlp((width,), 1), "squared_error", optim.Adam(0.01), dtype="float64", engine="native", threads=1
            )
            model.fit(X, y, epochs=3000, batch_size=ROWS, seed=s, verbose=False)
            pairs.append((model.evaluate(X, y)["loss"], model.evaluate(fresh, truth)["loss"]))
        means = np.mean(pairs, axis=0)
        errors[width] = (float(means[0]), float(means[1]))
    return errors


def _table(trained: dict[int, tuple[float, float]]) -> tuple[Table, ...]:
    if not trained:
        return ()
    rows = [[width, width * (FEATURES + 2) + 1, *errors] for width, errors in trained.items()]
    head = ("hidden units", "parameters", "training error", "test error")
    return (Table("Networks trained as a whole (means of five data sets)", head, rows),)


def _draw(widths: Any, curve: Any, fitted: Any, smooth: Any, noise: float) -> Any:
    ax = figures.axes(size=(7.2, 4.2))
    ax.set(xscale="log", yscale="log", xlabel="random units (parameters that are fitted)", ylabel="mean squared error")
    ends = []
    shown = np.where(fitted > 1e-3, fitted, np.nan)
    for values, name, colour, mark in (
        (curve, "fresh rows", figures.ORANGE, "o-"),
        (shown, "training", figures.BLUE, "s-"),
        (smooth, "fresh, ridge", figures.GREEN, "^-"),
    ):
        ax.plot(widths, values, mark, color=colour, ms=4, lw=1.5)
        ends.append(figures.end_of(widths, values, name, colour))
    ax.set_title("Two descents")
    figures.annotate(ax, ends, [figures.Mark(ROWS, f"{ROWS} units for {ROWS} rows", figures.GREY)])
    return figures.figure_of(ax)


def _mlp(trained: dict[int, tuple[float, float]]) -> Any:
    ax = figures.axes()
    widths, errors = list(trained), np.array(list(trained.values()))
    ax.set(xscale="log", xlabel="hidden units", ylabel="mean squared error", title="Trained as a whole")
    ends = []
    for values, name, colour in (
        (errors[:, 1], "fresh rows", figures.ORANGE),
        (errors[:, 0], "training", figures.BLUE),
    ):
        ax.plot(widths, values, "o-", color=colour)
        ends.append(figures.end_of(widths, values, name, colour))
    figures.annotate(ax, ends, bottom=0)
    return figures.figure_of(ax)
