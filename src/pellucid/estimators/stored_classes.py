"""What may be in a file of an estimator: classes by name, and what they hold today of what older files have."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from sklearn.decomposition import PCA
from sklearn.impute import MissingIndicator, SimpleImputer
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder, QuantileTransformer, RobustScaler, StandardScaler

from pellucid import estimators
from pellucid.estimators.class_target import ClassTarget
from pellucid.estimators.convergence import Curves
from pellucid.estimators.ensembles.outputs import ClassOutputs, NumberOutputs
from pellucid.estimators.fitted import Crew, Fitted
from pellucid.estimators.mlp_parameters import COMPAT
from pellucid.estimators.number_target import NumberTarget, Units
from pellucid.estimators.tables.encoding import Encoding
from pellucid.estimators.tables.hidden_directions import HiddenDirections
from pellucid.estimators.tables.layout import Layout
from pellucid.estimators.tables.number_codes import NumberCodes
from pellucid.estimators.tables.straight_columns import StraightColumns
from pellucid.estimators.target import Calibration, Target
from pellucid.train.model import Progress

OURS = [one for one in vars(estimators).values() if isinstance(one, type) and not issubclass(one, Warning)]
TRANSFORMERS = (
    HiddenDirections,
    MissingIndicator,
    OneHotEncoder,
    OrdinalEncoder,
    PCA,
    QuantileTransformer,
    RobustScaler,
    SimpleImputer,
    StandardScaler,
)
RECORDS = (
    Calibration,
    ClassOutputs,
    ClassTarget,
    Crew,
    Curves,
    Encoding,
    Fitted,
    Layout,
    NumberCodes,
    NumberOutputs,
    NumberTarget,
    Progress,
    StraightColumns,
    Units,
)
CLASSES: dict[str, type] = {one.__name__: one for one in (*OURS, *TRANSFORMERS, *RECORDS)}
"""Our estimators and their parts, and the transformers they use."""

State = dict[str, Any]
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


def _table_preprocessor(state: State) -> State:
    if "_names" not in state:
        return state
    layout = Layout(**{field: state[name] for field, name in LAYOUT.items()})
    encoding = Encoding(layout, **{field: state[name] for field, name in ENCODING.items()})
    old = {*LAYOUT.values(), *ENCODING.values(), *DERIVED}
    return {name: value for name, value in state.items() if name not in old} | {"_encoding": encoding}


def _network(state: State) -> State:
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
        calibration=Calibration(told.get("temperature", 1.0), errors=told.get("residuals")),
    )
    return _parameters(state) | {"_fitted": fitted}


def _table(state: State) -> State:
    """A table estimator with another estimator inside."""
    if "estimator_" not in state:
        return state
    fitted = state["estimator_"].fitted
    if "_shift" in state:
        fitted = replace(fitted, target=replace(fitted.target, units=Units(state["_shift"], state["_factor"])))
    return _parameters(state) | {"_fitted": fitted, "preprocessor_": state["preprocessor_"]}


def _parameters(state: State) -> State:
    """Without what was learned, but the columns."""
    columns = ("n_features_in_", "feature_names_in_")
    return {name: value for name, value in state.items() if name in columns or name == name.strip("_")}


def _ensemble(state: State) -> State:
    if "_multilabel" in state:
        state["_reading"] = ClassOutputs(state.pop("classes_"), state.pop("_multilabel"))
    elif "_columns" in state:
        state["_reading"] = NumberOutputs(state.pop("_columns"))
    return state


def _scaler(state: State) -> State:
    """Of a time when numbers ended at the limit."""
    return {"tail": 0.0} | state


UPGRADES: dict[str, Callable[[State], State]] = {
    "MLPClassifier": _network,
    "MLPRegressor": _network,
    "TabularMLPClassifier": _table,
    "TabularMLPRegressor": _table,
    "BaggedMLPClassifier": _ensemble,
    "BaggedMLPRegressor": _ensemble,
    "TablePreprocessor": _table_preprocessor,
    "SmoothRobustScaler": _scaler,
}
"""By the name of the class: from the attributes or fields in a file to those that the class has now."""
