"""Seeing through an estimator: the network inside with rows as it takes them, and what is wrong with it."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

import numpy as np
from sklearn.utils import estimator_html_repr

from pellucid.data.samples import Samples
from pellucid.data.sparse import dense
from pellucid.data.splits import evenly
from pellucid.data.types import Array, ArrayLike, Matrix
from pellucid.estimators.fitted import Fitted
from pellucid.markup import plural
from pellucid.train import Model

if TYPE_CHECKING:
    from pellucid.inspect import Diagnosis, Subject

MOST = 4096
"""Rows of a fit that are kept in memory for `diagnose`, at most."""


@dataclass(frozen=True, eq=False)
class SeenRows:
    """Some rows of the last fit, as the network takes them: for `diagnose()` without data. Never pickled or saved."""

    rows: Samples
    held: Samples | None


_SEEN: WeakKeyDictionary[Model, SeenRows] = WeakKeyDictionary()


def remember(model: Model, rows: Samples, held: Samples | None) -> None:
    """Keep some rows for as long as the model lives: evenly taken, in their order."""
    _SEEN[model] = SeenRows(_some(rows), None if held is None else _some(held))


_FOUND: WeakKeyDictionary[Model, Diagnosis] = WeakKeyDictionary()
"""The last diagnosis of each model, for as long as it lives."""


def noted(model: Model, diagnosis: Diagnosis) -> Diagnosis:
    """The diagnosis; its words are kept for the notebook. Repairs and figures are not: they hold on to rows."""
    words = (replace(finding, repair=None, figure=None) for finding in diagnosis)
    _FOUND[model] = type(diagnosis)(words, diagnosis.about)
    return diagnosis


def _some(rows: Samples) -> Samples:
    return rows.take(evenly(len(rows), MOST))


@dataclass(frozen=True, eq=False)
class Encoded:
    """An estimator whose rows are already as the network takes them."""

    estimator: Sees

    def inspected(self, X: Matrix, y: Array | None = None) -> Subject:
        return subject_of(self.estimator, X, y)


def subject_of(estimator: Sees, X: Matrix, y: Array | None) -> Subject:
    """The network of an estimator, and rows as it takes them."""
    from pellucid.inspect.subject import Subject

    fitted = estimator.fitted
    classes = getattr(fitted.target, "classes", None)
    return Subject(
        fitted.model,
        dense(X).astype(fitted.model.dtype),
        y,
        estimator.network_columns(),
        None if classes is None else tuple(classes.tolist()),
        estimator,
    )


class Sees:
    """What every estimator with a network inside can show of it."""

    @property
    @abstractmethod
    def fitted(self) -> Fitted:
        """All that was learned, in one value."""

    @abstractmethod
    def network_rows(self, X: ArrayLike) -> Matrix:
        """New rows, checked, as the network takes them.

        Parameters
        ----------
        X : array of shape (n, features)
            rows

        Returns
        -------
        array of shape (n, columns of the network)
            floats
        """

    def network_columns(self) -> tuple[str, ...]:
        """The names of the columns that the network takes."""
        from pellucid.inspect.subject import column_names

        names = getattr(self, "feature_names_in_", None)
        count = self.fitted.model.features[0]
        return column_names(count) if names is None else tuple(str(name) for name in names)

    def inspected(self, X: ArrayLike, y: ArrayLike = None) -> Subject:
        """The network, and these rows as it takes them: what `inspect.run` and its kin look at.

        Parameters
        ----------
        X : array of shape (n, features)
            rows as in `fit`
        y : array of shape (n,) or (n, outputs)
            their target, or None

        Returns
        -------
        Subject
            model, rows, names
        """
        target, rows = self.fitted.target, self.network_rows(X)
        if y is None:
            return subject_of(self, rows, None)
        labels = np.asarray(y)
        target.check(labels)
        return subject_of(self, rows, target.encode(labels))

    def diagnose(
        self, X: ArrayLike = None, y: ArrayLike = None, *, validation: tuple[ArrayLike, ArrayLike] | None = None
    ) -> Diagnosis:
        """What is wrong with the network, its data or its training: findings, the most likely cause first.

        See `pellucid.inspect.diagnose`.

        Parameters
        ----------
        X : array of shape (n, features)
            rows as in `fit`; without, rows of the last `fit` (at most 4,096 of them are kept in memory, never in
            files or pickles)
        y : array of shape (n,) or (n, outputs)
            their target
        validation : tuple
            a pair (X, y) of rows that were not trained on; by default those that the fit held back, if it did

        Returns
        -------
        Diagnosis
            print it

        Examples
        --------
        >>> import numpy as np
        >>> from pellucid import MLPClassifier
        >>> X = np.random.default_rng(0).normal(size=(300, 2)) * [1, 1e6]
        >>> clf = MLPClassifier((16,), max_iter=300, random_state=0).fit(X, X[:, 0] > 0)
        >>> clf.diagnose().codes[0]
        'input-scale'
        """
        from pellucid.inspect import diagnose

        model = self.fitted.model
        if X is not None:
            return noted(model, diagnose(self, X, y, validation=validation))
        seen = _SEEN.get(model)
        if seen is None:
            raise ValueError(
                f"{type(self).__name__}.diagnose() has no rows to look at: they are kept in memory after fit alone, "
                "not in files, pickles or copies. Write diagnose(X, y) with the rows that it was trained on"
            )
        held = None if seen.held is None else (seen.held.X, seen.held.target)
        if validation is not None:
            others = self.inspected(*validation)
            held = (others.X, others.y)
        return noted(model, diagnose(Encoded(self), seen.rows.X, seen.rows.target, validation=held))

    def _html_repr(self) -> str:
        """scikit-learn's picture of an estimator, and the findings of a diagnosis below it, where one was made."""
        page: str = estimator_html_repr(self)
        fitted: Fitted | None = vars(self).get("_fitted")
        diagnosis = None if fitted is None else _FOUND.get(fitted.model)
        if diagnosis is None:
            return page
        title = f"<summary>diagnose(): {plural(len(diagnosis), 'finding')}</summary>"
        return f"{page}<details open>{title}{diagnosis._repr_html_()}</details>"


def told(estimator: Sees, verbose: object) -> None:
    """After a fit that is to speak: a line, where something is wrong."""
    if not verbose or verbose == "silent":
        return
    diagnosis = estimator.diagnose()
    serious = [finding for finding in diagnosis if finding.severity != "note"]
    if serious:
        first, more = serious[0], f", and {len(serious) - 1} more" if len(serious) > 1 else ""
        where = f" ({first.where})" if first.where else ""
        print(f"Something is wrong: {first.code}{where}{more}. See diagnose() of the estimator.")
