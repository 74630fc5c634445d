"""The folder of compiled kernels, looked at from outside: where it is, how large, and how to empty it."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from pellucid.engine.native.runtime import cache

VERSIONS = re.compile("[0-9a-f]{16}")
LIBRARIES = "blas"
"""Where earlier versions kept copies of the library for matrix products."""


@dataclass(frozen=True)
class KernelFolder:
    """What is kept between processes.

    Parameters
    ----------
    path : Path | None
        of the folder; None where nothing can be kept
    present : Path | None
        the part of it for this version on this processor
    kernels : int
        how many there are for this version on this processor
    size : int
        their bytes
    older : int
        bytes of what other versions or processors have kept
    """

    path: Path | None
    present: Path | None
    kernels: int = 0
    size: int = 0
    older: int = 0


def kernel_folder() -> KernelFolder:
    """What is there now. Nothing is made by looking."""
    try:
        path, present = cache.root(), cache.directory()
    except OSError:  # no home directory, or a relative path
        return KernelFolder(None, None)
    sizes = {part: _size(part) for part in _parts(path)}
    return KernelFolder(
        path,
        present,
        kernels=sum(1 for _ in present.glob("k*.o")) if present.is_dir() else 0,
        size=sizes.get(present, 0),
        older=sum(size for part, size in sizes.items() if part != present),
    )


def empty() -> int:
    """Delete all kernels; they are compiled again when they are needed. How many bytes it freed.

    Processes that run have what they use in memory, and go on.
    """
    try:
        parts = list(_parts(cache.root()))
    except OSError:
        return 0
    before = sum(map(_size, parts))
    for part in parts:
        shutil.rmtree(part, ignore_errors=True)
    return before - sum(_size(part) for part in parts if part.exists())


def _parts(root: Path) -> Iterator[Path]:
    """The folders that are the engine's: others may keep things beside them."""
    if root.is_dir():
        for part in sorted(root.iterdir()):
            ours = VERSIONS.fullmatch(part.name) or part.name == LIBRARIES
            if ours and part.is_dir() and not part.is_symlink():
                yield part


def _size(folder: Path) -> int:
    total = 0
    for file in folder.iterdir():
        with suppress(OSError):  # another process may have put a new one in its place
            total += file.stat().st_size
    return total
