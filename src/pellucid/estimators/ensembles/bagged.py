"""BaggedMLPClassifier and BaggedMLPRegressor: several networks, and the average of what they say."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.metrics import accuracy_score, r2_score
from sklearn.utils import get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets, type_of_target, unique_labels

from pellucid.estimators.calibration import radius
from pellucid.estimators.classifier import MLPClassifier
from pellucid.estimators.ensembles.base import BaseEnsemble
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


def _has_probabilities(ensemble: Any) -> bool:
    if not hasattr(ensemble._base(), "predict_proba"):
        raise AttributeError(f"this {type(ensemble._base()).__name__} gives no probabilities")
    return True


class BaggedMLPClassifier(ClassifierMixin, BaseEnsemble):  # type: ignore[misc]
    __doc__ = f"""Several classifiers whose probabilities are averaged.{DOC.format(default="MLPClassifier()")}
    Every bootstrap sample has rows of all classes: one that is missing replaces a row of a class with several. A class
    that a member has not seen (of a single row, with folds) has probability 0 there. Members without probabilities
    (loss="hinge") vote.

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

    def _base(self) -> Any:
        return MLPClassifier() if self.estimator is None else self.estimator

    def _learn_target(self, y: Any) -> Any:
        check_classification_targets(y)
        self._multilabel = type_of_target(y).startswith("multilabel")
        if self._multilabel:
            self.classes_ = np.arange(y.shape[1])
            return None
        self.classes_ = unique_labels(y)
        return np.searchsorted(self.classes_, y)

    def _output(self, member: Any, X: Any) -> Any:
        if hasattr(member, "predict_proba"):
            out = np.asarray(member.predict_proba(X))
        elif self._multilabel:
            return np.asarray(member.predict(X), float)
        else:
            return self._truth(member.predict(X), len(self.classes_))
        if self._multilabel or len(member.classes_) == len(self.classes_):
            return out
        aligned = np.zeros((len(out), len(self.classes_)), out.dtype)
        aligned[:, np.searchsorted(self.classes_, member.classes_)] = out
        return aligned

    def _truth(self, y: Any, columns: int) -> Any:
        if self._multilabel:
            return np.asarray(y, float)
        return (np.asarray(y)[:, None] == self.classes_).astype(float)

    def _decided(self, outputs: Any) -> Any:
        if self._multilabel:
            return (outputs > 0.5).astype(int)
        return self.classes_[np.argmax(outputs, axis=1)]

    def _score(self, outputs: Any, y: Any, weights: Any = None) -> float:
        return float(accuracy_score(y, self._decided(outputs), sample_weight=weights))

    def _keep_unseen(self, outputs: Any, some: Any, y: Any) -> None:
        self.oob_decision_function_ = outputs

    def predict(self, X: Any) -> Any:
        """The most likely class of each row, (n,); for several labels zeros and ones, (n, labels)."""
        return self._decided(self._average(X, False))

    @available_if(_has_probabilities)  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any, *, return_std: bool = False) -> Any:
        """The members' mean probabilities, (n, classes); with `return_std` their deviation over members too."""
        return self._average(X, return_std)

    @available_if(_has_probabilities)  # type: ignore[untyped-decorator]
    def predict_log_proba(self, X: Any) -> Any:
        """Logarithms of the mean probabilities."""
        with np.errstate(divide="ignore"):
            return np.log(self._average(X, False))

    def __sklearn_tags__(self) -> Any:
        tags, inner = super().__sklearn_tags__(), get_tags(self._base())
        if inner.classifier_tags is not None:
            tags.classifier_tags.multi_label = inner.classifier_tags.multi_label
        return tags


class BaggedMLPRegressor(RegressorMixin, BaseEnsemble):  # type: ignore[misc]
    __doc__ = f"""Several regressors whose predictions are averaged.{DOC.format(default="MLPRegressor()")}
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

    _numeric_target = True

    def _base(self) -> Any:
        return MLPRegressor() if self.estimator is None else self.estimator

    def _learn_target(self, y: Any) -> Any:
        self._columns = 1 if y.ndim == 1 else y.shape[1]

    def _output(self, member: Any, X: Any) -> Any:
        out = np.asarray(member.predict(X))
        return out.reshape(len(out), -1)

    def _truth(self, y: Any, columns: int) -> Any:
        """Several quantiles of an output have the same truth."""
        y = np.asarray(y, float).reshape(len(y), -1)
        return np.repeat(y, columns // y.shape[1], axis=1)

    def _score(self, outputs: Any, y: Any, weights: Any = None) -> float:
        """R²; of several quantiles there is none (NaN)."""
        y = np.asarray(y, float).reshape(len(y), -1)
        return float(r2_score(y, outputs, sample_weight=weights)) if outputs.shape == y.shape else float("nan")

    def _keep_unseen(self, outputs: Any, some: Any, y: Any) -> None:
        self.oob_prediction_ = self._shaped(outputs)
        low, high = self._ends(outputs[some])
        y = np.asarray(y, float).reshape(len(y), -1)[some]
        self._errors = np.sort(np.maximum(low - y, y - high), axis=0)

    def _shaped(self, outputs: Any) -> Any:
        return outputs[:, 0] if outputs.shape[1] == 1 else outputs

    def _ends(self, outputs: Any) -> tuple[Any, Any]:
        """The outer quantiles of each output; both are the prediction where there is one number only."""
        grouped = outputs.reshape(len(outputs), self._columns, outputs.shape[1] // self._columns)
        return grouped[:, :, 0], grouped[:, :, -1]

    def predict(self, X: Any, *, return_std: bool = False) -> Any:
        """The members' mean prediction, (n,) or (n, outputs); with `return_std` their deviation over members too."""
        found = self._average(X, return_std)
        return tuple(self._shaped(one) for one in found) if return_std else self._shaped(found)

    def predict_interval(self, X: Any, coverage: float = 0.9) -> tuple[Any, Any]:
        """Lower and upper ends that hold the truth with this probability, each (n,) or (n, outputs).

        The prediction ± a quantile of the errors of out-of-bag predictions (conformal); with a quantile loss its outer
        quantiles, moved by their errors. For the methods "bagging" and "folds".
        """
        if not 0 < coverage < 1:
            raise ValueError(f"coverage is a number between 0 and 1, got {coverage!r}")
        outputs = self._average(X, False)
        if not hasattr(self, "_errors"):
            raise ValueError(
                f"intervals need errors on rows that members have not seen, and method={self.method!r} has none: use "
                "'bagging' or 'folds'"
            )
        low, high = self._ends(outputs)
        r = radius(self._errors, coverage)
        return self._shaped(low - r), self._shaped(high + r)

    def __sklearn_tags__(self) -> Any:
        tags, inner = super().__sklearn_tags__(), get_tags(self._base())
        tags.target_tags.multi_output = inner.target_tags.multi_output
        return tags
