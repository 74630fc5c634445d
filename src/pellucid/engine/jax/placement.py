"""Where arrays lie: on one device, or rows split over several while the state is on all of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import jax.numpy as jnp


@dataclass(frozen=True)
class Placement:
    """On the device that JAX prefers."""

    def copied(self, array: Any) -> Any:
        """The state: a copy, for its buffer is given away."""
        return jnp.array(array, copy=True)

    def rows(self, array: Any) -> Any:
        """The data."""
        return jnp.asarray(array)

    def everywhere(self, array: Any) -> Any:
        """What every device reads."""
        return array

    def batch(self, array: Any) -> Any:
        """Rows of a step, inside a program."""
        return array

    def numbers_of(self, order: Any) -> Any:
        """The places of rows by their numbers."""
        return order
