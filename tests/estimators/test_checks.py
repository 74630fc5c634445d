"""scikit-learn's own checks of estimators, none of them expected to fail."""

from __future__ import annotations

from typing import Any

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from pellucid.estimators import MLPClassifier, MLPRegressor

pytestmark = [
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.DataConversionWarning"),
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning"),
    pytest.mark.filterwarnings("ignore::pellucid.estimators.DataWarning"),
    pytest.mark.filterwarnings("ignore:Got `batch_size`:UserWarning"),
]


@parametrize_with_checks([MLPClassifier(max_iter=100), MLPRegressor(max_iter=100)])
def test_scikit_learns_checks(estimator: Any, check: Any) -> None:
    check(estimator)
