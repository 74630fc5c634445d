"""Files that appear whole or not at all: written aside under a lock, synced, and renamed."""

from __future__ import annotations

import contextlib
import os
import stat
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

if sys.platform != "win32":
    import fcntl


def write_whole(target: Path, content: bytes, create: Callable[[], tuple[int, Path]]) -> None:
    """Write to a new file beside the target, sync it, and rename it over the target.

    `create` opens that file and says where it is. Whatever interrupts this leaves the old target or the new one; what
    a killed process leaves, `sweep` removes.
    """
    handle, part = _locked(create)
    try:
        with open(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(handle)
            if sys.platform != "win32":  # renamed under the lock, so that nobody takes it for a leftover
                os.replace(part, target)
        if sys.platform == "win32":  # an open file cannot be renamed there
            os.replace(part, target)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(part)
        raise


def sweep(folder: Path, is_part: Callable[[str], object]) -> None:
    """Delete the files of a folder whose names are those of parts, and that nobody holds: their writers were killed."""
    for leftover in folder.iterdir():
        if is_part(leftover.name):
            with contextlib.suppress(OSError):
                if sys.platform == "win32":  # what somebody has open is not deleted there
                    leftover.unlink()
                    continue
                handle = os.open(leftover, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)  # a pipe would be waited for
                try:
                    if stat.S_ISREG(os.fstat(handle).st_mode) and lock(handle, wait=False):
                        leftover.unlink()
                finally:
                    os.close(handle)


def lock(file: Any, wait: bool = True) -> bool:
    """Hold a file (or its handle) for as long as it is open; the system lets go when the process dies. Is it held?"""
    if sys.platform != "win32":
        with contextlib.suppress(OSError):  # taken, or a file system without locks: then nothing is ever swept
            fcntl.flock(file, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
            return True
    return False


def _locked(create: Callable[[], tuple[int, Path]]) -> tuple[int, Path]:
    """A new file, locked; another one where somebody swept it before it was."""
    while True:
        handle, part = create()
        if not lock(handle) or os.fstat(handle).st_nlink:
            return handle, part
        os.close(handle)
