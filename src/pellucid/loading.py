"""One door for all files: `pellucid.load` opens a model or an estimator, whichever the file holds."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from pellucid.train.files.container import kind_of


def load(path: str | os.PathLike[str], custom: Mapping[str, Any] | None = None) -> Any:
    """A model (`Model.save`) or an estimator (`MLPClassifier.save`, tables and ensembles too) from its file.

    Nothing in the file is executed.

    Parameters
    ----------
    path : str | PathLike
        of the file
    custom : Mapping[str, Any] | None
        layers, activations, losses and functions of one's own, by name

    Returns
    -------
    Model | estimator
        as it was saved

    Examples
    --------
    >>> import numpy as np, tempfile, pathlib
    >>> from pellucid import Model, nn
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "model.pel"
    >>> Model(nn.mlp((4,), 1)).initialize(3).save(file)
    >>> load(file).predict(np.zeros((1, 3))).shape
    (1, 1)
    """
    if kind_of(path) == "estimator":
        from pellucid.estimators.storage import load_estimator

        return load_estimator(path, custom)
    from pellucid.train.files.models import load as load_model

    return load_model(path, custom)
