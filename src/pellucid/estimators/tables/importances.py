"""What the columns of a table are worth to a fitted network: columns as the user has them, not as the network does."""

from __future__ import annotations

from abc import abstractmethod
from typing import ClassVar

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_consistent_length

from pellucid.amounts import check_whole
from pellucid.data.types import Array, ArrayLike
from pellucid.estimators.fitted import Fitted
from pellucid.estimators.importances import Importances, permuted
from pellucid.estimators.inputs import checked_weights
from pellucid.estimators.mlp_parameters import RandomState
from pellucid.estimators.shell import Shell
from pellucid.estimators.tables.columns import Table
from pellucid.estimators.tables.preprocessor import TablePreprocessor

REPEATS = 5
"""Permutations of each column."""


class TableImportances(Shell):
    """The columns' worth, as measured in `fit`, or on other rows."""

    preprocessor_: ClassVar[TablePreprocessor]  # of each object; for type checkers no parameter

    @abstractmethod
    def _checked_target(self, y: ArrayLike) -> Array:
        """y checked: (n,) or (n, outputs)."""

    @property
    def importances_(self) -> Importances:
        """How far the score on the held-out rows falls when a column is shuffled: names, mean, deviation; print it."""
        if not self.__sklearn_is_fitted__():
            raise AttributeError(f"this {type(self).__name__} has no importances_ yet: call fit first")
        importances = self.fitted.importances
        if importances is None:
            raise AttributeError(
                f"the last fit of this {type(self).__name__} measured no importances: set importances=True ahead of "
                "fit, or measure them on rows of your own, permutation_importances(X, y)"
            )
        return importances

    @property
    def feature_importances_(self) -> Array:
        """Their means, in the order of the columns in `fit`: a share of R² or of accuracy.   (features,)"""
        return self.importances_.mean

    def permutation_importances(
        self,
        X: ArrayLike,
        y: ArrayLike,
        sample_weight: ArrayLike = None,
        *,
        n_repeats: int = REPEATS,
        random_state: RandomState = None,
    ) -> Importances:
        """How far the score falls when one column of X is shuffled (Breiman, 2001).

        Columns are those of the table, with all that the preprocessor makes of them. Two columns that tell the same
        stand in for each other: both seem to be worth little.

        Parameters
        ----------
        X : data frame or array of shape (n, features)
            rows; those that were not trained on tell more
        y : array of shape (n,) or (n, outputs)
            their target
        sample_weight : array of shape (n,)
            how much each row counts
        n_repeats : int
            permutations of each column
        random_state : int | RandomState | None
            for the permutations

        Returns
        -------
        Importances
            print it; `names`, `mean`, `deviation`
        """
        check_whole(1, n_repeats=n_repeats)
        fitted, table, truth = self.fitted, self.preprocessor_.known_table(X), self._checked_target(y)
        check_consistent_length(table.columns[0], truth)
        fitted.target.check(truth)
        weights = checked_weights(sample_weight, table.rows)
        rng = check_random_state(random_state)
        return table_importances(
            fitted, self.preprocessor_, table, fitted.target.encode(truth), weights, rng, n_repeats
        )


def table_importances(
    fitted: Fitted,
    preprocessor: TablePreprocessor,
    table: Table,
    encoded: Array,
    weights: Array | None,
    rng: np.random.RandomState,
    repeats: int = REPEATS,
) -> Importances:
    """Of the columns of a table that is known to the preprocessor, in the order of `fit`.   encoded: its target"""
    names = [str(name) for name in getattr(preprocessor, "feature_names_in_", table.names)]
    places = [table.names.index(name) for name in names]
    ordered = table.columns_at(places)

    def score(columns: list[Array]) -> float:
        rows = preprocessor.apply_table(ordered._replace(columns=columns))
        return fitted.target.score(fitted.scores(rows), encoded, weights)

    return permuted(names, ordered.columns, score, repeats, rng)
