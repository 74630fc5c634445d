"""Parameters are declared once: constructor, signature, check and help all follow."""

import inspect
from typing import Any

import pytest
from sklearn.base import BaseEstimator, clone

from pellucid.amounts import SHARE
from pellucid.estimators import (
    BaggedMLPClassifier,
    BaggedMLPRegressor,
    MLPClassifier,
    MLPRegressor,
    NetworkSettings,
    TabularMLPClassifier,
    TabularMLPRegressor,
    TrainingSettings,
)
from pellucid.estimators.parameters import Parameters, check_parameters, parameter

KINDS: list[Any] = [
    MLPClassifier,
    MLPRegressor,
    TabularMLPClassifier,
    TabularMLPRegressor,
    BaggedMLPClassifier,
    BaggedMLPRegressor,
    NetworkSettings,
    TrainingSettings,
]


@pytest.mark.parametrize("kind", KINDS)
def test_all_that_is_declared_is_in_signature_parameters_and_help(kind: Any) -> None:
    signature = inspect.signature(kind).parameters
    assert {name: one.default for name, one in signature.items()} == {n: p.default for n, p in kind.declared.items()}
    assert kind().get_params(deep=False) == {name: one.default for name, one in kind.declared.items()}
    assert [name for name, one in kind.declared.items() if not one.doc] == []
    assert [name for name in kind.declared if f"    {name} : " not in kind.__doc__] == []
    check_parameters(kind())  # every default is one that may be


@pytest.mark.parametrize(
    ("kind", "first"),
    [
        (MLPClassifier, ["hidden_layer_sizes", "activation"]),
        (MLPRegressor, ["loss", "hidden_layer_sizes", "activation"]),
        (TabularMLPClassifier, ["hidden_layer_sizes", "activation"]),
    ],
)
def test_few_parameters_go_by_position(kind: Any, first: list[str]) -> None:
    parameters = inspect.signature(kind).parameters.values()
    assert [one.name for one in parameters if one.kind is one.POSITIONAL_OR_KEYWORD] == first
    assert [one.name for one in parameters][: len(first)] == first


def test_what_is_not_declared_is_refused() -> None:
    with pytest.raises(TypeError, match=r"MLPClassifier.__init__\(\) got an unexpected keyword argument 'alhpa'"):
        MLPClassifier(alhpa=1.0)
    with pytest.raises(TypeError, match="too many positional arguments"):
        MLPClassifier((3,), "relu", "adam")


class Coin(Parameters, BaseEstimator):
    """A coin.

    {parameters}
    """

    chance: float = parameter(default=0.5, condition=SHARE, doc="of heads")
    name: str = parameter(default="coin", doc="what it is called", kw_only=False)


class Penny(Coin):
    year: int = parameter(default=1900, doc="when it was made", after="chance")


class Marked(MLPClassifier):
    """With a constructor of its own, as scikit-learn's users write them."""

    def __init__(self, mark: str = "x", alpha: float = 0.5) -> None:
        super().__init__(alpha=alpha)
        self.mark = mark


class Copied(Marked):
    pass


def test_declarations_of_base_classes_come_first() -> None:
    assert list(Penny.declared) == ["chance", "year", "name"]
    assert str(inspect.signature(Penny)).startswith("(name: str = 'coin', *, chance: float = 0.5, year: int")
    penny = clone(Penny("cent", year=1850))
    assert (penny.name, penny.year, penny.chance) == ("cent", 1850, 0.5)
    with pytest.raises(ValueError, match=r"Penny: chance is a number in \[0, 1\), got 3"):
        check_parameters(Penny(chance=3))
    assert "chance : float, default 0.5\n        of heads" in str(Coin.__doc__)


@pytest.mark.parametrize("kind", [Marked, Copied])
def test_a_constructor_of_ones_own_stays(kind: Any) -> None:
    marked = clone(kind("y"))
    assert (marked.mark, marked.alpha, marked.tol) == ("y", 0.5, 1e-4)
    assert marked.get_params() == {"mark": "y", "alpha": 0.5}
