"""A smooth clip: numbers as they are near 0; beyond a limit they end there, or go on with their logarithm."""

from __future__ import annotations

import math

import numpy as np

from pellucid.data.types import Floats


def smoothly_clipped(z: Floats, limit: float, tail: float = 0.0) -> Floats:
    """z / sqrt(1 + (z / limit)²): as it is near 0. Beyond the limit each factor of ten adds `tail`.

    >>> smoothly_clipped(np.array([0.01, 1e300]), 3.0).round(4).tolist()
    [0.01, 3.0]
    >>> smoothly_clipped(np.array([0.01, 1.0, 30.0, 300.0, 3000.0]), 3.0, 1.0).round(2).tolist()
    [0.01, 0.96, 3.98, 5.0, 6.0]
    """
    far = 1e9 * limit  # beyond it nobody needs to tell numbers apart, and squares would become infinite
    within = np.clip(z, -far, far)
    square = 1.0 + (within / limit) ** 2
    clipped: Floats = within / np.sqrt(square)
    if not tail:
        return clipped
    grown: Floats = clipped * (1.0 + (0.5 * tail / (limit * math.log(10.0))) * np.log(square))
    return grown
