"""Centring, scaling, PCA and whitening, and the mean of images."""

from __future__ import annotations

from typing import Any

import numpy as np

from pellucid import figures
from pellucid.lab import Beside, Outcome, Picture, Table, experiment
from pellucid.lab.generalization_plots import plot_decorrelation
from pellucid.lab.normalization import conditioning
from pellucid.lab.preprocessing import IMAGE_MEANS, change_of_units, decorrelation, image_mean, standardising

MODES = {"pixel": "mean image (AlexNet)", "channel": "mean of each channel (VGGNet)", "all": "one mean of all"}


@experiment(
    "preprocessing",
    "Centre and scale: round contours, free choice of units",
    lectures=("cs231n", "kth", "book"),
    topic="data",
    claim="Subtract the mean and scale each input with numbers of the training set: the contours of the loss become "
    "round, and it no longer matters whether a column is in kilometres or millimetres. PCA and whitening go further; "
    "images are centred only, by a mean image or by a mean for each channel.",
    setting="Two columns of different sizes: condition number of the Hessian of least squares, before and after. The "
    "same network on kilometres and millimetres. Points decorrelated and whitened. Small coloured pictures, 32 x 32 x "
    "3. Digits, each pixel standardised, beside raw pixels at the same rate.",
    criterion="Standardising makes the condition number at least 100 times smaller; with it, a change of units changes "
    "predictions by less than 1e-6; whitened points have the identity as covariance to 1e-10; all three ways of "
    "centring images give mean 0; and standardised digits reach a lower loss than raw ones.",
    notice=(
        "The condition number is the ratio of the largest to the smallest curvature: gradient descent has to suit both "
        "with one rate.",
        "PCA turns the points to their main axes, whitening makes all variances 1. The cloud keeps its shape under the "
        "first, and becomes a ball under the second.",
        "The mean image of 32 x 32 x 3 has 3,072 numbers, the mean of each channel 3.",
        "The numbers come from training rows and are applied to validation and test rows as they are.",
    ),
    further=(
        'lab.run("preprocessing", spread=100.0)',
        'lab.run("preprocessing", epochs=15)',
        'lab.run("polar-features")',
    ),
    knobs={
        "spread": "deviation of the second column, the first has 1",
        "offset": "mean of the second column",
        "epochs": "of the training on digits",
        "seed": "of data and weights",
    },
    full={"epochs": 15},
)
def preprocessing(spread: float = 20.0, offset: float = 50.0, epochs: int = 4, seed: int = 0) -> Outcome:
    X = np.random.default_rng(seed).normal([0.0, offset], [1.0, spread], (200, 2))
    raw, standard = conditioning(X)
    free, bound = (change_of_units(scaled, steps=60, seed=seed) for scaled in (True, False))
    points = decorrelation(seed=seed)
    white = float(np.abs(points.covariance("whiten") - np.eye(2)).max())
    images = landscapes(seed=seed)
    means = {mode: image_mean(images, mode) for mode in MODES}
    centred = {m: float(np.abs((images - means[m]).mean(axis=IMAGE_MEANS[m])).max()) for m in MODES}
    digits = standardising(epochs=epochs, seed=seed)

    passed = (
        raw > 100 * standard
        and free.difference < 1e-6
        and white < 1e-10
        and max(centred.values()) < 1e-9
        and digits.standardised[-1] < digits.raw[-1]
    )
    return Outcome(
        passed,
        f"The condition number falls from {raw:,.0f} to {standard:.2f}; a change of units moves predictions by "
        f"{free.difference:.0e} (raw: {bound.difference:.1f}); the whitened covariance is off by {white:.0e}; digits "
        f"end at a loss of {digits.standardised[-1]:.2f}, raw {digits.raw[-1]:.2f}.",
        {
            "condition": (raw, standard),
            "units": (free.difference, bound.difference),
            "whitened_off": white,
            "image_means": {mode: int(np.size(mean)) for mode, mean in means.items()},
            "digits": (digits.raw[-1], digits.standardised[-1]),
        },
        (
            Beside("numbers in the mean image of [32, 32, 3]", 32 * 32 * 3, int(means["pixel"].size)),
            Beside("numbers in the mean of each channel", 3, int(means["channel"].size)),
        ),
        (
            Table(
                "The same points, after each step",
                ("step", "variance 1", "variance 2", "covariance"),
                [
                    (step, *(round(float(v), 6) + 0.0 for v in (c[0, 0], c[1, 1], c[0, 1])))
                    for step in points.points
                    for c in [points.covariance(step)]
                ],
            ),
            Table(
                f"Centring {len(images)} pictures of 32 x 32 x 3",
                ("way", "numbers", "largest mean left"),
                [(MODES[mode], int(np.size(means[mode])), centred[mode]) for mode in MODES],
            ),
            Table(
                "Digits, 64 pixels",
                ("inputs", f"loss after {epochs} epochs", "test accuracy"),
                [
                    ("raw", digits.raw[-1], digits.raw_accuracy),
                    ("standardised", digits.standardised[-1], digits.standardised_accuracy),
                ],
            ),
        ),
        (
            Picture(
                "contours",
                "Contours of the squared error over the two weights, with 15 steps of gradient descent at the best "
                "constant rate for each. Left, raw: a narrow valley, and hardly any progress along it. Right, "
                "standardised: a bowl.",
                lambda: _contours(X, raw, standard),
            ),
            Picture(
                "whitening",
                "The same cloud of points raw, centred, turned to its main axes, and whitened.",
                lambda: _clouds(points),
            ),
            Picture(
                "images",
                "A small picture, the mean image of all of them, and the picture minus each of the three means "
                "(grey is 0).",
                lambda: _images(images, means),
            ),
        ),
    )


def landscapes(count: int = 200, size: int = 32, seed: int = 0) -> Any:
    """Small coloured pictures: a sky, a meadow below, a sun somewhere.   (count, size, size, 3), from 0 to 1"""
    rng = np.random.default_rng(seed)
    row, column = np.mgrid[:size, :size] / size
    horizon, sun = rng.uniform(0.4, 0.8, (count, 1, 1)), rng.uniform(0.1, 0.9, (count, 2, 1, 1))
    sky = np.stack([0.3 + 0.5 * row, 0.5 + 0.4 * row, 0.9 + 0 * row], axis=-1)
    meadow = np.stack([0.2 + 0 * row, 0.6 - 0.3 * row, 0.1 + 0 * row], axis=-1)
    images = np.where((row < horizon)[..., None], sky, meadow)
    disc = (row - sun[:, 0] / 3) ** 2 + (column - sun[:, 1]) ** 2 < 0.01
    images[disc] = (1.0, 0.9, 0.3)
    return np.clip(images + 0.04 * rng.normal(size=images.shape), 0, 1)


def _contours(X: Any, raw: float, standard: float) -> Any:
    axes = figures.grid(2, (4.6, 3.8), who="preprocessing")
    target = np.array([1.0, 1.0])
    for ax, inputs in zip(axes, (X, (X - X.mean(axis=0)) / X.std(axis=0)), strict=True):
        figures.plain(ax)
        H = inputs.T @ inputs / len(inputs)
        w1, w2 = np.meshgrid(np.linspace(-1.5, 3.5, 121), np.linspace(-1.5, 3.5, 121))
        D = np.stack([w1, w2], -1) - target
        loss = np.einsum("...i,ij,...j->...", D, H, D)
        levels = np.quantile(loss, [0.02, 0.08, 0.2, 0.4, 0.65, 0.9])
        ax.contour(w1, w2, loss, levels=levels, colors=figures.BLUE, linewidths=1)
        curvature = np.linalg.eigvalsh(H)
        path = [np.array([-1.0, 3.0])]
        for _ in range(15):
            path.append(path[-1] - 2 / curvature.sum() * 0.98 * H @ (path[-1] - target))
        ax.plot(*np.array(path).T, "o-", color=figures.ORANGE, markersize=3, linewidth=1)
        ax.plot(*target, "*", color=figures.INK, markersize=12)
        ax.set(xlabel="weight of column 1", ylabel="weight of column 2", xlim=(-1.5, 3.5), ylim=(-1.5, 3.5))
    axes[0].set_title(f"raw: condition number {raw:,.0f}")
    axes[1].set_title(f"standardised: {standard:.2f}")
    return figures.figure_of(axes)


def _clouds(points: Any) -> Any:
    axes = plot_decorrelation(points)
    for ax in axes:
        ax.set_xlabel("column 1")
    axes[0].set_ylabel("column 2")
    return figures.figure_of(axes)


def _images(images: Any, means: dict[str, Any]) -> Any:
    picture = images[2]
    shown = {"a picture": picture, "mean image": means["pixel"]}
    for mode, name in (("pixel", "mean image"), ("channel", "channel means"), ("all", "one mean")):
        shown[f"minus {name}"] = 0.5 + (picture - means[mode]) / 2
    axes = figures.grid(5, (2.1, 2.4), columns=5, who="images")
    for ax, (title, pixels) in zip(axes, shown.items(), strict=True):
        ax.imshow(np.clip(pixels, 0, 1), interpolation="nearest")
        ax.set_axis_off()
        ax.set_title(title, fontsize=10)
    return figures.figure_of(axes)
