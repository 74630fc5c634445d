"""One engine, and its devices, for all models inside a block of code."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

ENGINE: ContextVar[str | None] = ContextVar("pellucid_engine", default=None)
"""The engine of all models inside `on_engine`, whatever they ask for."""

DEVICES: ContextVar[str | None] = ContextVar("pellucid_devices", default=None)
"""The devices of all fits inside `on_engine`. There every process has all rows, of which its devices take a share."""


@contextmanager
def on_engine(engine: str | None, devices: str | None = None) -> Iterator[None]:
    """All models train and predict on this engine inside; None leaves it to them. Behind it they are as they were.

    Parameters
    ----------
    engine : str | None
        as in `Model`
    devices : str | None
        "all" as in `Model.fit`, but that every process is given all rows (or a `Dataset` that they share)

    Examples
    --------
    >>> from pellucid import Model, nn
    >>> model = Model(nn.mlp((4,), 1), engine="native")
    >>> with on_engine("numpy"):
    ...     model.engine
    'numpy'
    >>> model.engine
    'native'
    """
    tokens = ENGINE.set(engine), DEVICES.set(devices)
    try:
        yield
    finally:
        ENGINE.reset(tokens[0])
        DEVICES.reset(tokens[1])
