"""Work ahead of time: items are made by a thread of their own while those before are used."""

from __future__ import annotations

import queue
import threading
from collections.abc import Generator, Iterable
from dataclasses import dataclass
from typing import Any, TypeVar

T = TypeVar("T")

WAIT = 0.1
"""Seconds after which a thread that waits looks whether it is still needed."""


@dataclass(frozen=True)
class Failure:
    """What ended the thread."""

    error: BaseException


END = object()


def ahead(items: Iterable[T], most: int = 1) -> Generator[T, None, None]:
    """The same items in the same order; up to `most` of them wait. An error comes when its item is asked for.

    The thread ends with the items, or when this iterator is closed.

    >>> list(ahead(n * n for n in range(4)))
    [0, 1, 4, 9]
    """
    waiting: queue.Queue[Any] = queue.Queue(most)
    over = threading.Event()
    thread = threading.Thread(target=_make, args=(items, waiting, over), name="pellucid-ahead", daemon=True)
    thread.start()
    try:
        while True:
            item = waiting.get()
            if item is END:
                return
            if isinstance(item, Failure):
                raise item.error
            yield item
            del item  # its memory is free while the next one is awaited
    finally:
        over.set()
        thread.join()


def _make(items: Iterable[Any], waiting: queue.Queue[Any], over: threading.Event) -> None:
    source = iter(items)
    try:
        for item in source:
            if not _put(item, waiting, over):
                break
        else:
            _put(END, waiting, over)
    except BaseException as error:
        _put(Failure(error), waiting, over)
    finally:
        close = getattr(source, "close", None)
        if close is not None:
            close()


def _put(item: Any, waiting: queue.Queue[Any], over: threading.Event) -> bool:
    """Put it where it waits; False where nobody needs it any more."""
    while not over.is_set():
        try:
            waiting.put(item, timeout=WAIT)
        except queue.Full:
            continue
        return True
    return False
