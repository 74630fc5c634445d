"""One engine, and its devices, for all models that are made inside a block of code."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

ENGINE: ContextVar[str | None] = ContextVar("pellucid_engine", default=None)
"""The engine of all models that are made inside `on_engine`, whatever they ask for."""

DEVICES: ContextVar[str | None] = ContextVar("pellucid_devices", default=None)
"""The devices of all fits inside `on_engine`. There every process has all rows; its devices take a share of them."""


@contextmanager
def on_engine(engine: str | None, devices: str | None = None) -> Iterator[None]:
    """All models that are made inside train and predict on this engine; None leaves it to them.

    Parameters
    ----------
    engine : str | None
        as in `Model`
    devices : str | None
        "all" as in `Model.fit`, but that every process is given all rows

    Examples
    --------
    >>> from pellucid import Model, nn
    >>> with on_engine("numpy"):
    ...     model = Model(nn.mlp((4,), 1), engine="native")
    >>> model.engine
    'numpy'
    """
    tokens = ENGINE.set(engine), DEVICES.set(devices)
    try:
        yield
    finally:
        ENGINE.reset(tokens[0])
        DEVICES.reset(tokens[1])
