"""Locks that a forked child can take."""

from __future__ import annotations

import os
import threading
from contextlib import AbstractContextManager


def forkable() -> AbstractContextManager[bool]:
    """A lock that is taken before a fork and free on both sides after it.

    Otherwise a child of a process whose other threads are at work might find it taken, by a thread that it does not
    have. Where locks are taken one inside the other, the inner one is made first.
    """
    lock = threading.RLock()
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(before=lock.acquire, after_in_parent=lock.release, after_in_child=lock.release)
    return lock
