"""What was learned, as older files have it, turned into what the classes hold today."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pellucid.estimators.ensembles.outputs import ClassOutputs, NumberOutputs
from pellucid.estimators.tables.encoding import Encoding
from pellucid.estimators.tables.layout import Layout

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


def _bagged_classifier(state: dict[str, Any]) -> dict[str, Any]:
    if "_multilabel" in state:
        state["_reading"] = ClassOutputs(state.pop("classes_"), state.pop("_multilabel"))
    return state


def _bagged_regressor(state: dict[str, Any]) -> dict[str, Any]:
    if "_columns" in state:
        state["_reading"] = NumberOutputs(state.pop("_columns"))
    return state


UPGRADES: dict[str, Callable[[dict[str, Any]], dict[str, Any]]] = {
    "BaggedMLPClassifier": _bagged_classifier,
    "BaggedMLPRegressor": _bagged_regressor,
    "TablePreprocessor": _table_preprocessor,
}
"""By the name of the class: from the attributes or fields in a file to those that the class has now."""
