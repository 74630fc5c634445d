"""Cross-validation of any model: fold by fold, or each on a worker."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from pellucid.amounts import check_whole, is_whole
from pellucid.data.dependence import column_of_groups, dependence_of, splitter_folds
from pellucid.data.named_columns import without_column
from pellucid.data.splits import are_classes, shuffled_folds, take_rows
from pellucid.markup import Brief
from pellucid.train.loop.ending import EndingKind
from pellucid.train.model import Model
from pellucid.train.workers import are_elsewhere, spread


@dataclass(frozen=True, repr=False)
class Folds(Brief):
    """The metrics of each fold on the rows it had not seen.

    Parameters
    ----------
    rows : tuple[dict[str, float], ...]
        loss and metrics of each fold, by name
    """

    rows: tuple[dict[str, float], ...]

    def mean(self, name: str = "loss") -> float:
        """The mean over the folds.

        Parameters
        ----------
        name : str
            of a metric
        """
        return float(np.mean([row[name] for row in self.rows]))

    def std(self, name: str = "loss") -> float:
        """The deviation over the folds.

        Parameters
        ----------
        name : str
            of a metric
        """
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
    time: Any = None,
    prepare: Any = None,
    sample_weight: Any = None,
    seed: int = 0,
    **fit: Any,
) -> Folds:
    """K-fold cross-validation of any model.

    Folds are done in turn, each on all threads; on the workers of a backend of joblib's, where one is set
    (`joblib.parallel_config`).

    Parameters
    ----------
    make : Callable[[], Model]
        gives a fresh model
    X : array of shape (n, features)
        rows
    y : array of shape (n,) or (n, outputs)
        their target
    folds : int | splitter
        a number (stratified for classes), or a splitter of scikit-learn
    groups : array of shape (n,) or str
        labels, or the name of a column of X, which is no feature then: rows of one group are trained on or held out
        together. Goes to the splitter, if there is one
    time : array of shape (n,) or str
        numbers, dates or ISO texts, or the name of a column of X: each fold is trained on what was before it
    prepare : transformer
        with fit and transform (a scaler): it is cloned and fitted on the training rows of each fold alone, so
        nothing leaks from the held-out rows
    sample_weight : array of shape (n,)
        how much each row counts
    seed : int
        of the folds and of each fit
    **fit
        goes to `Model.fit`

    Returns
    -------
    Folds
        the metrics of each fold on the rows it had not seen

    Examples
    --------
    >>> from pellucid import nn
    >>> X = np.random.default_rng(0).normal(size=(60, 2))
    >>> found = cross_validate(lambda: Model(nn.mlp((4,), 1)), X, X[:, 0], folds=3, epochs=2, verbose=False)
    >>> len(found.rows)
    3
    """
    labels = np.asarray(y)
    check_whole(0, seed=seed)
    if isinstance(folds, str) or not hasattr(folds, "split"):
        if not is_whole(folds, 2):
            raise ValueError(f"folds is a whole number from 2, or a splitter of scikit-learn, got {folds!r}")
        strata = labels if are_classes(labels) else None
        splits = shuffled_folds(len(labels), folds, strata, seed, dependence_of(X, groups, time))
    else:
        splits = splitter_folds(folds, X, labels, groups, time)
    X = without_column(X, column_of_groups(groups))
    work = partial(_judged, make, prepare, seed, fit)
    data = (X, y, sample_weight)
    if are_elsewhere():
        return Folds(tuple(spread(work, list(splits), data, what="cross_validate, fold")))
    return Folds(tuple(work(split, *data) for split in splits))


def _judged(
    make: Callable[[], Model], prepare: Any, seed: int, fit: dict[str, Any], split: Any, X: Any, y: Any, weights: Any
) -> dict[str, float]:
    """The metrics of a fold."""
    from sklearn.base import clone

    train, held = split
    X_train, X_held = take_rows(X, train), take_rows(X, held)
    if prepare is not None:
        fitted = clone(prepare).fit(X_train)
        X_train, X_held = fitted.transform(X_train), fitted.transform(X_held)
    model = make()
    counted = [None if weights is None else take_rows(weights, part) for part in (train, held)]
    own = copy.deepcopy(fit)  # each fold with callbacks of its own
    history = model.fit(X_train, take_rows(y, train), sample_weight=counted[0], seed=seed, **own)
    if history.ending is not None and history.ending.kind is EndingKind.INTERRUPTED:
        raise KeyboardInterrupt
    return model.evaluate(X_held, take_rows(y, held), counted[1])
