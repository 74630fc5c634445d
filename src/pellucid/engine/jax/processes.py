"""What the processes of a run tell each other, beside the sums inside of programs."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

import jax
import numpy as np
from jax.experimental import multihost_utils

from pellucid.engine.jax.library import exact
from pellucid.engine.jax.lost import LOST, ProcessLost

T = TypeVar("T")


@contextmanager
def together() -> Iterator[None]:
    """What fails inside because another process is gone says so."""
    try:
        yield
    except (jax.errors.JaxRuntimeError, ValueError) as error:
        # a program that is run at once gives a ValueError, which nothing but its words tells from others
        lost = isinstance(error, jax.errors.JaxRuntimeError) or "Gloo" in str(error)
        if lost and jax.process_count() > 1:
            raise ProcessLost(f"{LOST} ({str(error).splitlines()[0]:.160})") from error
        raise


def count() -> int:
    """How many processes there are."""
    return int(jax.process_count())


def joined() -> bool:
    """Has this process joined others, be it that there are none?"""
    return bool(jax.distributed.is_initialized())


def index() -> int:
    """Which one this is."""
    return int(jax.process_index())


def gathered(array: Any) -> Any:
    """The arrays (of one shape) of all processes, in their order.   (...) -> (processes, ...)"""
    with exact(), together():
        return np.asarray(multihost_utils.process_allgather(np.asarray(array))).reshape(count(), *np.shape(array))


def exchanged(own: T) -> list[T]:
    """What each process has, in their order: any value that can be pickled."""
    content = np.frombuffer(pickle.dumps(own), np.uint8)
    sizes = gathered(np.array(len(content))).tolist()
    filled = np.zeros(max(sizes), np.uint8)
    filled[: len(content)] = content
    return [pickle.loads(each[:size].tobytes()) for each, size in zip(gathered(filled), sizes, strict=True)]


def from_the_first(tree: Any) -> Any:
    """What process 0 has, for all."""
    with exact(), together():
        return jax.tree.map(
            lambda mine, first: np.asarray(first, np.asarray(mine).dtype)[()],
            tree,
            multihost_utils.broadcast_one_to_all(tree),
        )
