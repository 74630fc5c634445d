"""Files that appear at once or not at all, in the place and with the mode that `open` would give them."""

import contextlib
import errno
import os
import re
import secrets
import stat
import sys
from pathlib import Path

from pellucid.errors import PellucidError
from pellucid.whole_files import sweep, write_whole

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
    target, old_status = Path(os.path.realpath(path)), regular(path)  # to the end of links, as `open` does
    if old_status is not None and not os.access(target, os.W_OK):
        raise PermissionError(errno.EACCES, "write-protected", str(target))
    target.parent.mkdir(parents=True, exist_ok=True)
    start = f".{target.name[:40]}."
    sweep(target.parent, re.compile(re.escape(start) + r"[0-9a-f]{16}\.tmp").fullmatch)
    write_whole(target, raw, lambda: _created(target.with_name(f"{start}{secrets.token_hex(8)}.tmp"), old_status))
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
