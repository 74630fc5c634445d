"""MLPClassifier: scikit-learn's, and what its users have asked for."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import _check_partial_fit_first_call

from pellucid import nn
from pellucid.data.types import Array, ArrayLike, Matrix
from pellucid.estimators.base import BaseMLP
from pellucid.estimators.class_target import ClassTarget, class_target, is_several, target_of
from pellucid.estimators.fitted import DRAWS, Fitted
from pellucid.estimators.inputs import checked
from pellucid.estimators.mlp_parameters import COMPAT, ClassParameters
from pellucid.estimators.shell import Learned, Shell
from pellucid.estimators.target import Target
from pellucid.nn.losses.link import LinkKind


def stochastic(estimator: BaseMLP) -> bool:
    """For `available_if`: an error that says why there is no partial_fit."""
    if not estimator.stochastic:
        raise AttributeError("partial_fit is only available for stochastic optimizers. lbfgs is not stochastic.")
    return True


def has_probabilities(estimator: ClassParameters) -> bool:
    """For `available_if`: an error that says why there is no predict_proba."""
    loss = estimator.loss
    record = nn.LOSSES.get(loss) if isinstance(loss, str) else loss
    if isinstance(record, nn.Loss) and record.link.kind is LinkKind.SIGN:
        raise AttributeError(f"the loss {record.name} gives no probabilities: use loss='log_loss'")
    return True


def classes_of(fitted: Fitted) -> ClassTarget:
    """The target of a classifier."""
    assert isinstance(fitted.target, ClassTarget)
    return fitted.target


class ClassShell(ClassifierMixin, ClassParameters, Shell):  # type: ignore[misc]
    """What classifiers answer."""

    classes_ = Learned(lambda fitted: classes_of(fitted).classes, "The classes, in the order of probabilities.")

    @property
    def temperature_(self) -> float:
        """What scores are divided by before they become probabilities (see `calibrate`)."""
        return self.fitted.calibration.temperature if self.__sklearn_is_fitted__() else 1.0

    def decision_function(self, X: ArrayLike) -> Array:
        """The scores.

        Parameters
        ----------
        X : array of shape (n, features)
            rows

        Returns
        -------
        array of shape (n,) or (n, classes)
            for two classes one number, positive for the second
        """
        return classes_of(self.fitted).decision(self.logits(X))

    def predict(self, X: ArrayLike) -> Array:
        """The most likely class of each row.

        Parameters
        ----------
        X : array of shape (n, features)
            rows

        Returns
        -------
        array of shape (n,)
            classes; for several labels zeros and ones, (n, labels)
        """
        scores = self.logits(X)
        if not hasattr(self, "predict_proba"):
            return self.fitted.target.decode(scores)
        return classes_of(self.fitted).chosen(self._likely(scores))

    @available_if(has_probabilities)  # type: ignore[untyped-decorator]
    def predict_proba(self, X: ArrayLike, *, return_std: bool = False, n_draws: int = DRAWS) -> Any:
        """Probabilities of the classes, in the order of `classes_`.

        Parameters
        ----------
        X : array of shape (n, features)
            rows
        return_std : bool
            the deviation, too: over the networks of a table, or over one with dropout at work (Gal and Ghahramani,
            2016)
        n_draws : int
            how many networks are drawn by dropout

        Returns
        -------
        array of shape (n, classes)
            probabilities; with `return_std` a pair, probabilities and deviations (with dropout the mean of its
            networks, else the probabilities are the same)
        """
        if not return_std:
            return self._likely(self.logits(X))
        return self._on(X, lambda fitted, rows: fitted.draws(rows, n_draws, self._likely, type(self).__name__))

    @available_if(has_probabilities)  # type: ignore[untyped-decorator]
    def predict_log_proba(self, X: ArrayLike) -> Array:
        """Logarithms of the probabilities, computed from the scores so that none is -inf.

        Parameters
        ----------
        X : array of shape (n, features)
            rows

        Returns
        -------
        array of shape (n, classes)
            logarithms
        """
        return self._likely(self.logits(X), log=True)

    def calibrate(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike = None) -> Self:
        """Fit the temperature on rows that were not trained on: better probabilities, the same classes.

        Parameters
        ----------
        X : array of shape (n, features)
            rows that were not trained on
        y : array of shape (n,)
            their classes
        sample_weight : array of shape (n,)
            how much each row counts

        Returns
        -------
        estimator
            itself
        """
        return self._calibrate(X, y, sample_weight)

    def _likely(self, scores: Array, log: bool = False) -> Array:
        return classes_of(self.fitted).calibrated(scores, self.fitted.calibration, log=log)

    def _row_weights(self, target: Target, y: Array, *, part: bool = False) -> Array | None:
        assert isinstance(target, ClassTarget)
        return target.row_weights(y, self.class_weight, part=part)


class MLPClassifier(ClassShell, BaseMLP):
    """A multilayer perceptron that tells classes apart: scikit-learn's `MLPClassifier`, and more.

    All parameters of scikit-learn have its names, defaults and meaning. alpha is divided by the number of training
    rows, so that it means the same for every batch size. `coefs_` and `intercepts_` may be set before or after `fit`.

    {parameters}

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(200, 2))
    >>> y = np.where(X[:, 0] * X[:, 1] > 0, "same", "different")
    >>> clf = MLPClassifier((32,), learning_rate_init=0.01, tol=0.01, class_weight="balanced", random_state=0).fit(X, y)
    >>> clf.score(X, y) > 0.9, clf.classes_.tolist()
    (True, ['different', 'same'])
    """

    def _checked(self, columns: BaseEstimator, X: ArrayLike, y: ArrayLike, *, reset: bool) -> tuple[Matrix, Array]:
        return checked(columns, X, y, reset=reset, numeric=False)

    def _target(self, y: Array, before: Target | None, *, part: bool, classes: Array | None) -> ClassTarget:
        compat = COMPAT[self.compat]
        if before is None and not part:
            return class_target(y, self.loss, self.label_smoothing, compat)
        if isinstance(before, ClassTarget):
            several, labels = before.several, before.classes
        else:  # the first part of the rows
            several = is_several(y)
            labels = np.arange(y.shape[1]) if several or classes is None else classes
        target = target_of(labels, several, self.loss, self.label_smoothing, compat)
        target.check(y, every=not part)
        return target

    @available_if(stochastic)  # type: ignore[untyped-decorator]
    def partial_fit(
        self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike = None, classes: ArrayLike = None
    ) -> Self:
        """One epoch over these rows. The optimizer goes on where it was.

        Parameters
        ----------
        X : array of shape (n, features)
            rows
        y : array of shape (n,)
            their classes
        sample_weight : array of shape (n,)
            how much each row counts
        classes : array
            all classes; the first call names them

        Returns
        -------
        estimator
            itself
        """
        holder = SimpleNamespace(**({"classes_": self.classes_} if self.__sklearn_is_fitted__() else {}))
        _check_partial_fit_first_call(holder, classes)
        return self._fit(X, y, sample_weight, incremental=True, classes=holder.classes_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        return tags
