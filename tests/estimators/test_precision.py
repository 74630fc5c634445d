"""`precision="bfloat16"` of the estimators: it reaches the training steps, and nothing else."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

from pellucid import MLPClassifier, MLPRegressor, TabularMLPClassifier, TabularMLPRegressor
from tests.estimators.marks import few_epochs

pytestmark = few_epochs

rng = np.random.default_rng(0)
X = rng.normal(size=(200, 6)).astype(np.float32)
T = X[:, 0] * X[:, 1]
SHORT: dict[type, dict[str, Any]] = {
    MLPClassifier: {"max_iter": 5, "tol": 0.0},
    MLPRegressor: {"max_iter": 5, "tol": 0.0},
    TabularMLPClassifier: {"max_iter": 2, "folds": 1, "numbers": "plain"},
    TabularMLPRegressor: {"max_iter": 2, "folds": 1, "numbers": "plain"},
}


def predicted(cls: Any, **parameters: Any) -> Any:
    classes = "Classifier" in cls.__name__
    fitted = cls(random_state=0, engine="native", **SHORT[cls], **parameters).fit(X, T > 0 if classes else T)
    return fitted.predict_proba(X) if classes else fitted.predict(X)


@pytest.mark.parametrize("cls", SHORT)
def test_products_of_training_are_rounded(cls: Any) -> None:
    full, short = predicted(cls), predicted(cls, precision="bfloat16")
    assert_allclose(short, full, atol=0.05)
    assert np.abs(short - full).max() > 1e-6


def test_float64_is_refused_and_told_what_to_do() -> None:
    with pytest.raises(ValueError, match="got dtype='float64': set dtype='float32'"):
        MLPClassifier(precision="bfloat16", max_iter=1).fit(X.astype(np.float64), T > 0)


def test_steps_that_are_not_made_are_told_of() -> None:
    with pytest.warns(UserWarning, match="precision: no effect with solver='lbfgs'"):
        MLPRegressor(precision="bfloat16", solver="lbfgs", max_iter=200, alpha=1.0).fit(X, T)
