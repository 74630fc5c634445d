"""Functions of the lectures that several rooms show."""

from typing import Any

import numpy as np


def traced_example(x1: Any, x2: Any) -> Any:
    """The function whose traces the lectures print, at (2, 5): forward and backward, line by line."""
    return np.log(x1) + x1 * x2 - np.sin(x2)
