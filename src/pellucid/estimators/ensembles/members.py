"""Members of an ensemble: made with their seeds, and trained side by side."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np
from sklearn.base import clone, is_classifier
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import has_fit_parameter

from pellucid.data.types import Array, Matrix
from pellucid.estimators.ensembles.gathered_warnings import gathered_warnings
from pellucid.estimators.ensembles.resampling import Share
from pellucid.estimators.protocols import Learner
from pellucid.train.side_by_side import side_by_side


def make_member(estimator: Learner, seed: int, threads: int | None = 1) -> Learner:
    """A copy with this seed, computing on one thread; inside pipelines too."""
    member: Learner = clone(estimator)
    values = {"random_state": seed} | ({} if threads is None else {"threads": threads})
    names = {name: name.rpartition("__")[2] for name in member.get_params()}
    return member.set_params(**{name: values[last] for name, last in names.items() if last in values})


def validates(estimator: Learner) -> bool:
    """Does its training look at validation rows, and would it take them from the rows it is given?"""
    params = estimator.get_params(deep=False)
    return bool(params.get("early_stopping", params.get("validation_fraction", 0)))


def train_members(
    members: Sequence[Learner],
    X: Matrix,
    y: Array,
    weights: Array | None,
    shares: Sequence[Share],
    *,
    validate: bool,
    threads: int | None,
    verbose: bool,
) -> list[Learner]:
    """Fit each member to its share, one on each thread. With `validate` the rows it never sees are its validation."""
    classes = y.ndim == 1 and is_classifier(members[0])

    def work(member: Learner, share: Share) -> Learner:
        rows, more = share.rows, dict[str, object]()
        held = share.held if weights is None else share.held[weights[share.held] > 0]
        if weights is not None and not share.weighted:
            held = np.repeat(held, weights[held].astype(int))  # copies of rows check as often as they count
        if validate and len(held) and has_fit_parameter(member, "val_rows"):
            rows = np.concatenate([rows, held])
            more["val_rows"] = np.arange(len(share.rows), len(rows))
        elif validate and has_fit_parameter(member, "X_val"):
            judges = held[np.isin(y[held], y[rows])] if classes else held  # a class it has not met cannot be scored
            if len(judges):
                more |= {"X_val": _safe_indexing(X, judges), "y_val": y[judges]}
                if has_fit_parameter(member, "sample_weight_val"):
                    more |= _weights_of(share, judges, weights, "sample_weight_val")
        more |= _weights_of(share, rows, weights, "sample_weight")
        if np.array_equal(rows, np.arange(X.shape[0])):
            member.fit(X, y, **more)  # all rows as they are: nothing is copied
        else:
            member.fit(_safe_indexing(X, rows), y[rows], **more)
        return member

    works = [partial(work, member, share) for member, share in zip(members, shares, strict=True)]
    with gathered_warnings():
        return side_by_side(works, threads=threads, verbose=verbose, what="ensemble, member")


def _weights_of(share: Share, rows: Array, weights: Array | None, name: str) -> dict[str, object]:
    """The argument of `fit` with the weights of these rows, where they count."""
    return {} if weights is None or not share.weighted else {name: weights[rows]}
