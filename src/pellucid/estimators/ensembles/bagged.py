"""BaggedMLPClassifier and BaggedMLPRegressor: several networks, and the average of what they say."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.utils import Tags, get_tags
from sklearn.utils.metaestimators import available_if

from pellucid.data.types import Array, ArrayLike
from pellucid.estimators.classifier import MLPClassifier
from pellucid.estimators.ensembles.base import BaseEnsemble
from pellucid.estimators.ensembles.outputs import ClassOutputs, NumberOutputs
from pellucid.estimators.number_target import COVERAGE, radius, shaped
from pellucid.estimators.regressor import MLPRegressor

DOC = """

    Members are copies of `estimator` (None: {default}), made by one of four methods:

    "bagging" : each is trained on a bootstrap sample, `max_samples` of the rows drawn with replacement (Breiman, 1996).
        With `early_stopping` its validation rows are those that it did not draw: a random part of the sample would hold
        copies of training rows. Rows that a member has not drawn give out-of-bag predictions and `oob_score_`; a row
        that all have drawn has NaN, and is not counted.
    "seeds" : all rows, other first weights and other batches: a deep ensemble (Lakshminarayanan et al., 2017)
    "folds" : member i is trained without fold i of `n_estimators`, which is its validation; `oob_score_` is the
        cross-validated score. Folds are stratified for classes.
    "snapshots" : one training whose learning rate falls to 0 `n_estimators` times in `max_iter` epochs; the networks
        at the end of each cycle are the members (Huang et al., 2017)

    Members are trained side by side, one on each of `n_jobs` threads (None: all processors); results do not depend on
    it. Seeds are `check_random_state(random_state).randint(2**31 - 1, size=n_estimators)`: `estimators_[i]` is what
    `clone(estimator).set_params(random_state=seeds_[i], threads=1)` learns from rows `estimators_samples_[i]`. The
    draws of a sample depend on the member's seed and the contents of the rows, not on their order (data frames and
    tables of texts are drawn from in the order they have).

    In bagging, `sample_weight` of whole numbers counts copies of rows, and samples are drawn from all the copies; other
    weights stay with the rows that are drawn.
"""

EXAMPLES = """
    {parameters}

    Examples
    --------"""


class BaggedMLPClassifier(ClassifierMixin, BaseEnsemble):  # type: ignore[misc]
    __doc__ = f"""Several classifiers whose probabilities are averaged.{DOC.format(default="MLPClassifier()")}
    Every bootstrap sample has rows of all classes: one that is missing replaces a row of a class with several. A class
    that a member has not seen (of a single row, with folds) has probability 0 there. Members without probabilities
    (loss="hinge") vote.
{EXAMPLES}
    >>> X = np.random.default_rng(0).normal(size=(300, 2))
    >>> y = np.where(X[:, 0] * X[:, 1] > 0, "same", "different")
    >>> small = MLPClassifier((16,), solver="lbfgs", max_iter=60, tol=1e-2)
    >>> clf = BaggedMLPClassifier(small, 8, random_state=0).fit(X, y)
    >>> clf.oob_score_ > 0.85
    True
    >>> mean, deviation = clf.predict_proba(X[:2], return_std=True)
    >>> mean.shape, deviation.shape
    ((2, 2), (2, 2))
    """

    _default, _kind = MLPClassifier, ClassOutputs
    _reading: ClassVar[ClassOutputs]

    @property
    def classes_(self) -> Array:
        """Classes in order; the numbers of the labels, where there are several."""
        return self._reading.classes

    def _has_probabilities(self) -> bool:
        if not hasattr(self._base(), "predict_proba"):
            raise AttributeError(f"this {type(self._base()).__name__} gives no probabilities")
        return True

    def predict(self, X: ArrayLike) -> Array:
        """The most likely class of each row.

        Parameters
        ----------
        X : array or data frame of shape (n, features)
            rows

        Returns
        -------
        array of shape (n,)
            classes; for several labels zeros and ones, (n, labels)
        """
        mean = self._mean(X)  # first of all: it says so where nothing is fitted
        return self._reading.decided(mean)

    @available_if(_has_probabilities)  # type: ignore[untyped-decorator]
    def predict_proba(self, X: ArrayLike, *, return_std: bool = False) -> Array | tuple[Array, Array]:
        """The members' mean probabilities.

        Parameters
        ----------
        X : array or data frame of shape (n, features)
            rows
        return_std : bool
            their deviation over members, too

        Returns
        -------
        array of shape (n, classes)
            probabilities; with `return_std` a pair, mean and deviation
        """
        return self._mean_and_deviation(X) if return_std else self._mean(X)

    @available_if(_has_probabilities)  # type: ignore[untyped-decorator]
    def predict_log_proba(self, X: ArrayLike) -> Array:
        """Logarithms of the mean probabilities.

        Parameters
        ----------
        X : array or data frame of shape (n, features)
            rows

        Returns
        -------
        array of shape (n, classes)
            logarithms
        """
        with np.errstate(divide="ignore"):
            return np.log(self._mean(X))

    def __sklearn_tags__(self) -> Tags:
        tags, inner = super().__sklearn_tags__(), get_tags(self._base())
        if inner.classifier_tags is not None:
            tags.classifier_tags.multi_label = inner.classifier_tags.multi_label
        return tags


class BaggedMLPRegressor(RegressorMixin, BaseEnsemble):  # type: ignore[misc]
    __doc__ = f"""Several regressors whose predictions are averaged.{DOC.format(default="MLPRegressor()").rstrip()}
{EXAMPLES}
    >>> X = np.random.default_rng(0).normal(size=(200, 2))
    >>> y = X[:, 0] ** 2 - X[:, 1]
    >>> small = MLPRegressor(hidden_layer_sizes=(16,), solver="lbfgs", max_iter=100, tol=1e-2)
    >>> reg = BaggedMLPRegressor(small, 8, random_state=0).fit(X, y)
    >>> reg.oob_score_ > 0.9
    True
    >>> low, high = reg.predict_interval(X, coverage=0.8)
    >>> print(reg.member_report(X, y).members)
    8
    """

    _default, _kind, _numeric_target = MLPRegressor, NumberOutputs, True
    _reading: ClassVar[NumberOutputs]

    def predict(self, X: ArrayLike, *, return_std: bool = False) -> Array | tuple[Array, Array]:
        """The members' mean prediction.

        Parameters
        ----------
        X : array or data frame of shape (n, features)
            rows
        return_std : bool
            their deviation over members, too

        Returns
        -------
        array of shape (n,) or (n, outputs)
            numbers; with `return_std` a pair, mean and deviation
        """
        if not return_std:
            return shaped(self._mean(X))
        mean, deviation = self._mean_and_deviation(X)
        return shaped(mean), shaped(deviation)

    def predict_interval(self, X: ArrayLike, coverage: float = 0.9) -> tuple[Array, Array]:
        """Lower and upper ends that hold the truth with this probability.

        The prediction ± a quantile of the errors of out-of-bag predictions (conformal); with a quantile loss its
        outer quantiles, moved by their errors. For the methods "bagging" and "folds".

        Parameters
        ----------
        X : array or data frame of shape (n, features)
            rows
        coverage : float
            the probability

        Returns
        -------
        pair of arrays
            each (n,) or (n, outputs)
        """
        COVERAGE.check("coverage", coverage)
        outputs = self._mean(X)
        errors = vars(self).get("_errors")
        if errors is None:
            raise ValueError(
                f"intervals need errors on rows that members have not seen, and method={self.method!r} has none: use "
                "'bagging' or 'folds'"
            )
        low, high = self._reading.ends(outputs)
        r = radius(errors, coverage)
        return shaped(low - r), shaped(high + r)
