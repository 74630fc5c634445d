"""One training on the native engine and on NumPy's, and whether the two agree."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from pellucid import Model, nn, optim

each_engine = pytest.mark.parametrize("engine", ["numpy", "native"])

X = np.random.default_rng(0).normal(size=(70, 5))
Y = (X[:, 0] > 0).astype(int)


def fitted(engine, net=None, rule=None, loss="squared_error", y=X[:, 0], *, dtype=np.float64, threads=1, **fit):
    """A small model, trained on the first rows of X."""
    model = Model(net or nn.mlp((8,), 1), loss, rule or optim.Adam(0.01), dtype=dtype, engine=engine, threads=threads)
    model.fit(X[: len(y)], y, **{"epochs": 4, "batch_size": 32, "verbose": False, **fit})
    return model


def both(*args, **kwargs):
    """The same training: native, NumPy."""
    return [fitted(engine, *args, **kwargs) for engine in ("native", "numpy")]


def same(native, numpy, rtol=1e-8):
    """Parameters and statistics agree."""
    assert native.params.keys() == numpy.params.keys()
    for name in native.params:
        assert_allclose(native.params[name], numpy.params[name], rtol=rtol, atol=1e-11, err_msg=name)
    for name in native.state:
        assert_allclose(native.state[name], numpy.state[name], rtol=rtol, atol=1e-11, err_msg=name)
