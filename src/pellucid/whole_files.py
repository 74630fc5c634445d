"""Files that appear whole or not at all: written aside under a lock, synced, and renamed.

`write_atomically` does so in the place and with the mode that `open` would give them, `write_whole` where it is told.
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
import secrets
import stat
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, BinaryIO

from pellucid.errors import CheckpointError

if sys.platform != "win32":
    import fcntl

SPECIAL = (
    (stat.S_ISDIR, "a folder"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
    (stat.S_ISFIFO, "a pipe"),
    (stat.S_ISSOCK, "a socket"),
)


def write_atomically(path: str | os.PathLike[str], raw: bytes) -> None:
    """Write to a temporary file beside the target, sync it, rename it over the target, sync the folder.

    Whatever interrupts this leaves the old file or the new one; what a killed process left, the next write removes. A
    link stays a link, and what it points to is replaced; a file that is replaced passes its mode on. What is not a
    regular file is refused.
    """
    with whole_file(path) as file:
        file.write(raw)


@contextlib.contextmanager
def whole_file(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """The same for what is written part by part: the file appears when all of it is there."""
    target, old_status = Path(os.path.realpath(path)), regular(path)  # to the end of links, as `open` does
    if old_status is not None and not os.access(target, os.W_OK):
        raise PermissionError(errno.EACCES, "write-protected", str(target))
    target.parent.mkdir(parents=True, exist_ok=True)
    start = f".{target.name[:40]}."
    sweep(target.parent, re.compile(re.escape(start) + r"[0-9a-f]{16}\.tmp").fullmatch)
    create = lambda: _created(target.with_name(f"{start}{secrets.token_hex(8)}.tmp"), old_status)
    with _renamed_when_whole(target, create) as file:
        yield file
    if sys.platform != "win32":
        with contextlib.suppress(OSError):  # some network file systems cannot sync a folder; the file is in place
            folder = os.open(target.parent, os.O_RDONLY)
            try:
                os.fsync(folder)
            finally:
                os.close(folder)


def regular(path: str | os.PathLike[str]) -> os.stat_result | None:
    """What the system knows of a regular file, through links; None if there is nothing, an error for anything else."""
    try:
        status = os.stat(path)
    except FileNotFoundError:
        return None
    if not stat.S_ISREG(status.st_mode):
        what = next((name for is_one, name in SPECIAL if is_one(status.st_mode)), "something else")
        raise CheckpointError(
            f"{path} cannot be read or written: it is {what}, expected a regular file; it was left alone, take "
            "another path"
        )
    return status


def _created(temporary: Path, old_status: os.stat_result | None) -> tuple[int, Path]:
    """A new file, open for writing: with the owner and the mode of the one before, and never open to more people."""
    mode = 0o666 if old_status is None else old_status.st_mode & 0o777
    handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), mode)
    if old_status is not None and sys.platform != "win32":
        for owner in ((-1, old_status.st_gid), (old_status.st_uid, -1)):
            with contextlib.suppress(OSError):  # only root may give a file away
                os.fchown(handle, *owner)
        if os.fstat(handle).st_gid != old_status.st_gid:
            mode &= ~0o070  # what one group may do, another may not
        with contextlib.suppress(OSError):  # a file system without modes
            os.fchmod(handle, mode)  # the umask took bits away
    return handle, temporary


def write_whole(target: Path, content: bytes, create: Callable[[], tuple[int, Path]]) -> None:
    """Write to a new file beside the target, sync it, and rename it over the target.

    `create` opens that file and says where it is. Whatever interrupts this leaves the old target or the new one; what
    a killed process leaves, `sweep` removes.
    """
    with _renamed_when_whole(target, create) as file:
        file.write(content)


@contextlib.contextmanager
def _renamed_when_whole(target: Path, create: Callable[[], tuple[int, Path]]) -> Iterator[BinaryIO]:
    handle, part = _locked(create)
    try:
        with open(handle, "wb") as file:
            yield file
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
