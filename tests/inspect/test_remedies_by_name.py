"""Columns that are to be left out are named as the user knows them."""

import numpy as np
import pandas as pd
import pytest

import pellucid as pel
from tests.report.cases import quiet


@pytest.mark.parametrize(
    ("named", "remedy"),
    [(True, "X = X.drop(columns=['again'])"), (False, "X = np.delete(X, [2], axis=1)")],
)
def test_a_copied_column(named, remedy):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 2))
    X = np.column_stack([X, X[:, 0]])
    rows = pd.DataFrame(X, columns=["a", "b", "again"]) if named else X
    estimator = quiet(pel.MLPRegressor(hidden_layer_sizes=(8,), max_iter=5, random_state=0), rows, X[:, 1])
    findings = {finding.code: finding for finding in estimator.diagnose(rows, X[:, 1])}
    assert findings["input-duplicate"].remedy.startswith(remedy)
