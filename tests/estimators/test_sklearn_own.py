"""scikit-learn's own tests of its networks, from the installed package, with our classes in the place of its own.

Its test file is executed afresh with `sklearn.neural_network.MLPClassifier` and `MLPRegressor` replaced, and its test
functions become tests of this file, with their marks and fixtures: for the defaults and, where they differ, for
compat="sklearn".
"""

from __future__ import annotations

import ast
import functools
import importlib.util
import inspect
import textwrap
from types import ModuleType
from typing import Any

import pytest
import sklearn.neural_network

from pellucid.estimators import MLPClassifier, MLPRegressor
from tests.estimators.marks import converted_targets, few_epochs, odd_data

pytestmark = [
    few_epochs,
    converted_targets,
    odd_data,
]

LEFT_OUT = {
    "test_gradient": "asks scikit-learn's private gradient, _loss_grad_lbfgs; ours is checked in test_parity",
    "test_learning_rate_warmstart": "reads the rate in scikit-learn's private _optimizer",
    "test_adaptive_learning_rate": "reads the rate in scikit-learn's private _optimizer",
}
"""Tests of what is private to scikit-learn, and why they are left out."""

ONLY_COMPAT = {
    "test_n_iter_no_change": "reads _no_improvement_count, which is one epoch more than asked for in scikit-learn",
}
"""The same, but true for compat="sklearn"."""

DIFFERS = ("alpha", "fit", "early_stopping", "multioutput", "n_iter", "warm_start", "diverging")
"""Words in the names of tests for which the choice matters."""


def with_ours(classifier: Any, regressor: Any) -> ModuleType:
    """A fresh copy of scikit-learn's test module that tests these classes."""
    spec = importlib.util.find_spec("sklearn.neural_network.tests.test_mlp")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sklearn.neural_network, "MLPClassifier", classifier)
        patch.setattr(sklearn.neural_network, "MLPRegressor", regressor)
        spec.loader.exec_module(module)
    return module


def functions_of(module: ModuleType) -> dict[str, Any]:
    return {name: f for name, f in vars(module).items() if name.startswith("test_") and inspect.isfunction(f)}


def private_names(function: Any) -> set[str]:
    """Attributes with a leading underscore that a function reads or writes."""
    tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
    return {n.attr for n in ast.walk(tree) if isinstance(n, ast.Attribute) and n.attr.startswith("_")}


default = functions_of(with_ours(MLPClassifier, MLPRegressor))
compat = functions_of(
    with_ours(functools.partial(MLPClassifier, compat="sklearn"), functools.partial(MLPRegressor, compat="sklearn"))
)
for name, test in default.items():
    if name not in LEFT_OUT | ONLY_COMPAT:
        globals()[name] = test
for name, test in compat.items():
    if any(word in name for word in DIFFERS) and name not in LEFT_OUT:
        globals()[f"{name}_with_compat"] = test


@pytest.fixture
def global_random_seed() -> int:
    """scikit-learn's fixture."""
    return 42


def test_all_of_it_is_here() -> None:
    assert len(default) >= 40
    assert default.keys() == compat.keys()
    assert default["test_fit"].__globals__["MLPClassifier"] is MLPClassifier


@pytest.mark.parametrize("name", [*LEFT_OUT, *ONLY_COMPAT])
def test_what_is_left_out_is_private(name: str) -> None:
    reason = (LEFT_OUT | ONLY_COMPAT)[name]
    assert [used for used in private_names(default[name]) if used in reason]
