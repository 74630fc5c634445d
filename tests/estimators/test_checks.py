"""scikit-learn's own checks of estimators, none of them expected to fail."""

from __future__ import annotations

from typing import Any

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from pellucid.estimators import MLPClassifier, MLPRegressor
from tests.estimators.marks import converted_targets, few_epochs, odd_data, skipped_checks

pytestmark = [
    few_epochs,
    converted_targets,
    skipped_checks,
    odd_data,
    pytest.mark.filterwarnings("ignore:Got `batch_size`:UserWarning"),
]


@parametrize_with_checks([MLPClassifier(max_iter=100), MLPRegressor(max_iter=100)])
def test_scikit_learns_checks(estimator: Any, check: Any) -> None:
    check(estimator)
