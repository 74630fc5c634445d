"""JAX itself: there or not, and with the precision that a graph asks for."""

from __future__ import annotations

from contextlib import AbstractContextManager
from importlib.util import find_spec
from typing import Any

MISSING = "engine='jax' needs JAX: pip install 'pellucid[jax]' (for a GPU or TPU, see JAX's own page on installing it)"


def require_jax() -> None:
    """An error with the command that installs it, where JAX is not there."""
    if find_spec("jax") is None:
        raise ImportError(MISSING)


def exact() -> AbstractContextManager[Any]:
    """float64 and int64 inside, whatever the user's own JAX code is set to; outside nothing is changed."""
    import jax

    return jax.enable_x64(True)  # type: ignore[no-any-return]
