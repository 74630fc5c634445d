"""Early stopping on values of houses: patience, the epoch that is kept, and what would have come."""

from __future__ import annotations

from typing import Any

import numpy as np

from pellucid import figures
from pellucid.lab import Outcome, Picture, Table, experiment
from pellucid.lab.generalization_plots import plot_stopping
from pellucid.lab.housing import Stopping
from pellucid.lab.housing import early_stopping as stop_early


@experiment(
    "early-stopping",
    "Early stopping: patience, and the epoch that is kept",
    lectures=("book",),
    topic="generalisation",
    claim="Stop training early, since overfitting typically increases as training progresses. The lecture says that "
    "Keras' patience interrupts when accuracy has not improved for more than k epochs; in fact it watches val_loss by "
    "default, stops after k epochs without improvement, and keeps the last weights unless asked for the best.",
    setting="400 houses to train on, 600 to validate, 2,000 to test; a network with two hidden layers of 64. One run "
    "stops by patience and keeps the best epoch; a second one from the same weights goes on to the end.",
    criterion="Training stops exactly `patience` epochs after the best one; the best epoch is the lowest validation "
    "error until then; the test error of the kept weights is lower than that of the last epoch, while the training "
    "error of the last epoch is lower.",
    notice=(
        "The training error goes on falling where the validation error rises: that is overfitting.",
        "With too little patience a bump of the validation error is taken for its end.",
        "The validation rows have chosen the epoch: only the test rows tell the error without flattery.",
    ),
    further=(
        'lab.run("early-stopping", patience=3)',
        'lab.run("early-stopping", min_delta=0.02)',
        'lab.run("early-stopping", seed=1)',
    ),
    knobs={
        "epochs": "at most",
        "patience": "epochs without improvement until it stops",
        "min_delta": "what counts as an improvement of the validation loss",
        "seed": "of split and weights",
    },
)
def early_stopping(epochs: int = 150, patience: int = 30, min_delta: float = 0.0, seed: int = 0) -> Outcome:
    run = stop_early(epochs, patience, min_delta, seed=seed)
    train, validation = run.curves()
    waited = run.stopped_epoch - run.best_epoch
    lowest = int(np.argmin(validation[: run.stopped_epoch])) + 1
    passed = (
        waited == patience
        and (lowest == run.best_epoch or min_delta > 0)
        and run.test_stopped < run.test_end
        and train[-1] < train[run.best_epoch - 1]
    )
    return Outcome(
        bool(passed),
        f"The best epoch was {run.best_epoch}, training stopped at {run.stopped_epoch}, {waited} later; the kept "
        f"weights have a test error of {run.test_stopped:.3f}, those of epoch {len(train)} of {run.test_end:.3f}.",
        {
            "best_epoch": run.best_epoch,
            "stopped_epoch": run.stopped_epoch,
            "test_stopped": run.test_stopped,
            "test_end": run.test_end,
            "train": train,
            "validation": validation,
        },
        (),
        (
            Table(
                "Root of the mean squared error, in 100,000 dollars",
                ("weights", "epoch", "training", "validation", "test"),
                [
                    [name, epoch, float(train[epoch - 1]), float(validation[epoch - 1]), test]
                    for name, epoch, test in (
                        ("best, kept", run.best_epoch, run.test_stopped),
                        ("last", len(train), run.test_end),
                    )
                ],
            ),
        ),
        (
            Picture(
                "curves",
                "Errors over the epochs. The dot is the epoch that is kept; thin lines are what would have come after "
                "the stop.",
                lambda: _curves(run),
            ),
        ),
    )


def _curves(run: Stopping) -> Any:
    return figures.figure_of(plot_stopping(run))
