"""Hold-out and K folds: who may see which rows, and what leaks when a scaler has seen them all."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.linear_model import Ridge
from sklearn.model_selection import KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures

from pellucid import figures
from pellucid.estimators import TablePreprocessor
from pellucid.lab import Outcome, Picture, Table, experiment
from pellucid.lab.housing import housing
from pellucid.lab.splits import Leak, choice_leak, holdout, scaler_leak, select

ROLES = (("training", figures.BLUE), ("validation", figures.YELLOW), ("test", figures.PINK))


@experiment(
    "hold-out-and-folds",
    "Hold-out and K folds: the roles of rows, and leaks",
    lectures=("book", "cs231n"),
    topic="generalisation",
    claim="To quantify the generalisation error the data are split: hold-out, or K-fold cross-validation. Training "
    "rows train, validation rows choose between models, test rows judge the final one. What is computed from data, "
    "such as the mean and deviation of a scaler, comes from the training rows and is applied to the others.",
    setting="Linear models of the values of houses, in 100,000 dollars, with products of up to one, two and three "
    "columns (their degree), are compared by one hold-out and by K folds; the one that the folds choose is fitted "
    "again to all but the test rows, and tested once. Then a scaler is fitted to all rows ahead of the folds, and "
    "inside of each fold; and columns of pure noise are chosen by all rows, and by training rows.",
    criterion="No row has two roles, and each row is in exactly one validation fold; the scaler that has seen all rows "
    "makes the error look smaller by more than two standard errors; columns of noise chosen by all rows seem to "
    "predict (error below 0.9), chosen inside of the folds they do not (error 1 or more).",
    notice=(
        "Five folds cost five fits, and use each row once to validate: their mean is steadier than one hold-out.",
        "A hold-out and folds need not choose the same model: where two errors are close, a few rows decide.",
        "The leak of whitening is large with 20 rows and nearly gone with 100; that of standardising is small with 20. "
        "That of a choice of columns is a disaster: noise seems to predict.",
        "A pipeline, or an estimator with its scaler inside, cannot leak: it is fitted anew in each fold.",
    ),
    further=(
        'lab.run("hold-out-and-folds", rows=100)',
        'lab.run("hold-out-and-folds", scaling="standard")',
        'lab.run("housing")',
    ),
    knobs={
        "rows": "of the experiment on the scaler",
        "scaling": "of the scaler: whiten, pca or standard",
        "repetitions": "of the experiment on the scaler",
        "folds": "K",
    },
    full={"repetitions": 100},
)
def hold_out_and_folds(rows: int = 20, scaling: str = "whiten", repetitions: int = 25, folds: int = 5) -> Outcome:
    part = housing(train=400, validation=0).train
    models = {
        f"degree {degree}": make_pipeline(
            PolynomialFeatures(degree, include_bias=False), TablePreprocessor("standard"), Ridge(1e-3)
        )
        for degree in (1, 2, 3)
    }
    roles = holdout(len(part.y))
    chosen = select(models, part.X[:, :5], part.y, folds, roles)
    everyone = np.concatenate([roles.train, roles.validation, roles.test])
    once = sorted(everyone.tolist()) == list(range(len(part.y)))
    validated = np.concatenate([held for _, held in KFold(folds, shuffle=True, random_state=0).split(everyone)])
    once = once and sorted(validated.tolist()) == list(range(len(everyone)))

    scaler = scaler_leak(scaling, rows, repetitions, folds)
    choice = choice_leak(repetitions=6, folds=folds)
    mean, error = scaler.flattery
    leaks = mean > 2 * error and choice.leaky.mean() < 0.9 and choice.honest.mean() > 1.0
    return Outcome(
        bool(once and leaks),
        f"Every row has one role. The hold-out chooses {chosen.chosen_by_holdout}, the folds {chosen.chosen_by_folds}. "
        f"A scaler that saw all {rows} rows flatters the error by {mean:.3f} ± {error:.3f}; "
        f"columns of noise chosen by all rows seem to predict with an error of {choice.leaky.mean():.2f}, honestly it "
        f"is {choice.honest.mean():.2f}.",
        {
            "roles": chosen.rows,
            "chosen": chosen.chosen_by_folds,
            "test": chosen.test,
            "flattery": scaler.flattery,
            "noise_leaky": float(choice.leaky.mean()),
            "noise_honest": float(choice.honest.mean()),
        },
        (),
        (
            Table(
                "Choosing a model of houses (root of the mean squared error)",
                ("model", "training", "validation", f"{folds} folds, mean", "test"),
                [
                    [
                        name,
                        chosen.train[name],
                        chosen.validation[name],
                        float(chosen.folds[name].mean()),
                        f"{chosen.test:.4f}" if name == chosen.chosen_by_folds else "not looked at",
                    ]
                    for name in models
                ],
            ),
            Table(
                "Leaks: cross-validated error behind a step that saw all rows, or training rows only",
                ("step", "rows of data", "saw all rows", "saw training rows", "flattery (difference)"),
                [_row(leak) for leak in (scaler, choice)],
            ),
        ),
        (
            Picture(
                "roles",
                "Above the hold-out: three roles, each row has one. Below the folds: each row validates once, and the "
                "test rows are kept apart from all of it.",
                lambda: _roles(folds),
            ),
            Picture(
                "leaks",
                "The error by cross-validation when a step saw all rows (orange) and when it saw training rows only "
                "(blue), mean and standard error. The noise has deviation 1: nothing can predict it.",
                lambda: _leaks((scaler, choice)),
            ),
        ),
    )


def _row(leak: Leak) -> list[Any]:
    mean, error = leak.flattery
    return [leak.step, leak.rows, float(leak.leaky.mean()), float(leak.honest.mean()), f"{mean:.3f} ± {error:.3f}"]


def _roles(folds: int) -> Any:
    ax = figures.axes(size=(7.2, 3.8))
    ax.set_axis_off()
    colours = dict(ROLES)
    ax.barh([0] * 3, [60, 20, 20], left=[0, 60, 80], height=0.7, color=list(colours.values()), ec="white")
    for x, (role, _) in zip((30, 70, 90), ROLES, strict=True):
        ax.text(x, 0, role, ha="center", va="center", color="white" if role == "training" else figures.INK)
    ax.text(-1.5, 0, "hold-out", ha="right", va="center")
    for k in range(folds):
        for j in range(folds):
            role = "validation" if j == k else "training"
            ax.barh(k + 1.6, 80 / folds, left=80 / folds * j, height=0.7, color=colours[role], ec="white")
        ax.barh(k + 1.6, 20, left=80, height=0.7, color=colours["test"], ec="white", alpha=0.35)
        ax.text(-1.5, k + 1.6, f"fold {k + 1}", ha="right", va="center")
    ax.text(90, folds / 2 + 1.1, "kept apart", ha="center", va="center")
    ax.set(xlim=(-14, 100), ylim=(folds + 1.1, -0.6), title=f"Roles of rows: hold-out and {folds} folds")
    return figures.figure_of(ax)


def _leaks(leaks: tuple[Leak, ...]) -> Any:
    axes = figures.grid(len(leaks), (3.6, 3.0), columns=2, who="hold-out-and-folds")
    for ax, leak, title in zip(axes, leaks, ("a scaler, few rows", "a choice among noise"), strict=True):
        figures.plain(ax)
        for i, (values, colour) in enumerate(((leak.leaky, figures.ORANGE), (leak.honest, figures.BLUE))):
            error = values.std(ddof=1) / np.sqrt(len(values))
            ax.errorbar(i, values.mean(), error, marker="os"[i], color=colour, ms=9, capsize=5)
        ax.set_xticks([0, 1], ["saw all rows", "saw training rows"])
        ax.set(xlabel="the step", ylabel="error", xlim=(-0.5, 1.5), title=title)
    return figures.figure_of(axes)
