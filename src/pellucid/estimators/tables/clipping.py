"""A smooth clip: numbers as they are near 0, and never beyond a limit."""

from __future__ import annotations

import numpy as np

from pellucid.data.types import Floats


def smoothly_clipped(z: Floats, limit: float) -> Floats:
    """z / sqrt(1 + (z / limit)²): as it is near 0, and never beyond ±limit.

    >>> smoothly_clipped(np.array([0.01, 1e300]), 3.0).round(4).tolist()
    [0.01, 3.0]
    """
    far = 1e9 * limit  # beyond it is the limit to the last digit, and squares would become infinite
    within = np.clip(z, -far, far)
    clipped: Floats = within / np.sqrt(1.0 + (within / limit) ** 2)
    return clipped
