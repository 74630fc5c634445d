"""When results of XLA and of NumPy are the same."""

from __future__ import annotations

import numpy as np
from numpy.testing import assert_allclose

TOLERANCE = {np.dtype(np.float64): 1e-10, np.dtype(np.float32): 2e-5}


def close(got, expected, what=""):
    """Same dtype, same shape, close."""
    got, expected = np.asarray(got), np.asarray(expected)
    assert (got.shape, got.dtype) == (expected.shape, expected.dtype), what
    rtol = TOLERANCE.get(expected.dtype, 0)
    scale = np.max(np.abs(expected), initial=1, where=np.isfinite(expected)) if expected.dtype.kind == "f" else 1
    assert_allclose(got, expected, rtol=rtol, atol=rtol * scale, err_msg=what)
