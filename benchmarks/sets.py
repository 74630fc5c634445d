"""Small data sets of scikit-learn and a synthetic one, for whole fits."""

from __future__ import annotations

from typing import Any

from sklearn import datasets

SETS = {"iris": "150 x 4", "diabetes": "442 x 10", "digits": "1,797 x 64", "synthetic": "20,000 x 50"}


def load(name: str) -> tuple[Any, Any, bool]:
    """(X, y, are there classes?), as a user has them: float64, not scaled."""
    if name == "synthetic":
        return *datasets.make_classification(20_000, 50, n_informative=20, n_classes=3, random_state=0), True
    X, y = getattr(datasets, f"load_{name}")(return_X_y=True)
    return X, y, name != "diabetes"
