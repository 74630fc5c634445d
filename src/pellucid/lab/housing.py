"""Values of houses: when to stop, what an average is worth, batch norm beside dropout."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from pellucid import datasets, nn, optim
from pellucid.estimators import BaggedMLPRegressor, MLPRegressor, TablePreprocessor
from pellucid.lab.costs import text_table
from pellucid.lab.generalization import rmse
from pellucid.markup import Brief
from pellucid.train import EarlyStopping, History, Model

HIDDEN = (64, 64)


@dataclass(frozen=True, repr=False)
class Part(Brief):
    """Rows with one role.   X: (n, features), y: (n,), in 100,000 dollars"""

    X: Any
    y: Any


@dataclass(frozen=True, repr=False)
class Housing(Brief):
    """The California table in three roles. Scales and medians come from the training rows alone."""

    train: Part
    validation: Part
    test: Part


def housing(train: int = 400, validation: int = 600, seed: int = 0) -> Housing:
    """The shipped table, shuffled and scaled: `train` rows, `validation` rows, and all others to test with.

    Few training rows, so that a network of some thousand parameters can overfit within seconds.

    >>> rows = housing()
    >>> rows.train.X.shape, rows.test.X.shape
    ((400, 13), (2000, 13))
    """
    X, y = datasets.load("california")
    order = np.random.default_rng(seed).permutation(len(X))
    parts = np.split(order, [train, train + validation])
    inputs = TablePreprocessor("standard").fit(X.iloc[parts[0]]).transform(X)
    values = np.asarray(y, float) / 1e5
    return Housing(*(Part(inputs[rows], values[rows]) for rows in parts))


@dataclass(frozen=True, repr=False)
class Stopping(Brief):
    """Two runs from the same weights: one that stops early, and one that goes on to the last epoch.

    `history` is of the longer one, `best_epoch` and `stopped_epoch` are of the one that stopped. Test errors are RMSE
    in 100,000 dollars.
    """

    history: History
    patience: int
    best_epoch: int
    stopped_epoch: int
    test_stopped: float
    test_end: float

    def curves(self) -> tuple[Any, Any]:
        """RMSE of each epoch on training rows (while the weights change) and on validation rows."""
        return np.sqrt(self.history["loss"]), np.sqrt(self.history["val_loss"])

    def table(self) -> str:
        train, validation = self.curves()
        rows = []
        for name, epoch, test in (
            ("best, kept", self.best_epoch, self.test_stopped),
            ("last", len(train), self.test_end),
        ):
            rows.append([name, epoch, f"{train[epoch - 1]:.3f}", f"{validation[epoch - 1]:.3f}", f"{test:.3f}"])
        return text_table(["weights", "epoch", "RMSE train", "RMSE validation", "RMSE test"], rows)

    __str__ = table


def early_stopping(
    epochs: int = 200, patience: int = 30, min_delta: float = 0.0, lr: float = 0.003, seed: int = 0
) -> Stopping:
    """Train on houses until the validation loss has not improved for `patience` epochs, and keep the best weights.

    Improved means: lower by more than `min_delta`. A second run, never stopped, shows what would have come.

    >>> run = early_stopping(epochs=60, patience=10)
    >>> run.stopped_epoch - run.best_epoch
    10
    """
    rows = housing(seed=seed)

    def fit(**stop: Any) -> tuple[History, EarlyStopping, float]:
        model = Model(nn.mlp(HIDDEN, 1), "squared_error", optim.Adam(lr), dtype="float64")
        watch = EarlyStopping(min_delta=min_delta, monitor="val_loss", **stop)
        history = model.fit(
            rows.train.X,
            rows.train.y,
            epochs=epochs,
            batch_size=32,
            validation=(rows.validation.X, rows.validation.y),
            callbacks=[watch],
            seed=seed,
            verbose=False,
        )
        return history, watch, rmse(rows.test.y, model.predict(rows.test.X).ravel())

    history, watch, test_best = fit(patience=patience)
    whole, _, test_end = fit(patience=None, restore_best=False)
    return Stopping(whole, patience, watch.best_epoch, len(history), test_best, test_end)


def _fit(model: Any, rows: Part) -> Any:
    """Fitted; quietly, for the last epoch is the end that is wanted here."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model.fit(rows.X, rows.y)


def _regressor(seed: int | None = None, **settings: Any) -> MLPRegressor:
    return MLPRegressor(
        hidden_layer_sizes=HIDDEN,
        learning_rate_init=0.003,
        batch_size=32,
        alpha=0.0,
        tol=0.0,
        n_iter_no_change=10**6,
        random_state=seed,
        **settings,
    )


@dataclass(frozen=True, repr=False)
class Averaging(Brief):
    """Test RMSE of every member, and of the average of the first 1, 2, ... members."""

    members: tuple[float, ...]
    averages: tuple[float, ...]
    report: str

    def table(self) -> str:
        single = np.array(self.members)
        rows = [
            ["one network, mean of all", f"{single.mean():.3f}"],
            ["the best one", f"{single.min():.3f}"],
            [f"average of {len(single)}", f"{self.averages[-1]:.3f}"],
        ]
        return text_table(["prediction", "RMSE test"], rows)

    __str__ = table


def averaging(members: int = 8, epochs: int = 60, seed: int = 0) -> Averaging:
    """A single network against the average of several that began with other weights: the last step of evaluation.

    >>> found = averaging(members=4, epochs=15)
    >>> bool(found.averages[-1] < np.mean(found.members))
    True
    """
    rows = housing(seed=seed)
    base = _regressor(max_iter=epochs)
    ensemble = _fit(BaggedMLPRegressor(base, members, method="seeds", random_state=seed), rows.train)
    predictions = np.stack([member.predict(rows.test.X) for member in ensemble.estimators_])
    means = np.cumsum(predictions, axis=0) / np.arange(1, members + 1)[:, None]
    return Averaging(
        tuple(rmse(rows.test.y, p) for p in predictions),
        tuple(rmse(rows.test.y, p) for p in means),
        str(ensemble.member_report(rows.test.X, rows.test.y)),
    )


VARIANTS: dict[str, dict[str, Any]] = {
    "plain": {},
    "batch norm": {"norm": "batch"},
    "dropout": {"dropout": 0.2},
    "both": {"norm": "batch", "dropout": 0.2},
}


@dataclass(frozen=True, repr=False)
class Ablation(Brief):
    """RMSE on training and test rows for each variant, one column for each seed (weights and split): (4, seeds)"""

    variants: tuple[str, ...]
    train: Any
    test: Any

    @property
    def gap(self) -> Any:
        """test - train: how much of what was learned holds for these rows only.   -> (variants, seeds)"""
        return self.test - self.train

    def gain(self, without: str, added: str) -> tuple[float, float]:
        """How much the test error falls from one variant to another, in pairs of the same seed: mean, standard error.

        >>> one = Ablation(("plain", "dropout"), np.zeros((2, 2)), np.array([[3.0, 4.0], [2.0, 3.0]]))
        >>> one.gain("plain", "dropout")
        (1.0, 0.0)
        """
        fall = self.test[self.variants.index(without)] - self.test[self.variants.index(added)]
        return float(fall.mean()), float(fall.std(ddof=1) / np.sqrt(len(fall)))

    def table(self) -> str:
        def show(values: Any) -> str:
            return f"{values.mean():.3f} ± {values.std(ddof=1) / np.sqrt(len(values)):.3f}"

        rows = [
            [name, show(train), show(test), show(gap)]
            for name, train, test, gap in zip(self.variants, self.train, self.test, self.gap, strict=True)
        ]
        return text_table(["variant", "RMSE train", "RMSE test", "gap"], rows)

    __str__ = table


def ablation(seeds: Sequence[int] = range(10), epochs: int = 150, train: int = 400) -> Ablation:
    """The same network plain, with batch norm, with dropout (rate 0.2), and with both: who overfits, and by how much?

    Each seed has rows and first weights of its own; the four variants share them. No early stopping: that would hide
    what is to be seen.

    >>> found = ablation(seeds=(0, 1), epochs=20)
    >>> found.gap.shape
    (4, 2)
    """
    errors = np.empty((2, len(VARIANTS), len(seeds)))
    for j, seed in enumerate(seeds):
        rows = housing(train, 0, seed)
        for i, settings in enumerate(VARIANTS.values()):
            model = _fit(_regressor(seed, max_iter=epochs, **settings), rows.train)
            errors[:, i, j] = [rmse(part.y, model.predict(part.X)) for part in (rows.train, rows.test)]
    return Ablation(tuple(VARIANTS), *errors)
