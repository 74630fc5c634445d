"""A folder that holds code: nobody but its owner may change what is in it, or put another in its place.

The path is walked from the top. A folder that only this user (or root) can change keeps its entries, so what is looked
at below it cannot be swapped afterwards: looking and using need not be one step.
"""

from __future__ import annotations

import errno
import os
import stat
import tempfile
from contextlib import suppress
from pathlib import Path

from pellucid.whole_files import sweep, write_whole

PART = ".part-"
"""How names of files begin that are still being written."""

LINKS = 40
"""Symbolic links on the way, at most, as in Linux."""

_swept: set[Path] = set()


class UntrustedError(OSError):
    """Somebody else could have put code here: why, and what to do."""

    def __init__(self, reason: str, remedy: str) -> None:
        super().__init__(f"{reason}: {remedy}")


class PrivateFolder:
    """Files that this user alone can write.

    `root` may be reached through links that belong to this user or to root; `name` is a folder below it, and neither it
    nor its files may be links. What is missing is made, for this user alone whatever the umask. Raises UntrustedError,
    or OSError where the folder cannot be made.
    """

    def __init__(self, root: Path, name: str) -> None:
        home = _walked(root)
        _check(home, os.lstat(home))
        self.path = home / name
        _check(self.path, _made(self.path))
        if self.path not in _swept:
            _swept.add(self.path)
            sweep(self.path, lambda part: part.startswith(PART))

    def read(self, name: str) -> bytes | None:
        """The content of a file; None where there is none."""
        path = self.path / name
        flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
        try:
            handle = os.open(path, flags)
        except FileNotFoundError:
            return None
        except OSError as error:
            if error.errno in (errno.ELOOP, errno.EMLINK):  # the second is FreeBSD's word for it
                raise UntrustedError(f"{path} is a symbolic link", "remove it") from error
            raise
        with os.fdopen(handle, "rb") as file:
            facts = os.fstat(handle)  # of what is open, whatever the name now stands for
            if not stat.S_ISREG(facts.st_mode):
                raise UntrustedError(f"{path} is not a regular file", "remove it")
            _check(path, facts)
            return file.read()

    def write(self, name: str, content: bytes) -> None:
        """A file that appears whole, or not at all, and is on the disk before it has its name."""
        write_whole(self.path / name, content, self._part)

    def _part(self) -> tuple[int, Path]:
        handle, part = tempfile.mkstemp(dir=self.path, prefix=PART)
        return handle, Path(part)


def _walked(path: Path) -> Path:
    """The folder behind a path without links, made where it is missing, once nobody else can change any part of it."""
    here, rest, links = Path(path.anchor), list(path.parts[1:]), 0
    _check(here, os.lstat(here), shared=True)
    while rest:
        name = rest.pop(0)
        if name == os.pardir:
            here = here.parent
            continue
        step = here / name
        facts = _made(step)
        _check(step, facts, shared=True)
        if not stat.S_ISLNK(facts.st_mode):
            here = step
            continue
        links += 1
        if links > LINKS:
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), str(path))
        target = Path(os.readlink(step))
        rest[:0] = target.parts[1:] if target.is_absolute() else target.parts
        here = Path(target.anchor) if target.is_absolute() else here
    return here


def _made(path: Path) -> os.stat_result:
    """What is at a path; a folder of this user's alone where there was nothing."""
    with suppress(FileNotFoundError):
        return os.lstat(path)
    with suppress(FileExistsError):  # another process was faster
        os.mkdir(path, 0o700)
    return os.lstat(path)


def _check(path: Path, facts: os.stat_result, shared: bool = False) -> None:
    """Raise UntrustedError where others can change this.

    A `shared` folder (/tmp) may be written by all if its sticky bit keeps them from each other's entries; a link there
    has no mode of its own. Windows has no such modes: there the folder's own rights have to do.
    """
    link = stat.S_ISLNK(facts.st_mode)
    if link and not shared:
        raise UntrustedError(f"{path} is a symbolic link", "remove it")
    if not hasattr(os, "geteuid"):
        return
    elsewhere = "set PELLUCID_CACHE_DIR to a folder of your own"
    if facts.st_uid not in (0, os.geteuid()):
        raise UntrustedError(f"{path} belongs to another user (number {facts.st_uid})", elsewhere)
    writers = facts.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
    if writers and not link and not (shared and facts.st_mode & stat.S_ISVTX):
        raise UntrustedError(
            f"others may write to {path} (mode {stat.S_IMODE(facts.st_mode):04o})",
            f"remove it, or look at what is in it and `chmod go-w` it, or {elsewhere}",
        )
