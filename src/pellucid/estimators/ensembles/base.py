"""What the two ensembles share: members drawn, trained and averaged."""

from __future__ import annotations

import copy
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import Tags, check_random_state, get_tags
from sklearn.utils.validation import (
    check_array,
    check_consistent_length,
    check_is_fitted,
    has_fit_parameter,
    validate_data,
)

from pellucid.amounts import WHOLE, Condition, is_number, is_whole, one_of
from pellucid.data.dependence import Dependence, column_of_groups, dependence_of
from pellucid.data.named_columns import without_column
from pellucid.data.sparse import dense
from pellucid.data.types import Array, ArrayLike, Matrix
from pellucid.estimators.ensembles.members import make_member, snapshots, train_members, validates
from pellucid.estimators.ensembles.outputs import OF_UNSEEN, Outputs, out_of_bag
from pellucid.estimators.ensembles.resampling import Share, bags, folds
from pellucid.estimators.ensembles.spread import MemberReport, compare
from pellucid.estimators.inputs import Learner, checked, checked_rows, checked_weights, groups_column, note_groups
from pellucid.estimators.learning_curves import LearningCurves, LearningRun, runs_of_members
from pellucid.estimators.parameters import Parameters, parameter
from pellucid.estimators.settings import check_no_checkpoint
from pellucid.estimators.shell import Saves

METHODS = ("bagging", "seeds", "folds", "snapshots")
ROWS = Condition(
    lambda value: is_whole(value) or is_number(value, 0, 1, above=True, closed=True),
    "a share in (0, 1] or a whole number of rows from 1",
)
JOBS = Condition(
    lambda value: value in (None, -1) or is_whole(value), "a whole number from 1, or -1 or None for all processors"
)


class BaseEnsemble(Parameters, Saves, LearningCurves, BaseEstimator):  # type: ignore[misc]
    """Parameters, fit, and the members' outputs; what they mean is the subclasses' affair."""

    estimator: Learner | None = parameter(
        default=None, doc="what members are copies of; None is one of this library's, as it comes", kw_only=False
    )
    n_estimators: int = parameter(default=10, condition=WHOLE, doc="how many members", kw_only=False)
    method: str = parameter(
        default="bagging",
        condition=one_of(*METHODS, words=f"one of {', '.join(map(repr, METHODS))}"),
        doc='how members are made: "bagging", "seeds", "folds" or "snapshots"',
    )
    max_samples: float | int = parameter(
        default=1.0,
        condition=ROWS,
        doc="size of a bootstrap sample: a share of the rows, or their number",
    )
    n_jobs: int | None = parameter(
        default=None,
        condition=JOBS,
        doc="members trained side by side, one on each thread; None and -1 take all processors",
    )
    random_state: int | np.random.RandomState | None = parameter(
        default=None, doc="a seed or generator, for the seeds of members and their rows"
    )
    verbose: bool = parameter(default=False, doc="show a progress bar")

    # for the subclasses (ClassVar: for type checkers no parameters)

    _default: ClassVar[type[Learner]]  # members are copies of such a one
    _kind: ClassVar[type[Outputs]]
    _numeric_target: ClassVar[bool] = False
    _reading: ClassVar[Outputs]  # of each object: how outputs of its members are read
    estimators_: ClassVar[list[Any]]  # of each object: estimators of any kind, with attributes of their own

    def _base(self) -> Learner:
        """The estimator that members are copies of."""
        return self._default() if self.estimator is None else self.estimator

    # fit

    def fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        sample_weight: ArrayLike = None,
        *,
        groups: ArrayLike = None,
        time: ArrayLike = None,
    ) -> BaseEnsemble:
        """Train the members, one on each of `n_jobs` threads. If it fails, the ensemble is as it was.

        Parameters
        ----------
        X : array or data frame of shape (n, features)
            rows
        y : array of shape (n,) or (n, outputs)
            their target
        sample_weight : array of shape (n,)
            how much each row counts
        groups : array of shape (n,) or str
            labels, or the name of a column of X, which is no feature then (and may be absent when predicting): a
            member has seen all rows of a group, or none of them. Bootstrap samples are of whole groups
        time : array of shape (n,) or str
            numbers, dates or ISO texts, or the name of a column of X: a member is checked by rows that are later than
            those it has seen. Bootstrap samples leave out the latest fifth of the rows; with folds, member i has seen
            what was before fold i

        Returns
        -------
        estimator
            itself
        """
        for name, one in self.declared.items():
            one.condition.check(name, getattr(self, name))
        check_no_checkpoint(self._base(), "members")
        dependence, column = self._dependence(X, groups, time), column_of_groups(groups)
        successor = copy.copy(self)  # features are noted there: this ensemble changes when all has gone well
        note_groups(successor, column)
        rows, target = self._checked(successor, without_column(X, column), y)
        weights = self._weights(rows, sample_weight)
        reading = self._kind.learn(target)
        seeds, shares, members = self._trained(rows, target, weights, reading.labels(target), dependence)
        attributes: dict[str, object] = {
            "_reading": reading,
            "seeds_": seeds,
            "estimators_": members,
            "estimators_samples_": [share.rows for share in shares],
        }
        if self.method in ("bagging", "folds"):
            by_time = dependence is not None and dependence.ordered  # then the first rows are seen by all
            attributes |= out_of_bag(reading, members, shares, rows, target, weights, warns=not by_time)
        self.__dict__ = {name: value for name, value in vars(successor).items() if name not in OF_UNSEEN} | attributes
        return self

    def _trained(
        self, X: Matrix, y: Array, weights: Array | None, labels: Array | None, dependence: Dependence | None
    ) -> tuple[Array, list[Share], list[Learner]]:
        """Seeds, the rows that each member was trained on, and the members."""
        base, rng = self._base(), check_random_state(self.random_state)
        count, n = int(self.n_estimators), X.shape[0]
        seeds: Array = rng.randint(2**31 - 1, size=count)
        shares = [Share(np.arange(n), np.arange(0))] * count
        if self.method == "snapshots":
            members = snapshots(make_member(base, int(seeds[0]), threads=None), X, y, weights, count)
            return seeds[:1], shares[: len(members)], members
        if self.method == "bagging":
            shares = bags(X, y if labels is None else labels, weights, labels, self.max_samples, seeds, dependence)
        elif self.method == "folds":
            shares = folds(n, labels, count, int(rng.randint(2**31 - 1)), dependence)
        members = train_members(
            [make_member(base, int(seed)) for seed in seeds],
            X,
            y,
            weights,
            shares,
            dependence,
            validate=self.method == "folds" or (self.method == "bagging" and validates(base)),
            threads=None if self.n_jobs in (None, -1) else self.n_jobs,
            verbose=bool(self.verbose),
        )
        return seeds, shares, members

    def _takes_tables(self) -> bool:
        """Do members take tables of any kind, to be handed on as they are?"""
        tags = get_tags(self._base()).input_tags
        return bool(tags.allow_nan or tags.string or tags.categorical)

    def _checked(self, noting: BaseEstimator, X: ArrayLike, y: ArrayLike) -> tuple[Matrix, Array]:
        """Rows and target, checked; number and names of the features are noted on `noting`."""
        if self._takes_tables():
            check_consistent_length(X, y)
            rows = _as_table(validate_data(noting, X, skip_check_array=True))
            target: Array = check_array(
                y, ensure_2d=False, dtype="numeric" if self._numeric_target else None, input_name="y"
            )
            return rows, target[:, 0] if target.ndim == 2 and target.shape[1] == 1 else target
        rows, target = checked(noting, X, y, reset=True, numeric=self._numeric_target)
        return rows.tocsr() if hasattr(rows, "tocsr") else rows, dense(target)

    def _weights(self, X: Matrix, sample_weight: ArrayLike) -> Array | None:
        if sample_weight is not None and not has_fit_parameter(self._base(), "sample_weight"):
            raise ValueError(f"{type(self._base()).__name__} takes no sample_weight")
        return checked_weights(sample_weight, X.shape[0])

    def _dependence(self, X: ArrayLike, groups: ArrayLike, time: ArrayLike) -> Dependence | None:
        dependence = dependence_of(X, groups, time)
        if dependence is not None and self.method == "seeds" and not has_fit_parameter(self._base(), "groups"):
            raise ValueError(
                f"{type(self._base()).__name__} takes no groups and no time, and with method='seeds' they are for the "
                "members alone: use 'bagging' or 'folds'"
            )
        return dependence

    # prediction

    @property
    def reading(self) -> Outputs:
        """How the outputs of members are read: what is averaged, and what is decided by the mean."""
        check_is_fitted(self)
        return self._reading

    def _rows(self, X: ArrayLike) -> Matrix:
        check_is_fitted(self)
        if not self._takes_tables():
            return checked_rows(self, X)
        return _as_table(without_column(X, groups_column(self)))  # tables know their columns by name

    def _mean(self, X: ArrayLike) -> Array:
        """The mean over members."""
        rows = self._rows(X)
        return np.asarray(sum(self._reading.of(member, rows) for member in self.estimators_) / len(self.estimators_))

    def _mean_and_deviation(self, X: ArrayLike) -> tuple[Array, Array]:
        """The mean over members, and their deviation."""
        rows = self._rows(X)
        if len(self.estimators_) < 2:
            raise ValueError("return_std needs 2 members or more, and this ensemble has one: raise n_estimators")
        outputs = np.stack([self._reading.of(member, rows) for member in self.estimators_])
        return outputs.mean(axis=0), outputs.std(axis=0, ddof=1)

    def learning_runs(self) -> list[LearningRun]:
        check_is_fitted(self)
        return runs_of_members(self.estimators_)

    @property
    def feature_importances_(self) -> Array:
        """The mean of the members', each measured on rows that it has not seen: of tables with `importances=True`."""
        if "estimators_" not in vars(self):
            raise AttributeError(f"this {type(self).__name__} has no feature_importances_ yet: call fit first")
        return np.asarray(np.mean([member.feature_importances_ for member in self.estimators_], axis=0))

    def member_report(self, X: ArrayLike, y: ArrayLike = None) -> MemberReport:
        """Variance and correlation of the members over these rows, and what averaging made of them.

        Parameters
        ----------
        X : array or data frame of shape (n, features)
            rows; those that were not trained on tell more
        y : array of shape (n,) or (n, outputs)
            their target: then it is of the members' errors, and there are scores, each member's beside the
            ensemble's

        Returns
        -------
        MemberReport
            print it
        """
        rows, reading = self._rows(X), self._reading
        outputs = np.stack([reading.of(member, rows) for member in self.estimators_])
        if y is None:
            return compare(outputs)
        target = np.asarray(y)
        check_consistent_length(rows, target)
        scores = tuple(reading.score(one, target) for one in outputs)
        score = reading.score(outputs.mean(axis=0), target)
        return compare(outputs, reading.truth(target, outputs.shape[2]), scores, score)

    def __sklearn_tags__(self) -> Tags:
        tags, inner = super().__sklearn_tags__(), get_tags(self._base())
        for name in ("sparse", "allow_nan", "string", "categorical"):
            setattr(tags.input_tags, name, getattr(inner.input_tags, name))
        if self._numeric_target:
            tags.target_tags.multi_output = inner.target_tags.multi_output
        return tags


def _as_table(X: ArrayLike) -> Matrix:
    """Lists as an array; numbers beside texts stay numbers."""
    if hasattr(X, "shape"):
        return X
    array = np.asarray(X)
    return np.asarray(X, object) if array.dtype.kind in "US" else array
