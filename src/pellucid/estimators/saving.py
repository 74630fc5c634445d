"""`save`, for every estimator."""

from __future__ import annotations

import os


class Saves:
    """An estimator that can be written to a file."""

    def save(self, path: str | os.PathLike[str]) -> None:
        """Everything in one file, preprocessing and all; `pellucid.load(path)` brings it back. No pickle inside."""
        from sklearn.utils.validation import check_is_fitted

        from pellucid.estimators.storage import save_estimator

        check_is_fitted(self)
        save_estimator(self, path)
