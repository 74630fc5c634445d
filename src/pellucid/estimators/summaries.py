"""The summary of a fitted estimator, for its file."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from pellucid.estimators.column_list import columns_of
from pellucid.estimators.fitted import Fitted
from pellucid.estimators.recipe import name_of, sign_of
from pellucid.estimators.shell import Shell
from pellucid.train.files.summary import Summary, finite, layers_of, parameters_of, plain_columns


def summary_of_estimator(estimator: BaseEstimator) -> Summary:
    """Of a network, of several, or of an ensemble of any estimators."""
    members = getattr(estimator, "estimators_", [estimator])
    fitted = [network for member in members if isinstance(member, Shell) for network in member.fitted.networks]
    main = max(fitted, key=lambda network: len(network.layers), default=None)  # a linear one beside others is not it
    columns = columns_of(estimator)
    histories = [network.model.history for network in fitted]
    seconds = [history.seconds for history in histories if history.seconds is not None]
    known_rows = [history.rows for history in histories if history.rows is not None]
    return Summary(
        made_by=type(estimator).__name__,
        layers=layers_of(main.model) if main else "",
        networks=len(fitted),
        parameters=sum(parameters_of(network.model) for network in fitted),
        columns=plain_columns(
            {column.name: column.kind for column in columns},
            {column.name: len(column.categories) for column in columns if column.categories},
        ),
        classes=[_cell(value) for value in np.asarray(getattr(estimator, "classes_", ())).tolist()],
        rows=max(known_rows, default=None),
        epochs=main.epochs if main else None,
        best_epoch=(main.curves.best_iter or None) if main else None,
        seconds=sum(seconds) if seconds and len(seconds) == len(histories) else None,
        ending=main.model.history.stopped if main else "",
        scores=_scores(estimator, fitted),
    )


def _scores(estimator: BaseEstimator, fitted: list[Fitted]) -> dict[str, float]:
    """What rows told that were not trained on; without such rows the loss of training."""
    unseen = {"out-of-bag score": float(estimator.oob_score_)} if hasattr(estimator, "oob_score_") else {}
    if len(fitted) == 0:
        return finite(unseen)
    first = fitted[0]
    if first.curves.scores:
        unseen[f"validation {name_of(first.metric)}"] = sign_of(first.metric) * first.curves.best_score
    shell = estimator if isinstance(estimator, Shell) else None
    if shell is not None:
        unseen |= {f"held-out loss, {name}": loss for name, loss in shell.fitted.baselines.items()}
    losses = {"training loss": first.curves.losses[-1]} if first.curves.losses else {}
    return finite(unseen) or finite(losses)


def _cell(value: Any) -> Any:
    return value if value is None or type(value) in (bool, int, float, str) else str(value)
