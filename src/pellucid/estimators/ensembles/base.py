"""What the two ensembles share: members drawn, trained and averaged; rows that no member has seen."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import _safe_indexing, check_random_state, get_tags
from sklearn.utils.validation import (
    check_array,
    check_consistent_length,
    check_is_fitted,
    has_fit_parameter,
    validate_data,
)

from pellucid.amounts import is_number, is_whole
from pellucid.data.sparse import dense
from pellucid.estimators.classifier import DataWarning
from pellucid.estimators.ensembles.member_spread import MemberReport, compare
from pellucid.estimators.ensembles.members import make_member, snapshots, train_members, validates
from pellucid.estimators.ensembles.resampling import Share, bags, folds
from pellucid.estimators.inputs import checked, checked_rows, checked_weights
from pellucid.estimators.saving import Saves
from pellucid.estimators.settings import check_no_checkpoint

METHODS = ("bagging", "seeds", "folds", "snapshots")
NEVER_OUT = 0.1
"""Share of rows without an out-of-bag prediction from which on there is a warning."""


def _share(value: Any) -> bool:
    return is_number(value, 0, 1, above=True, closed=True) and not is_whole(value)


def _as_table(X: Any) -> Any:
    """Lists as an array; numbers beside texts stay numbers."""
    if hasattr(X, "shape"):
        return X
    made = np.asarray(X)
    return np.asarray(X, object) if made.dtype.kind in "US" else made


class BaseEnsemble(Saves, BaseEstimator):  # type: ignore[misc]
    """Parameters, fit, and the members' outputs; what they mean is the subclasses' affair."""

    def __init__(
        self,
        estimator: Any = None,
        n_estimators: int = 10,
        *,
        method: str = "bagging",
        max_samples: float | int = 1.0,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: bool = False,
    ) -> None:
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.method = method
        self.max_samples = max_samples
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    # for the subclasses

    _numeric_target = False

    def _base(self) -> Any:
        """The estimator that members are copies of."""
        raise NotImplementedError

    def _learn_target(self, y: Any) -> Any:
        """Note what kind of target it is; the class of each row as a number, or None."""
        raise NotImplementedError

    def _output(self, member: Any, X: Any) -> Any:
        """What is averaged.   -> (n, columns)"""
        raise NotImplementedError

    def _truth(self, y: Any, columns: int) -> Any:
        """The target as outputs would be if they were perfect.   -> (n, columns)"""
        raise NotImplementedError

    def _score(self, outputs: Any, y: Any, weights: Any = None) -> float:
        """Accuracy or R² of (averaged) outputs."""
        raise NotImplementedError

    def _keep_unseen(self, outputs: Any, some: Any, y: Any) -> None:
        """What is learned from outputs of members that had not seen the row: `some` rows have them, and count."""
        raise NotImplementedError

    # fit

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> BaseEnsemble:
        """Train the members, one on each of `n_jobs` threads.   X: (n, features), y: (n,) or (n, outputs)"""
        self._check_parameters()
        before = dict(vars(self))
        try:
            X, y = self._checked(X, y)
            self._fit(X, y, self._weights(X, sample_weight))
        except BaseException:
            self.__dict__.clear()
            self.__dict__.update(before)
            raise
        return self

    def _fit(self, X: Any, y: Any, weights: Any) -> None:
        base, rng = self._base(), check_random_state(self.random_state)
        labels = self._learn_target(y)
        for name in ("oob_score_", "oob_prediction_", "oob_decision_function_", "_errors"):
            self.__dict__.pop(name, None)
        count, n = int(self.n_estimators), X.shape[0]
        self.seeds_ = rng.randint(2**31 - 1, size=count)
        whole = Share(np.arange(n), np.arange(0))
        if self.method == "snapshots":
            member = make_member(base, int(self.seeds_[0]), threads=None)
            self.estimators_ = snapshots(member, X, y, weights, count)
            self.seeds_, self.estimators_samples_ = self.seeds_[:1], [whole.rows] * len(self.estimators_)
            return
        shares = [whole] * count
        if self.method == "bagging":
            shares = bags(X, y if labels is None else labels, weights, labels, self.max_samples, self.seeds_)
        elif self.method == "folds":
            shares = folds(n, labels, count, int(rng.randint(2**31 - 1)))
        validate = self.method == "folds" or (self.method == "bagging" and validates(base))
        members = [make_member(base, int(seed)) for seed in self.seeds_]
        self.estimators_ = train_members(
            members, X, y, weights, shares, validate=validate, threads=self._threads(), verbose=bool(self.verbose)
        )
        self.estimators_samples_ = [share.rows for share in shares]
        if self.method in ("bagging", "folds"):
            self._out_of_bag(X, y, weights, shares)

    def _check_parameters(self) -> None:
        if not is_whole(self.n_estimators, 1):
            raise ValueError(f"n_estimators is a whole number from 1, got {self.n_estimators!r}")
        if self.method not in METHODS:
            raise ValueError(f"method is one of {', '.join(map(repr, METHODS))}, got {self.method!r}")
        if not _share(self.max_samples) and not is_whole(self.max_samples, 1):
            raise ValueError(
                f"max_samples is a share in (0, 1] or a whole number of rows from 1, got {self.max_samples!r}"
            )
        if self.n_jobs not in (None, -1) and not is_whole(self.n_jobs, 1):
            raise ValueError(f"n_jobs is a whole number from 1, or -1 or None for all processors, got {self.n_jobs!r}")
        check_no_checkpoint(self._base(), "members")

    def _threads(self) -> int | None:
        return None if self.n_jobs is None or self.n_jobs == -1 else int(self.n_jobs)

    def _tables(self) -> bool:
        """Do members take tables of any kind, to be handed on as they are?"""
        tags = get_tags(self._base()).input_tags
        return bool(tags.allow_nan or tags.string or tags.categorical)

    def _checked(self, X: Any, y: Any) -> tuple[Any, Any]:
        if self._tables():
            check_consistent_length(X, y)
            X = validate_data(self, X, skip_check_array=True)
            X = _as_table(X)
            y = check_array(y, ensure_2d=False, dtype="numeric" if self._numeric_target else None, input_name="y")
            return X, y[:, 0] if y.ndim == 2 and y.shape[1] == 1 else y
        X, y = checked(self, X, y, reset=True, numeric=self._numeric_target)
        return X.tocsr() if hasattr(X, "tocsr") else X, dense(y)

    def _weights(self, X: Any, given: Any) -> Any:
        if given is None:
            return None
        if not has_fit_parameter(self._base(), "sample_weight"):
            raise ValueError(f"{type(self._base()).__name__} takes no sample_weight")
        weights = checked_weights(given, X.shape[0])
        if not np.any(weights):
            raise ValueError("all sample weights are 0: nothing is left to learn from")
        return weights

    def _out_of_bag(self, X: Any, y: Any, weights: Any, shares: list[Share]) -> None:
        """Average, for each row, what members say that have not seen it."""
        total: Any = None
        votes = np.zeros(X.shape[0])
        for member, share in zip(self.estimators_, shares, strict=True):
            if len(share.held):
                out = self._output(member, _safe_indexing(X, share.held))
                total = np.zeros((X.shape[0], out.shape[1])) if total is None else total
                total[share.held] += out
                votes[share.held] += 1
        if total is None:
            total = np.zeros((X.shape[0], self._output(self.estimators_[0], _safe_indexing(X, [0])).shape[1]))
        unseen = votes > 0
        gone = 1 - np.mean(unseen)
        if gone > NEVER_OUT:
            warnings.warn(
                f"{gone:.0%} of the rows were in the bags of all {len(shares)} members: they have no out-of-bag "
                "prediction (NaN), and oob_score_ is of the others. More members (n_estimators) leave fewer.",
                DataWarning,
                stacklevel=4,
            )
        outputs = np.full(total.shape, np.nan)
        outputs[unseen] = total[unseen] / votes[unseen, None]
        some = unseen if weights is None else unseen & (weights > 0)
        self._keep_unseen(outputs, some, y)
        self.oob_score_ = (
            self._score(outputs[some], y[some], None if weights is None else weights[some])
            if np.sum(some) >= 2
            else float("nan")
        )

    # prediction

    def _rows(self, X: Any) -> Any:
        check_is_fitted(self)
        if self._tables():  # members know their columns by name, in any order
            return _as_table(X)
        return checked_rows(self, X)

    def _outputs(self, X: Any) -> Iterator[Any]:
        """Each member's, one after the other.   -> (n, columns)"""
        for member in self.estimators_:
            yield self._output(member, X)

    def _average(self, X: Any, return_std: bool) -> Any:
        """Mean over members, and their deviation if asked for."""
        X = self._rows(X)
        if return_std:
            if len(self.estimators_) < 2:
                raise ValueError("return_std needs 2 members or more, and this ensemble has one: raise n_estimators")
            found = np.stack(list(self._outputs(X)))
            return found.mean(axis=0), found.std(axis=0, ddof=1)
        total: Any = 0
        for out in self._outputs(X):
            total = total + out
        return total / len(self.estimators_)

    def member_report(self, X: Any, y: Any = None) -> MemberReport:
        """Variance and correlation of the members over these rows, and what averaging made of them.

        With `y` of their errors, and with scores, each member's beside the ensemble's. Rows that were not trained on
        tell more.
        """
        X = self._rows(X)
        found = np.stack(list(self._outputs(X)))
        if y is None:
            return compare(found)
        y = np.asarray(y)
        check_consistent_length(X, y)
        scores = tuple(self._score(out, y) for out in found)
        return compare(found, self._truth(y, found.shape[2]), scores, self._score(found.mean(axis=0), y))

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "estimators_")

    def __sklearn_tags__(self) -> Any:
        tags, inner = super().__sklearn_tags__(), get_tags(self._base())
        tags.input_tags.sparse = inner.input_tags.sparse
        tags.input_tags.allow_nan = inner.input_tags.allow_nan
        tags.input_tags.string = inner.input_tags.string
        tags.input_tags.categorical = inner.input_tags.categorical
        return tags
