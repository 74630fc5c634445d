"""Values of houses: a linear model, one network, and an average of several."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.linear_model import Ridge

from pellucid import Model, figures, nn, optim, train
from pellucid.lab import Outcome, Picture, Table, experiment
from pellucid.lab.generalization import rmse
from pellucid.lab.generalization_plots import plot_averaging
from pellucid.lab.housing import Averaging
from pellucid.lab.housing import housing as table


@experiment(
    "housing",
    "Values of houses: linear, one network, several",
    lectures=("book", "cs231n"),
    topic="generalisation",
    claim="The lecture's demo in action: a network on a housing table, with training, validation and test rows, early "
    "stopping, and (the last step of an evaluation) a model ensemble.",
    setting="The California table that comes with the package: 1,500 rows to train, 500 to validate, 1,000 to test. A "
    "linear model; networks of two hidden layers with early stopping on the validation rows; their average.",
    criterion="On test rows a network has a smaller error than the linear model for most seeds, and the average of the "
    "networks a smaller one than their mean.",
    notice=(
        "Scales and medians come from the training rows alone, and are applied to the others.",
        "Values above 500,000 dollars were cut off in the census: the dots at the right edge of the picture.",
        "The average is better than the mean network, and most often better than the best one.",
    ),
    further=(
        'lab.run("housing", rows=400)',
        'lab.run("housing", members=16)',
        'lab.run("early-stopping")',
    ),
    knobs={
        "rows": "to train on, at most 2,000",
        "members": "networks, each from its own random start",
        "epochs": "at most",
        "seed": "of the split",
    },
    full={"rows": 2000, "members": 20, "epochs": 200},
)
def housing(rows: int = 1500, members: int = 6, epochs: int = 60, seed: int = 0) -> Outcome:
    parts = table(rows, 500, seed)
    linear = rmse(parts.test.y, Ridge(1.0).fit(parts.train.X, parts.train.y).predict(parts.test.X))
    predictions, kept = [], []
    for s in range(members):
        model = Model(nn.mlp((64, 64), 1), "squared_error", optim.Adam(0.003), engine="native", threads=1)
        stop = train.EarlyStopping(15)
        model.fit(
            parts.train.X,
            parts.train.y,
            epochs=epochs,
            batch_size=32,
            validation=(parts.validation.X, parts.validation.y),
            callbacks=[stop],
            seed=s,
            verbose=False,
        )
        predictions.append(model.predict(parts.test.X)[:, 0])
        kept.append(stop.best_epoch)
    averages = np.cumsum(predictions, axis=0) / np.arange(1, members + 1)[:, None]
    single = [rmse(parts.test.y, p) for p in predictions]
    together = [rmse(parts.test.y, p) for p in averages]
    better = float(np.mean(np.array(single) < linear))
    mean_only = float(np.std(parts.test.y))
    return Outcome(
        bool(better > 0.5 and together[-1] < np.mean(single)),
        f"Test errors in 100,000 dollars: {linear:.3f} linear, {np.mean(single):.3f} for the mean of {members} "
        f"networks, {together[-1]:.3f} for their average.",
        {"linear": linear, "networks": single, "averages": together, "best_epochs": kept},
        (),
        (
            Table(
                "Root of the mean squared error on test rows, in 100,000 dollars",
                ("model", "error", "share of the variance explained"),
                [
                    [name, error, f"{1 - error**2 / mean_only**2:.1%}"]
                    for name, error in (
                        ("mean of all values", mean_only),
                        ("linear", linear),
                        ("one network, mean", float(np.mean(single))),
                        ("the best network", min(single)),
                        (f"average of {members}", together[-1]),
                    )
                ],
            ),
        ),
        (
            Picture(
                "predictions",
                "Values of test rows, true and predicted by the average of the networks.",
                lambda: _predictions(parts.test.y, averages[-1]),
            ),
            Picture(
                "average",
                "The error of each network (dots) and of the average of the first ones (line).",
                lambda: figures.figure_of(plot_averaging(Averaging(tuple(single), tuple(together), ""))),
            ),
        ),
    )


def _predictions(y: Any, predicted: Any) -> Any:
    ax = figures.axes(size=(4.8, 4.4))
    ax.plot(y, predicted, ".", color=figures.BLUE, ms=4, alpha=0.4, rasterized=True)
    ax.plot([0, 5], [0, 5], color=figures.INK, lw=1)
    ax.set(xlabel="value, 100,000 dollars", ylabel="predicted", xlim=(0, 5.3), ylim=(0, 6), title="Houses of test rows")
    return figures.figure_of(ax)
