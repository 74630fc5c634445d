"""One process of several trainings, each on shares of one table: `python shares.py FOLDER`, joined by the environment.

Without anybody to join, `results` are those of one process by NumPy, which the others are compared with.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import pellucid
from pellucid import MLPClassifier, Model, TabularMLPClassifier, data, nn, optim, train
from pellucid.distributed import share
from pellucid.train.engine_choice import on_engine

N = 83
TOGETHER = "PELLUCID_INDEX" in os.environ
ENGINE, DEVICES = ("jax", "all") if TOGETHER else ("numpy", None)


def table() -> pd.DataFrame:
    """Numbers, a category, a weight, and classes of which the last one is in the last rows alone."""
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(rng.normal(size=(N, 3)), columns=list("abc"))
    target = np.where(frame["a"] * frame["b"] > 0, "yes", "no").astype(object)
    target[-6:] = "rare"
    kind = np.where(frame["c"] > 0.3, "red", "blue").astype(object)
    kind[-3:] = "green"
    return frame.assign(kind=kind, weight=rng.uniform(0.5, 2, N), target=target)


def write(folder: Path) -> None:
    """The table in two files: row groups of 20 rows, and one file that is shorter."""
    table()[:60].to_parquet(folder / "1.parquet", row_group_size=20, index=False)
    table()[60:].to_parquet(folder / "2.parquet", index=False)


def arrays() -> tuple[Any, Any, Any]:
    frame = table()
    return frame[list("abc")].to_numpy(), pd.factorize(frame["target"], sort=True)[0], frame["weight"].to_numpy()


def network() -> Model:
    net = nn.mlp((6,), 3, dropout=0.2)
    return Model(net, "cross_entropy", optim.Adam(0.01), ["accuracy"], dtype=np.float64, engine=ENGINE)


def curves(history: train.History, *names: str) -> Any:
    return [[row[name] for name in names] for row in history.epochs]


def parts_of_arrays() -> dict[str, Any]:
    """A share of the rows as validation rows, weights of classes and of rows."""
    X, y, weights = arrays()
    rows, model = share(N), network()
    history = model.fit(
        X[rows],
        y[rows],
        sample_weight=weights[rows],
        class_weight="balanced",
        validation=0.2,
        epochs=2,
        batch_size=16,
        devices=DEVICES,
        verbose=False,
    )
    return {"arrays": curves(history, "loss", "val_loss", "val_accuracy")}


class Halved(train.Callback):
    """Half of each gradient, seen in every process."""

    def on_gradients(self, run: train.Run, gradients: Any) -> Any:
        return {name: 0.5 * gradient for name, gradient in gradients.items()}


def changed_gradients() -> dict[str, Any]:
    """By a rule that is not indifferent to their size; judged by something that processes do not agree on."""
    X, y, _ = arrays()
    rows = share(N)
    own = train.Metric("own", lambda y, p: float(share(2).start), of="scores", mode="max")
    net = nn.mlp((6,), 3)
    model = Model(net, "cross_entropy", optim.SGD(0.1), [own], dtype=np.float64, engine=ENGINE)
    settings = {"epochs": 3, "batch_size": 16, "devices": DEVICES, "verbose": False}
    stops = train.EarlyStopping(1, monitor="val_own")
    history = model.fit(X[rows], y[rows], validation=(X[:9], y[:9]), callbacks=[Halved(), stops], **settings)
    return {"halved": curves(history, "loss", "val_own")}


def time_is_over() -> dict[str, Any]:
    """The clock of process 0 decides: that of the others is set back."""
    X, y, _ = arrays()
    rows, model = share(N), network()
    stops = 0.0 if share(2).start == 0 else 1e9
    history = model.fit(X[rows], y[rows], epochs=4, max_time=stops, batch_size=16, devices=DEVICES, verbose=False)
    return {"time": len(history.epochs)}


def data_set(folder: Path) -> Any:
    """The files, of which each process reads its rows."""
    return share(data.dataset(str(folder / "*.parquet"), target="target", weight="weight"))


def plain(folder: Path) -> dict[str, Any]:
    """An estimator: classes, weights, held-out rows of all; a process holds its own rows alone."""
    numbers = data_set(folder).select(list("abc"))
    settings = {"hidden_layer_sizes": (5,), "max_iter": 2, "random_state": 0, "early_stopping": True, "batch_size": 16}
    estimator = MLPClassifier(class_weight="balanced", n_iter_no_change=5, dtype="float64", **settings)
    with on_engine(ENGINE, DEVICES):
        estimator.fit(numbers)
    held = sum(map(len, numbers.own_samples(np.float32)))
    assert held == len(range(*share(N).indices(N))), held
    assert estimator.fitted.model.engine == "auto"
    return {
        "plain": estimator.loss_curve_,
        "plain_scores": estimator.validation_scores_,
        "plain_classes": estimator.classes_.tolist(),
        "plain_answers": estimator.predict_proba(table()[list("abc")]),
    }


def parted(folder: Path) -> dict[str, Any]:
    """Whole groups, and the latest rows: all processes hold the same ones out."""
    rows = data_set(folder)
    by_group, by_time = rows.split(0.3, groups="kind"), rows.split(0.3, time="a")
    return {
        f"{how}_{side}": np.asarray(part.in_memory().X["a"], float)
        for how, parts in (("groups", by_group), ("times", by_time))
        for side, part in enumerate(parts)
    }


def all_rows_everywhere() -> dict[str, Any]:
    """Every process is given all rows, and its device takes a share of them."""
    X, y, _ = arrays()
    estimator = MLPClassifier((5,), max_iter=1, random_state=0, batch_size=16)
    with on_engine(ENGINE, DEVICES):
        estimator.fit(X, y)
    return {"everywhere": estimator.loss_curve_}


def of_tables(folder: Path) -> dict[str, Any]:
    """Preprocessing, too, is that of all rows."""
    estimator = TabularMLPClassifier(quality="fast", max_iter=2, random_state=0)
    with on_engine(ENGINE, DEVICES):
        estimator.fit(data_set(folder))
    return {"table": estimator.predict_proba(table()[["a", "b", "c", "kind"]])}


def results(folder: Path) -> dict[str, Any]:
    trained = (
        parts_of_arrays()
        | changed_gradients()
        | time_is_over()
        | plain(folder)
        | all_rows_everywhere()
        | of_tables(folder)
    )
    return trained | parted(folder)


if __name__ == "__main__":
    place, number = Path(sys.argv[1]), pellucid.distributed.join()
    np.savez(place / f"result-{number}.npz", **results(place))
