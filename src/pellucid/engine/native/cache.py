"""Compiled kernels: in memory, on disk, or made now.

The folder follows the platform's convention (`PELLUCID_CACHE_DIR` overrides it). A kernel is stored under the hash of
its source, in a folder named after everything that shapes the code: the package's own files, Numba, the processor.
Files appear whole (written aside, then renamed), so several processes may share the folder; where it cannot be
written, kernels live in memory.
"""

from __future__ import annotations

import functools
import hashlib
import os
import sys
import tempfile
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from importlib.metadata import version
from pathlib import Path

from pellucid.engine.native import loader
from pellucid.locks import forkable

compilations = 0
"""How many kernels this process has compiled."""

quiet = threading.local()
_addresses: dict[str, int] = {}
_lock = forkable()


def addresses(sources: Iterable[str]) -> list[int]:
    """Where the machine code of each of these kernels is."""
    wanted = list(sources)
    missing = [s for s in dict.fromkeys(wanted) if s not in _addresses]
    if missing:
        with _lock:
            _obtain([s for s in missing if s not in _addresses])
    return [_addresses[s] for s in wanted]


def _obtain(sources: list[str]) -> None:
    names = {source: key_of(source) for source in sources}
    found = {name: _read(name) for name in names.values()}
    for source in _announced([s for s in sources if found[names[s]] is None]):
        found[names[source]] = _compile(source, names[source])
    for source, name in names.items():
        code = found[name]
        assert code is not None
        _addresses[source] = loader.load(name, code)


def _compile(source: str, name: str) -> bytes:
    global compilations
    from pellucid.engine.native.door import machine_code

    compilations += 1
    code = machine_code(source, name)
    folder = directory()
    with suppress(OSError):
        folder.mkdir(parents=True, exist_ok=True)
        write_whole(folder / f"{name}.py", source.encode())
        write_whole(folder / f"{name}.o", hashlib.sha256(code).digest() + code)
    return code


def _read(name: str) -> bytes | None:
    """Object code from the disk, if it is there and whole."""
    with suppress(OSError):
        content = (directory() / f"{name}.o").read_bytes()
        digest, code = content[:32], content[32:]
        if hashlib.sha256(code).digest() == digest:
            return code
    return None


def write_whole(path: Path, content: bytes) -> None:
    """A file that appears whole, or not at all."""
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=".part-")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        os.replace(name, path)
    except BaseException:
        with suppress(OSError):
            os.unlink(name)
        raise


def key_of(source: str) -> str:
    return "k" + hashlib.sha256(source.encode()).hexdigest()[:24]


def directory() -> Path:
    """The folder of kernels for this version on this processor."""
    given = os.environ.get("PELLUCID_CACHE_DIR")
    if given:
        return Path(given) / _signature()
    from platformdirs import user_cache_dir

    return Path(user_cache_dir("pellucid", appauthor=False)) / _signature()


@functools.cache
def _signature() -> str:
    here = Path(__file__).parent
    digest = hashlib.sha256()
    for path in sorted([*here.glob("*.py"), *(here / "vectormath").glob("*.py")]):
        digest.update(path.read_bytes())
    digest.update(f"{version('numba')} {loader.processor()} {sys.version_info[:2]}".encode())
    return digest.hexdigest()[:16]


# telling the user


@contextmanager
def silent(on: bool = True) -> Iterator[None]:
    """No message while kernels are compiled."""
    before = getattr(quiet, "on", False)
    quiet.on = on or before
    try:
        yield
    finally:
        quiet.on = before


def _announced(sources: list[str]) -> Iterable[str]:
    """The sources one by one, with a progress bar on the terminal (one line elsewhere)."""
    if not sources or getattr(quiet, "on", False):
        return sources
    return _with_progress(sources)


def _with_progress(sources: list[str]) -> Iterator[str]:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    console = Console(stderr=True)
    if not console.is_terminal:
        plural = "" if len(sources) == 1 else "s"
        print(
            f"pellucid: compiling {len(sources)} kernel{plural} for this machine (once; kept in {directory().parent})",
            file=sys.stderr,
        )
        yield from sources
        return
    columns = (TextColumn("compiling kernels, once"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task("", total=len(sources))
        for source in sources:
            yield source
            progress.advance(task)
