"""Compiled kernels: in memory, on disk, or made now.

The folder follows the platform's convention (`PELLUCID_CACHE_DIR` overrides it). A kernel is stored under the hash of
its source, in a folder named after everything that shapes the code: the package's own files, Numba and its settings,
the processor. Files appear whole, so several processes may share the folder. What is in it is executed: where others
could have written it (`private_folder`), or nothing can be written, kernels live in memory.
"""

from __future__ import annotations

import functools
import hashlib
import os
import sys
import warnings
from collections.abc import Iterable
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from pellucid.engine.native import loader
from pellucid.engine.native.announcement import announce
from pellucid.engine.native.announcement import silent as silent
from pellucid.engine.native.interrupts import uninterrupted
from pellucid.engine.native.llvm.processor import Processor, processor
from pellucid.engine.native.loader import CannotLoad, Code
from pellucid.engine.native.lower import CannotCompile, EngineUnavailable
from pellucid.engine.native.private_folder import PrivateFolder, UntrustedError
from pellucid.errors import KernelFolderWarning
from pellucid.locks import forkable

if TYPE_CHECKING:
    from pellucid.engine.native.llvm.module import Kernel

    Source = str | Kernel

compilations = 0
"""How many kernels this process has compiled."""

HARMLESS = ("NUMBA_CACHE_DIR", "NUMBA_CUDA", "NUMBA_NUM_THREADS", "NUMBA_THREADING_LAYER")
"""How Numba's variables begin that do not shape the code."""

_addresses: dict[tuple[str, Processor | None], int] = {}  # by source, or by a kernel's key and the processor
_lock = forkable()
_refused: set[str | None] = set()  # settings of PELLUCID_CACHE_DIR


def addresses(sources: Iterable[Source]) -> list[int]:
    """Where the machine code of each of these kernels is; CannotCompile where there can be none.

    A kernel is Python source for Numba, or a `Kernel` that writes itself as LLVM IR.
    """
    wanted = list(sources)
    missing = [s for s in dict.fromkeys(wanted) if _identity(s) not in _addresses]
    if missing:
        with _lock:
            _obtain([s for s in missing if _identity(s) not in _addresses])
    return [_addresses[_identity(s)] for s in wanted]


def _identity(source: Source) -> tuple[str, Processor | None]:
    return (source, None) if isinstance(source, str) else (source.key, processor())


def _obtain(sources: list[Source]) -> None:
    """Load what is stored, compile the rest. Ctrl-C is heard after each kernel."""
    with uninterrupted():
        _check_engine(numba=any(isinstance(source, str) for source in sources))
    missing: list[Source] = []
    for source in sources:
        with uninterrupted():
            code = _stored(key_of(source))
            address = None if code is None else _loaded(key_of(source), code)
        if address is None:
            missing.append(source)
        else:
            _addresses[_identity(source)] = address
    slow = sum(isinstance(source, str) for source in missing)  # IR is compiled within milliseconds
    if slow:
        folder = kernel_shelf()
        announce(slow, None if folder is None else folder.path.parent)
    for source in missing:
        with uninterrupted():
            _addresses[_identity(source)] = _compiled(source, key_of(source))


def _loaded(name: str, code: Code) -> int | None:
    with suppress(CannotLoad):
        return loader.load(name, code)
    return None


def _compiled(source: Source, name: str) -> int:
    global compilations
    compilations += 1
    try:
        text, code = _written(source, name)
        address = loader.load(name, code)
    except EngineUnavailable:
        raise
    except Exception as error:
        reason = f"{type(error).__name__}: {error}".splitlines()[0]
        raise CannotCompile(f"a kernel cannot be compiled ({reason})") from error
    _store(text, name, code, "py" if isinstance(source, str) else "ll")
    return address


def _written(source: Source, name: str) -> tuple[str, Code]:
    """A kernel as text, and its machine code."""
    try:
        if isinstance(source, str):
            from pellucid.engine.native import door
        else:
            from pellucid.engine.native.llvm import module
    except Exception as error:  # too old, broken
        raise EngineUnavailable(f"the compiler cannot be imported ({error})") from error
    if isinstance(source, str):
        return source, door.machine_code(source, name)
    text = source.write(name, processor())
    return text, module.machine_code(text, processor(), source.settled)


def in_use() -> list[str]:
    """The names of the kernels that this process has in memory."""
    return sorted(_name(*identity) for identity in _addresses)


def is_stored(name: str) -> bool:
    """Is the code of a kernel on disk, whole, and nobody else's?"""
    return _stored(name) is not None


def key_of(source: Source) -> str:
    return _name(*_identity(source))


def _name(source: str, target: Processor | None) -> str:
    return "k" + hashlib.sha256((source if target is None else repr((source, target))).encode()).hexdigest()[:24]


# on disk


def _store(text: str, name: str, code: Code, language: str = "py") -> None:
    folder = kernel_shelf()
    if folder is not None:
        with suppress(OSError):
            folder.write(f"{name}.{language}", text.encode())
            content = "\n".join(code.needs).encode() + b"\0" + code.binary
            folder.write(f"{name}.o", _checksum(name, content) + content)


def _stored(name: str) -> Code | None:
    """The code of a kernel from the disk, if it is there, whole, and nobody else's."""
    folder = kernel_shelf()
    try:
        stored = None if folder is None else folder.read(f"{name}.o")
    except UntrustedError as error:
        refuse(error)
        return None
    except OSError:
        return None
    if stored is None or _checksum(name, stored[32:]) != stored[:32]:
        return None
    names, _, binary = stored[32:].partition(b"\0")
    return Code(tuple(names.decode().split()), binary)


def _checksum(name: str, content: bytes) -> bytes:
    """Of the name as well: one kernel's code under another's name is not whole."""
    return hashlib.sha256(name.encode() + content).digest()


def shelf(name: str) -> PrivateFolder | None:
    """A folder below the root; None where there is none. One that cannot be trusted is told of, once."""
    if os.environ.get("PELLUCID_CACHE_DIR") in _refused:
        return None
    try:
        return PrivateFolder(root(), name)
    except UntrustedError as error:
        refuse(error)
    except OSError:
        pass
    return None


def kernel_shelf() -> PrivateFolder | None:
    """The folder of kernels for this version on this processor; None where there is none."""
    return shelf(_signature())


def refuse(error: UntrustedError) -> None:
    """From now on kernels are compiled in memory."""
    _refused.add(os.environ.get("PELLUCID_CACHE_DIR"))
    text = f"compiled kernels are not kept, and every process compiles its own: {error}"
    warnings.warn(text, KernelFolderWarning, stacklevel=2)


def directory() -> Path:
    """The folder of kernels for this version on this processor."""
    return root() / _signature()


def root() -> Path:
    """The folder of everything that is kept; UntrustedError where it is not an absolute path."""
    setting = os.environ.get("PELLUCID_CACHE_DIR")
    remedy = "set PELLUCID_CACHE_DIR to an absolute path"
    if setting:
        path = Path(setting)
    else:
        from platformdirs import user_cache_dir

        try:
            path = Path(user_cache_dir("pellucid", appauthor=False))
        except RuntimeError as error:
            raise UntrustedError(f"there is no home directory to keep them in ({error})", remedy) from error
    if not path.is_absolute():  # then it depends on the place where a program is started, which may be anybody's
        raise UntrustedError(f"the folder to keep them in, {str(path)!r}, is a relative path", remedy)
    return path


# what shapes the code


@functools.cache
def _signature() -> str:
    here = Path(__file__).parent
    digest = hashlib.sha256()
    for path in sorted(here.rglob("*.py")):
        digest.update(path.read_bytes())
    try:
        numba = version("numba")
    except PackageNotFoundError:
        numba = "none"
    settings = sorted(
        (name, value)
        for name, value in os.environ.items()
        if name.startswith("NUMBA_") and not name.startswith(HARMLESS)
    )
    digest.update(f"{numba} {loader.processor()} {sys.version_info[:2]} {settings}".encode())
    with suppress(OSError):
        digest.update(Path(".numba_config.yaml").read_bytes())  # Numba reads it where it is started
    return digest.hexdigest()[:16]


def _check_engine(numba: bool) -> None:
    """EngineUnavailable where nothing could be compiled. What is on disk does not count: results depend on no cache."""
    try:
        loader.processor()
        if numba and find_spec("numba") is None:
            raise ModuleNotFoundError("No module named 'numba'")
    except Exception as error:  # missing, broken: whatever an import may raise
        raise EngineUnavailable(f"the compiler cannot be imported ({error})") from error
    if not numba:
        return
    config = getattr(sys.modules.get("numba"), "config", None)
    setting = os.environ.get("NUMBA_DISABLE_JIT", "0") if config is None else config.DISABLE_JIT
    if str(setting).strip() not in ("", "0", "False"):
        raise EngineUnavailable("Numba is told not to compile (NUMBA_DISABLE_JIT)")
