"""Cross-validation of models, by scikit-learn's splitters."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from pellucid.amounts import check_whole, is_whole
from pellucid.data.splits import take_rows
from pellucid.markup import Brief
from pellucid.train.loop.ending import EndingKind
from pellucid.train.model import Model


@dataclass(frozen=True, repr=False)
class Folds(Brief):
    """The metrics of each fold on the rows it had not seen."""

    rows: tuple[dict[str, float], ...]

    def mean(self, name: str = "loss") -> float:
        return float(np.mean([row[name] for row in self.rows]))

    def std(self, name: str = "loss") -> float:
        return float(np.std([row[name] for row in self.rows], ddof=1))

    def __str__(self) -> str:
        names = list(self.rows[0])
        lines = ["fold  " + "  ".join(f"{name:>12}" for name in names)]
        lines += [f"{i:<4}  " + "  ".join(f"{row[n]:12.6g}" for n in names) for i, row in enumerate(self.rows, 1)]
        lines.append("mean  " + "  ".join(f"{self.mean(n):12.6g}" for n in names))
        return "\n".join(lines)


def cross_validate(
    make: Callable[[], Model],
    X: Any,
    y: Any,
    *,
    folds: Any = 5,
    groups: Any = None,
    prepare: Any = None,
    sample_weight: Any = None,
    seed: int = 0,
    **fit: Any,
) -> Folds:
    """K-fold cross-validation of any model. `make` gives a fresh model, `fit` goes to `Model.fit`.

    `folds` is a number (stratified for classes) or a splitter of scikit-learn; `groups` goes to it. `prepare` is a
    transformer with fit and transform (a scaler): it is cloned and fitted on the training rows of each fold alone, so
    nothing leaks from the held-out rows.

    >>> from pellucid import nn
    >>> X = np.random.default_rng(0).normal(size=(60, 2))
    >>> found = cross_validate(lambda: Model(nn.mlp((4,), 1)), X, X[:, 0], folds=3, epochs=2, verbose=False)
    >>> len(found.rows)
    3
    """
    from sklearn.base import clone
    from sklearn.model_selection import KFold, StratifiedKFold

    labels = np.asarray(y)
    check_whole(0, seed=seed)
    if isinstance(folds, str) or not hasattr(folds, "split"):
        if not is_whole(folds, 2):
            raise ValueError(f"folds is a whole number from 2, or a splitter of scikit-learn, got {folds!r}")
        by_class = labels.ndim == 1 and labels.dtype.kind in "iubOU"
        folds = (StratifiedKFold if by_class else KFold)(folds, shuffle=True, random_state=seed)
    rows = []
    for train, held in folds.split(X, labels, groups):
        X_train, X_held = take_rows(X, train), take_rows(X, held)
        if prepare is not None:
            fitted = clone(prepare).fit(X_train)
            X_train, X_held = fitted.transform(X_train), fitted.transform(X_held)
        model = make()
        weights = [None if sample_weight is None else take_rows(sample_weight, part) for part in (train, held)]
        own = copy.deepcopy(fit)  # each fold with callbacks of its own
        history = model.fit(X_train, take_rows(y, train), sample_weight=weights[0], seed=seed, **own)
        if history.ending is not None and history.ending.kind is EndingKind.INTERRUPTED:
            raise KeyboardInterrupt
        rows.append(model.evaluate(X_held, take_rows(y, held), weights[1]))
    return Folds(tuple(rows))
