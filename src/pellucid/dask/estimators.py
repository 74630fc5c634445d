"""Estimators by the conventions of LightGBM's for Dask: `client=None`, lazy predictions, `.to_local()`.

A fit is one training by all workers that hold partitions: each starts a process that runs JAX, and is given the
partitions of its worker. It is the fit of a `pellucid.data.Dataset` that they share: rows stay where they are, classes
and preprocessing are learned of all. Predictions are made where the partitions lie.
"""

from __future__ import annotations

from typing import Any, ClassVar

from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError

from pellucid import estimators as local
from pellucid.dask.partitions import kept_by_workers, lazily
from pellucid.dask.training import trained


class OnDask(BaseEstimator):  # type: ignore[misc]
    """An estimator of `pellucid` for Dask's collections. Its parameters are those of `kind`, and `client`.

    Parameters
    ----------
    client : distributed.Client | None
        of the cluster; None is the client that was made last
    **parameters
        those of the estimator

    Examples
    --------
    ::

        from distributed import Client, LocalCluster
        from pellucid.dask import TabularMLPClassifier

        client = Client(LocalCluster(n_workers=2))
        model = TabularMLPClassifier(random_state=0).fit(frame[columns], frame["target"])
        model.predict(frame[columns])       # lazy
        model.to_local().save("model.pel")
    """

    kind: ClassVar[type[Any]]

    def __init__(self, client: Any = None, **parameters: Any) -> None:
        self.client = client
        self.estimator = self.kind(**parameters)

    @classmethod
    def _get_param_names(cls) -> list[str]:
        return ["client", *cls.kind().get_params(deep=False)]

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters of the estimator, and the client.

        Parameters
        ----------
        deep : bool
            those of nested settings, too
        """
        return {"client": self.client, **self.estimator.get_params(deep)}

    def set_params(self, **parameters: Any) -> OnDask:
        """Change parameters.

        Parameters
        ----------
        **parameters
            by name
        """
        if "client" in parameters:
            self.client = parameters.pop("client")
        self.estimator.set_params(**parameters)
        return self

    @property
    def client_(self) -> Any:
        """The client that is used: the given one, or the one that was made last."""
        if self.client is not None:
            return self.client
        from distributed import default_client

        return default_client()

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> OnDask:
        """Train on the workers that hold the partitions, each on its own.

        Parameters
        ----------
        X : dask DataFrame or Array
            rows
        y : dask Series or Array
            their target, partitioned alike
        sample_weight : dask Series or Array
            how much each row counts
        """
        partitions = kept_by_workers(self.client_, X, y, sample_weight)
        self._fitted = trained(self.client_, self.estimator, partitions)
        return self

    def to_local(self) -> Any:
        """The fitted estimator, without Dask."""
        if not hasattr(self, "_fitted"):
            raise NotFittedError(f"this {type(self).__name__} is not fitted yet: call fit(X, y) first")
        return self._fitted

    def predict(self, X: Any) -> Any:
        """Predictions, when they are asked for: of a frame a Series, of an array an Array.

        Parameters
        ----------
        X : dask DataFrame or Array
            rows
        """
        return lazily(X, self.to_local(), "predict")

    def score(self, X: Any, y: Any) -> float:
        """Accuracy or R² of all rows, which are brought here.

        Parameters
        ----------
        X : dask DataFrame or Array
            rows
        y : dask Series or Array
            their target
        """
        import dask

        rows, target = dask.compute(X, y)
        return float(self.to_local().score(rows, target))

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        return str(self.estimator.__repr__(N_CHAR_MAX))

    def __getstate__(self) -> dict[str, Any]:
        """What is stored: without the client, which belongs to this process."""
        return super().__getstate__() | {"client": None}  # type: ignore[no-any-return]

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_fitted")


class Classifying(OnDask):
    """What classifiers answer beside."""

    @property
    def classes_(self) -> Any:
        """The classes, sorted."""
        return self.to_local().classes_

    def predict_proba(self, X: Any) -> Any:
        """A probability for each class, when they are asked for.

        Parameters
        ----------
        X : dask DataFrame or Array
            rows
        """
        return lazily(X, self.to_local(), "predict_proba")


class MLPClassifier(Classifying):
    """`pellucid.MLPClassifier` on Dask.

    Parameters
    ----------
    client : distributed.Client | None
        of the cluster; None is the client that was made last
    **parameters
        those of `pellucid.MLPClassifier`
    """

    kind = local.MLPClassifier


class MLPRegressor(OnDask):
    """`pellucid.MLPRegressor` on Dask.

    Parameters
    ----------
    client : distributed.Client | None
        of the cluster; None is the client that was made last
    **parameters
        those of `pellucid.MLPRegressor`
    """

    kind = local.MLPRegressor


class TabularMLPClassifier(Classifying):
    """`pellucid.TabularMLPClassifier` on Dask.

    Parameters
    ----------
    client : distributed.Client | None
        of the cluster; None is the client that was made last
    **parameters
        those of `pellucid.TabularMLPClassifier`
    """

    kind = local.TabularMLPClassifier


class TabularMLPRegressor(OnDask):
    """`pellucid.TabularMLPRegressor` on Dask.

    Parameters
    ----------
    client : distributed.Client | None
        of the cluster; None is the client that was made last
    **parameters
        those of `pellucid.TabularMLPRegressor`
    """

    kind = local.TabularMLPRegressor
