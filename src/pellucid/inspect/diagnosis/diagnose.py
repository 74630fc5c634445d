"""diagnose: what is wrong with a trained network, in findings, best first."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from pellucid.blas_threads import one_thread
from pellucid.inspect.diagnosis import classes, generalisation, gradients, inputs, labels, targets, training, units
from pellucid.inspect.diagnosis.causes import ordered
from pellucid.inspect.diagnosis.evidence import Evidence
from pellucid.inspect.diagnosis.finding import Diagnosis, Finding
from pellucid.inspect.subject import Subject, subject
from pellucid.markup import plural
from pellucid.train import History

Check = Callable[[Evidence], list[Finding]]

DATA: tuple[Check, ...] = (inputs.constant, inputs.duplicate, targets.domain, targets.pairing, units.missing_activation)
"""Checks that need no parameters."""

CHECKS: tuple[Check, ...] = (
    units.symmetric,
    inputs.scale,
    targets.scale,
    labels.leak,
    gradients.start,
    units.saturated,
    units.dead,
    training.steps,
    generalisation.regularisers,
    generalisation.capacity,
    generalisation.stale,
    generalisation.overfitting,
    classes.imbalance,
    classes.metric,
    labels.noise,
    units.advice,
    units.useless,
)
"""Checks of a network with parameters, on a target that fits its loss."""


def diagnose(model: Any, X: Any, y: Any, history: History | None = None, validation: Any = None) -> Diagnosis:
    """What is wrong with a network, its data or its training: findings, the most likely cause first.

    Some checks train copies of the model for a few steps; the model itself is left as it is. A model without
    parameters is looked at as `preflight` does.

    Parameters
    ----------
    model : Model | estimator | pipeline
        most often fitted
    X : array or data frame of shape (n, features)
        the rows that it was trained on, as its `fit` takes them
    y : array of shape (n,) or (n, outputs)
        their target
    history : History | None
        that of the fit; by default the model's own
    validation : tuple
        a pair (X, y) of rows that it was not trained on

    Returns
    -------
    Diagnosis
        a sequence of findings; print it

    Examples
    --------
    >>> import numpy as np
    >>> from pellucid import Model, inspect, nn
    >>> X = np.random.default_rng(0).normal(size=(200, 3))
    >>> model = Model(nn.mlp((8,), 1, init=0.1, output_init=0.1))
    >>> history = model.fit(X, X[:, 0] * X[:, 1], epochs=5, verbose=False)
    >>> inspect.diagnose(model, X, X[:, 0] * X[:, 1]).codes[0]
    'symmetric-units'
    """
    it, held, found = gathered(model, X, y, validation)
    if it is None:
        return Diagnosis(found, f"Diagnosis of {type(model).__name__}, not fitted")
    if not it.model.params:
        from pellucid.inspect.diagnosis.preflight import looked_at

        return looked_at(it, found)
    evidence = Evidence(it, history, held)
    with one_thread(), np.errstate(all="ignore"):
        found += findings_of(evidence, DATA)
        if not evidence.misfit:
            found += findings_of(evidence, CHECKS)
    return Diagnosis(ordered(found), about(it, evidence))


def findings_of(evidence: Evidence, checks: tuple[Check, ...]) -> list[Finding]:
    return [finding for check in checks for finding in check(evidence)]


def about(it: Subject, evidence: Evidence) -> str:
    trained = f", trained {plural(evidence.curve.epochs, 'epoch')}" if evidence.curve.epochs else ""
    return f"Diagnosis of {it.who} on {plural(len(it.X), 'row')}{trained}"


def gathered(
    model: Any, X: Any, y: Any, validation: Any
) -> tuple[Subject | None, tuple[Any, Any] | None, list[Finding]]:
    """The subject on its finite rows, validation rows as it takes them, and what was found on the way."""
    if y is None:
        raise TypeError("diagnose needs y: the targets of the rows that the model was trained on")
    it, found = cleaned(model, X, y)
    held: tuple[Any, Any] | None = None
    if validation is not None:
        if not isinstance(validation, tuple | list) or len(validation) not in (2, 3):
            raise TypeError("diagnose: validation is a pair (X, y) of rows that the model was not trained on")
        refuse_other_rows(X, *validation[:2])
        try:
            other, more = cleaned(model, validation[0], validation[1])
            held = None if other is None else (other.X, other.y)
            found += [] if found else more
        except (ValueError, TypeError):  # rows that do not fit: judged without them
            held = None
    return it, held, found


def refuse_other_rows(X: Any, others: Any, labels: Any) -> None:
    """Validation rows have the columns of the others, and a target each."""
    shapes = [np.shape(rows) for rows in (X, others)]
    if shapes[0][1:] != shapes[1][1:]:
        raise ValueError(
            f"diagnose: X has shape {shapes[0]} and validation rows {shapes[1]}: the columns must be the same"
        )
    if np.shape(labels)[:1] != shapes[1][:1]:
        raise ValueError(
            f"diagnose: validation has {len(others)} rows and {len(labels)} targets: they must be the same samples"
        )


def cleaned(model: Any, X: Any, y: Any) -> tuple[Subject | None, list[Finding]]:
    """The subject; rows with inputs that are not finite are left out, and said.

    None for an estimator that was never fitted, where missing values are the reason for it.
    """
    try:
        return subject(model, X, y), []
    except ValueError as error:
        table = numbers_of(X)
        if table is None or np.isfinite(table).all():
            raise
        bad = ~np.isfinite(table)
        good = np.flatnonzero(~bad.any(axis=1))
        names = [str(name) for name in getattr(X, "columns", [f"x{j}" for j in range(table.shape[1])])]
        columns = [names[j] for j in np.flatnonzero(bad.any(axis=0))]
        found = inputs.nan(int(bad.sum()), int(bad.any(axis=1).sum()), columns)
        if isinstance(error, AttributeError):  # scikit-learn's NotFittedError is both
            return None, [found]
        if not len(good):
            return subject(model, np.where(bad, 0.0, table).reshape(np.shape(X)), y), [found]
        return subject(model, rows_of(X, good), rows_of(y, good)), [found]


def numbers_of(X: Any) -> Any:
    """X as a table of floats; None where it is none."""
    try:
        dense = X.toarray() if hasattr(X, "toarray") else X
        array = dense.to_numpy(dtype=float, na_value=np.nan) if hasattr(dense, "to_numpy") else np.asarray(dense, float)
    except (TypeError, ValueError):
        return None
    return array.reshape(len(array), -1) if array.ndim >= 2 else None


def rows_of(table: Any, index: Any) -> Any:
    """Some rows of an array, a frame or a sparse matrix."""
    if hasattr(table, "iloc"):
        return table.iloc[index]
    return table[index] if hasattr(table, "shape") else np.asarray(table)[index]
