"""Files that appear at once or not at all, in the place and with the mode that `open` would give them."""

import contextlib
import errno
import os
import re
import secrets
import stat
import sys
from pathlib import Path
from typing import BinaryIO

from pellucid.errors import PellucidError

if sys.platform != "win32":
    import fcntl

SPECIAL = (
    (stat.S_ISDIR, "a folder"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
    (stat.S_ISFIFO, "a pipe"),
    (stat.S_ISSOCK, "a socket"),
)


class CheckpointError(PellucidError, ValueError):
    """A file of arrays that cannot be written, or cannot be trusted when read."""


def write_atomically(path: str | os.PathLike[str], raw: bytes) -> None:
    """Write to a temporary file beside the target, sync it, rename it over the target, sync the folder.

    Whatever interrupts this leaves the old file or the new one; what a killed process left, the next write removes. A
    link stays a link, and what it points to is replaced; a file that is replaced passes its mode on. What is not a
    regular file is refused.
    """
    target, before = _target(path)
    target.parent.mkdir(parents=True, exist_ok=True)
    _remove_leftovers(target)
    temporary = target.with_name(f".{target.name[:40]}.{secrets.token_hex(8)}.tmp")
    try:
        with open(_created(temporary, before), "wb") as file:
            lock(file)  # says "in use" to other writers; the system takes it away when this process dies
            file.write(raw)
            file.flush()
            os.fsync(file.fileno())
            if sys.platform != "win32":  # renamed under the lock, so that nobody takes it for a leftover
                os.replace(temporary, target)
        if sys.platform == "win32":  # an open file cannot be renamed there
            os.replace(temporary, target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
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


def _target(path: str | os.PathLike[str]) -> tuple[Path, os.stat_result | None]:
    """Where the bytes go, as with `open`: to the end of links; and the file that is there already."""
    before = regular(Path(path))
    target = Path(os.path.realpath(Path(path)))
    if before is not None and not os.access(target, os.W_OK):
        raise PermissionError(errno.EACCES, "write-protected", str(target))
    return target, before


def _created(temporary: Path, before: os.stat_result | None) -> int:
    """A new file, open for writing: with the owner and the mode of the one before, and never open to more people."""
    mode = 0o666 if before is None else before.st_mode & 0o777
    handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), mode)
    if before is not None and sys.platform != "win32":
        for owner in ((-1, before.st_gid), (before.st_uid, -1)):
            with contextlib.suppress(OSError):  # only root may give a file away
                os.fchown(handle, *owner)
        if os.fstat(handle).st_gid != before.st_gid:
            mode &= ~0o070  # what one group may do, another may not
        with contextlib.suppress(OSError):  # a file system without modes
            os.fchmod(handle, mode)  # the umask took bits away
    return handle


def lock(file: BinaryIO, wait: bool = True) -> bool:
    """Hold a file for as long as it is open. Is it held now?"""
    if sys.platform != "win32":
        with contextlib.suppress(OSError):  # taken, or a file system without locks: then nothing is ever cleaned up
            fcntl.flock(file, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
            return True
    return False


def _remove_leftovers(target: Path) -> None:
    """Delete temporary files of this target that nobody holds a lock on: their writers were killed."""
    ours = re.compile(re.escape(f".{target.name[:40]}.") + r"[0-9a-f]{16}\.tmp")
    for leftover in target.parent.iterdir():
        if ours.fullmatch(leftover.name) and leftover.is_file():  # to open a pipe would be to wait
            with contextlib.suppress(OSError), open(leftover, "rb") as file:
                # an empty one may have been created just now, and is about to be locked
                if os.fstat(file.fileno()).st_size and lock(file, wait=False):
                    leftover.unlink()
