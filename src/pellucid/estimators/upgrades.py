"""What was learned, as older files have it, turned into what the classes hold today."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from pellucid.estimators.calibration import Calibration
from pellucid.estimators.class_target import ClassTarget
from pellucid.estimators.classifier import MLPClassifier
from pellucid.estimators.compat import COMPAT
from pellucid.estimators.ensembles.outputs import ClassOutputs, NumberOutputs
from pellucid.estimators.fitted import Fitted
from pellucid.estimators.number_target import NumberTarget, Units
from pellucid.estimators.parameters import Parameters
from pellucid.estimators.regressor import MLPRegressor
from pellucid.estimators.tables.encoding import Encoding
from pellucid.estimators.tables.layout import Layout
from pellucid.estimators.tables.tabular import TabularMLPClassifier, TabularMLPRegressor
from pellucid.estimators.target import Target

LAYOUT = {
    "names": "_names",
    "named": "_named",
    "kinds": "kinds_",
    "categories": "categories_",
    "dates": "_dates",
    "one_hot": "_one_hot",
}
ENCODING = {
    "imputer": "_imputer",
    "marked": "_indicated",
    "encoder": "_encoder",
    "coder": "_coder",
    "scalers": "_scalers",
    "scaled": "_scaled",
    "scaled_out": "_n_scaled_out",
}
"""Fields of a preprocessor's records by the attributes that it had before."""

DERIVED = ("_order", "_embedded", "embedding_sizes_")


def _table_preprocessor(state: dict[str, Any]) -> dict[str, Any]:
    if "_names" not in state:
        return state
    layout = Layout(**{field: state[name] for field, name in LAYOUT.items()})
    encoding = Encoding(layout, **{field: state[name] for field, name in ENCODING.items()})
    old = {*LAYOUT.values(), *ENCODING.values(), *DERIVED}
    return {name: value for name, value in state.items() if name not in old} | {"_encoding": encoding}


COLUMNS = ("n_features_in_", "feature_names_in_")


def _network(state: dict[str, Any]) -> dict[str, Any]:
    """An MLPClassifier or MLPRegressor that kept all it knew as attributes of its own."""
    if "model_" not in state:
        return state
    model, outputs, told = state["model_"], state["n_outputs_"], state["_calibration"]
    target: Target = NumberTarget(model.loss, outputs)
    if "classes_" in state:
        several, compat = state["_kind"] == "multilabel", COMPAT[state["compat"]]
        target = ClassTarget(model.loss, outputs, state["classes_"], several, compat.strata_of_two)
    fitted = Fitted(
        model,
        target,
        state["_metric"],
        state["_curves"],
        epochs=state["n_iter_"],
        limit=state["max_iter"],
        early=bool(state["early_stopping"]),
        seed=state["_seed"],
        drawn=state["_drawn"],
        calibration=Calibration(told.get("temperature", 1.0), told.get("residuals")),
    )
    return _parameters(state, MLPClassifier if "classes_" in state else MLPRegressor) | {"_fitted": fitted}


def _table(state: dict[str, Any]) -> dict[str, Any]:
    """A table estimator with another estimator inside."""
    if "estimator_" not in state:
        return state
    fitted = state["estimator_"].fitted
    kind: type[Parameters] = TabularMLPClassifier
    if "_shift" in state:
        kind, units = TabularMLPRegressor, Units(state["_shift"], state["_factor"])
        fitted = replace(fitted, target=replace(fitted.target, units=units))
    return _parameters(state, kind) | {"_fitted": fitted, "preprocessor_": state["preprocessor_"]}


def _parameters(state: dict[str, Any], kind: type[Parameters]) -> dict[str, Any]:
    return {name: value for name, value in state.items() if name in kind.declared or name in COLUMNS}


def _bagged_classifier(state: dict[str, Any]) -> dict[str, Any]:
    if "_multilabel" in state:
        state["_reading"] = ClassOutputs(state.pop("classes_"), state.pop("_multilabel"))
    return state


def _bagged_regressor(state: dict[str, Any]) -> dict[str, Any]:
    if "_columns" in state:
        state["_reading"] = NumberOutputs(state.pop("_columns"))
    return state


UPGRADES: dict[str, Callable[[dict[str, Any]], dict[str, Any]]] = {
    "MLPClassifier": _network,
    "MLPRegressor": _network,
    "TabularMLPClassifier": _table,
    "TabularMLPRegressor": _table,
    "BaggedMLPClassifier": _bagged_classifier,
    "BaggedMLPRegressor": _bagged_regressor,
    "TablePreprocessor": _table_preprocessor,
}
"""By the name of the class: from the attributes or fields in a file to those that the class has now."""
