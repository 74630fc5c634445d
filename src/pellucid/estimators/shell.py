"""What all fitted networks show: weights, curves, the output of every layer. All of it is read from `Fitted`."""

from __future__ import annotations

import copy
import math
import os
from abc import abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Generic, Self, TypeVar, overload

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from pellucid.data.dataset import Dataset
from pellucid.data.door import dataset
from pellucid.data.types import Array, ArrayLike, Matrix, Tree
from pellucid.estimators.fitted import Fitted
from pellucid.estimators.inputs import checked_weights, must_be_finite
from pellucid.estimators.learning_curves import LearningCurves, LearningRun
from pellucid.estimators.recipe import sign_of
from pellucid.estimators.seeing import Sees
from pellucid.estimators.target import Target

T = TypeVar("T")


class Learned(Generic[T]):
    """An attribute of a fitted estimator; before that there is none."""

    def __init__(self, read: Callable[[Fitted], T], doc: str) -> None:
        self.read, self.__doc__ = read, doc

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    @overload
    def __get__(self, shell: None, owner: type) -> Learned[T]: ...
    @overload
    def __get__(self, shell: Shell, owner: type) -> T: ...
    def __get__(self, shell: Shell | None, owner: type) -> T | Learned[T]:
        if shell is None:
            return self
        if not shell.__sklearn_is_fitted__():
            raise AttributeError(f"this {owner.__name__} has no {self.name} yet: call fit first")
        return self.read(shell.fitted)


class Saves:
    """An estimator that can be written to a file."""

    def save(self, path: str | os.PathLike[str]) -> None:
        """Everything in one file, preprocessing and all; `pellucid.load(path)` brings it back. No pickle inside.

        Parameters
        ----------
        path : str | PathLike
            of the file
        """
        from pellucid.estimators.storage import save_estimator

        check_is_fitted(self)
        save_estimator(self, path)


class Shell(Sees, Saves, LearningCurves, ClassNamePrefixFeaturesOutMixin, TransformerMixin):  # type: ignore[misc]
    """The readable side of an estimator."""

    def __sklearn_is_fitted__(self) -> bool:
        return "_fitted" in vars(self)

    @property
    def fitted(self) -> Fitted:
        """All that was learned, in one value."""
        check_is_fitted(self)
        fitted: Fitted = vars(self)["_fitted"]
        return fitted

    def with_fitted(self, fitted: Fitted, columns: object) -> Self:
        """Be fitted: the last thing that a fit does.

        Parameters
        ----------
        fitted : Fitted
            all that was learned
        columns : object
            has the number of features, and if any their names and the column of groups
        """
        names = ("n_features_in_", "feature_names_in_", "groups_column_")
        features = {name: getattr(columns, name) for name in names if hasattr(columns, name)}
        learned = [name for name in vars(self) if isinstance(getattr(type(self), name, None), Learned)]
        for name in (*names, *learned):  # also what a user has put in the place of what was learned
            self.__dict__.pop(name, None)
        self.__dict__.update(features, _fitted=fitted)
        return self

    def with_parameters(self, params: Tree, state: Tree) -> Self:
        """A copy whose network has other parameters and batch statistics.

        Parameters
        ----------
        params : Tree
            of the network, by name
        state : Tree
            its batch statistics, by name
        """
        model = copy.copy(self.fitted.model)
        model.params, model.state, model.progress = params, state, None
        return copy.copy(self).with_fitted(replace(self.fitted, model=model, crew=None), self)

    # attributes

    model_ = Learned(lambda fitted: fitted.model, "The `Model` inside.")
    loss_curve_ = Learned(
        lambda fitted: list(fitted.curves.losses), "The mean training loss of each epoch, the penalty included."
    )
    loss_ = Learned(
        lambda fitted: fitted.curves.losses[-1] if fitted.curves.losses else math.nan, "That of the last epoch."
    )
    best_loss_ = Learned(
        lambda fitted: None if fitted.curves.scores and fitted.early else fitted.curves.best_loss,
        "The lowest of them; None where validation rows decide.",
    )
    validation_loss_curve_ = Learned(
        lambda fitted: list(fitted.curves.validation_losses) or None,
        "The loss on the validation rows after each epoch; None without validation rows.",
    )
    validation_scores_ = Learned(
        lambda fitted: [sign_of(fitted.metric) * score for score in fitted.curves.scores] or None,
        "What is monitored, on the validation rows after each epoch; larger is better. A loss, and any metric of which "
        "less is better, has a minus ahead of it, as in scikit-learn's 'neg_log_loss'. None without validation rows.",
    )
    best_validation_score_ = Learned(
        lambda fitted: fitted.curves.best_score if fitted.curves.scores else None,
        "The largest of them.",
    )
    best_iter_ = Learned(
        lambda fitted: fitted.curves.best_iter or None, "The epoch, from 1, whose parameters were kept."
    )
    n_iter_ = Learned(lambda fitted: fitted.epochs, "Epochs of the last fit.")
    t_ = Learned(lambda fitted: fitted.curves.rows, "Rows seen so far.")
    n_layers_ = Learned(lambda fitted: len(fitted.layers) + 1, "Layers, the inputs included.")
    n_outputs_ = Learned(lambda fitted: fitted.target.outputs, "Scores that the network gives for a row.")
    out_activation_ = Learned(lambda fitted: fitted.target.link_name, "What makes predictions of scores.")
    _no_improvement_count = Learned(lambda fitted: fitted.curves.waited, "Epochs without improvement, at the end.")
    _n_features_out = Learned(
        lambda fitted: int(fitted.model.params[fitted.layers[-1][0]].shape[-2]), "Columns of `transform`."
    )

    def learning_runs(self) -> list[LearningRun]:
        fitted = self.fitted
        return [LearningRun(fitted.model.history, fitted.curves.best_iter or None if fitted.early else None)]

    # rows

    def _on(self, X: ArrayLike, work: Callable[[Fitted, Matrix], T]) -> T:
        """Have something done with new rows; where they are not finite, say where."""
        fitted, rows = self.fitted, self.network_rows(X)
        try:
            return work(fitted, rows)
        except ValueError:
            must_be_finite(self, rows)
            raise

    def logits(self, X: ArrayLike) -> Array:
        """The network's scores, ahead of the loss's link, one column for each output.

        Parameters
        ----------
        X : array of shape (n, features)
            rows

        Returns
        -------
        array of shape (n, outputs)
            scores
        """
        return self._on(X, Fitted.scores)

    def predict_batches(self, data: ArrayLike, method: str = "predict") -> Iterator[Array]:
        """Answers for a data set larger than memory, part by part; the next rows are read meanwhile.

        Parameters
        ----------
        data : Dataset, or what `pellucid.data.dataset` makes one of
            rows; of columns that have names, those of `fit` are taken
        method : str
            what is asked of each part: "predict", "predict_proba", or another method that takes rows

        Returns
        -------
        iterator of arrays
            in the order of the rows

        Examples
        --------
        >>> from pellucid import MLPClassifier
        >>> X, y = np.random.default_rng(0).normal(size=(100, 2)), np.arange(100) % 2
        >>> clf = MLPClassifier((8,), tol=1.0).fit(X, y)
        >>> [part.shape for part in clf.predict_batches([X[:60], X[60:]], "predict_proba")]
        [(60, 2), (40, 2)]
        """
        check_is_fitted(self)
        answer = getattr(self, method, None)
        if not callable(answer):
            raise ValueError(f"method is 'predict', 'predict_proba' or another that takes rows, got {method!r}")
        rows = data if isinstance(data, Dataset) else dataset(data)
        names = getattr(self, "feature_names_in_", None)
        if names is not None and rows.source.named:
            rows = rows.select([str(name) for name in names])
        return (np.asarray(answer(part.native)) for part in rows.features_alone().parts())

    def activations(self, X: ArrayLike) -> dict[str, Array]:
        """What every layer puts out, by name. Hidden layers as they leave for the next one: normalised and activated.

        Of a network with members it is the mean over them.

        Parameters
        ----------
        X : array of shape (n, features)
            rows

        Returns
        -------
        dict of arrays
            {"hidden1": (n, units), ..., "output": (n, outputs)}
        """
        return self._on(X, Fitted.outputs)

    def transform(self, X: ArrayLike) -> Array:
        """The output of the last hidden layer, as features for another model; of members the mean.

        Parameters
        ----------
        X : array of shape (n, features)
            rows

        Returns
        -------
        array of shape (n, units)
            of the last hidden layer
        """
        hidden = len(self.fitted.layers) - 1
        if not hidden:
            return np.concatenate(self._on(X, Fitted.parts))
        last = f"hidden{hidden}"
        return self._on(X, lambda fitted, rows: fitted.outputs(rows, last)[last])

    # rows with their target

    @abstractmethod
    def _pairs(self, X: ArrayLike, y: ArrayLike) -> tuple[Matrix, Array]:
        """New rows as the network takes them, and their y, both checked."""

    def _calibrate(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike = None) -> Self:
        """Learn from rows that were not trained on."""
        fitted = self.fitted
        rows, labels = self._pairs(X, y)
        check_consistent_length(rows, labels)
        fitted.target.check(labels)
        weights = checked_weights(sample_weight, rows.shape[0])
        told = fitted.target.learn_from(fitted.scores(rows), fitted.target.encode(labels), weights)
        return self.with_fitted(replace(fitted, calibration=told), self)

    def _row_weights(self, target: Target, y: Array, *, part: bool = False) -> Array | None:
        """Weights of rows by their class, or None; `part`: y is only some of the rows.   y: as the user has it"""
        return None
