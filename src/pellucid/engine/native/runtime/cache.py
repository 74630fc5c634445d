"""Compiled kernels: in memory, on disk, or made now.

The folder follows the platform's convention (`PELLUCID_CACHE_DIR` overrides it). A kernel is stored under the hash of
its description, in a folder named after everything else that shapes the code: the package's own files, LLVM, the
processor. Files appear whole, so several processes may share the folder. What is in it is executed: where others could
have written it (`private_folder`), or nothing can be written, kernels live in memory.
"""

from __future__ import annotations

import ctypes
import functools
import hashlib
import os
import warnings
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

from pellucid.engine.native.code.llvm import loader
from pellucid.engine.native.code.llvm.loader import CannotLoad, Code
from pellucid.engine.native.code.llvm.module import Kernel, machine_code
from pellucid.engine.native.code.llvm.processor import Processor, processor
from pellucid.engine.native.passes.lower import CannotCompile, EngineUnavailable
from pellucid.engine.native.runtime.announcement import compiling
from pellucid.engine.native.runtime.announcement import silent as silent
from pellucid.engine.native.runtime.private_folder import PrivateFolder, UntrustedError
from pellucid.errors import KernelFolderWarning
from pellucid.interrupts import uninterrupted
from pellucid.locks import forkable

compilations = 0
"""How many kernels this process has compiled."""

_addresses: dict[tuple[str, Processor], int] = {}  # of kernels, by their names
_lock = forkable()
_refused: set[str | None] = set()  # settings of PELLUCID_CACHE_DIR


def function(kernel: Kernel) -> Any:
    """A kernel as a Python callable that lets other threads run."""
    return ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_int64)(addresses([kernel])[0])


def addresses(kernels: Iterable[Kernel]) -> list[int]:
    """Where the machine code of each of these kernels is; CannotCompile where there can be none."""
    target = target_processor()
    wanted = list(kernels)
    missing = [k for k in dict.fromkeys(wanted) if (k.name, target) not in _addresses]
    if missing:
        with _lock:
            _obtain([k for k in missing if (k.name, target) not in _addresses], target)
    return [_addresses[k.name, target] for k in wanted]


def target_processor() -> Processor:
    """The one that kernels are for; EngineUnavailable where there is no compiler.

    What is on disk does not count: results depend on no cache.
    """
    try:
        return processor()
    except ValueError:  # a setting that does not exist
        raise
    except Exception as error:  # missing, broken: whatever an import may raise
        raise EngineUnavailable(f"the compiler cannot be imported ({error})") from error


def _obtain(kernels: list[Kernel], target: Processor) -> None:
    """Load what is stored, compile the rest. Ctrl-C is heard after each kernel."""
    missing: list[Kernel] = []
    for kernel in kernels:
        with uninterrupted(), suppress(CannotLoad):
            code = stored(kernel.name)
            if code is not None:
                _addresses[kernel.name, target] = loader.load(kernel.name, code)
                continue
        missing.append(kernel)
    if not missing:
        return
    folder = kernel_shelf()
    with compiling(len(missing), None if folder is None else folder.path.parent) as one_more:
        for kernel in missing:
            with uninterrupted():
                _addresses[kernel.name, target] = _compiled(kernel, target)
            one_more()


def _compiled(kernel: Kernel, target: Processor) -> int:
    global compilations
    compilations += 1
    try:
        text = kernel.write(kernel.name, target)
        code = machine_code(text, target, kernel.settled)
        address = loader.load(kernel.name, code)
    except Exception as error:
        reason = f"{type(error).__name__}: {error}".splitlines()[0]
        raise CannotCompile(f"a kernel cannot be compiled ({reason})") from error
    _store(text, kernel.name, code)
    return address


def in_use() -> list[str]:
    """The names of the kernels that this process has in memory."""
    return sorted(name for name, _ in _addresses)


# on disk


def _store(text: str, name: str, code: Code) -> None:
    folder = kernel_shelf()
    if folder is not None:
        with suppress(OSError):
            folder.write(f"{name}.ll", text.encode())
            content = "\n".join(code.needs).encode() + b"\0" + code.binary
            folder.write(f"{name}.o", _checksum(name, content) + content)


def stored(name: str) -> Code | None:
    """The code of a kernel from the disk, if it is there, whole, and nobody else's."""
    folder = kernel_shelf()
    try:
        content = None if folder is None else folder.read(f"{name}.o")
    except UntrustedError as error:
        refuse(error)
        return None
    except OSError:
        return None
    if content is None or _checksum(name, content[32:]) != content[:32]:
        return None
    names, _, binary = content[32:].partition(b"\0")
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
    return shelf(_signature_for(processor()))


def refuse(error: UntrustedError) -> None:
    """From now on kernels are compiled in memory."""
    _refused.add(os.environ.get("PELLUCID_CACHE_DIR"))
    text = f"compiled kernels are not kept, and every process compiles its own: {error}"
    warnings.warn(text, KernelFolderWarning, stacklevel=2)


def directory() -> Path:
    """The folder of kernels for this version on this processor."""
    return root() / _signature_for(processor())


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
def _signature_for(target: Processor) -> str:
    here = Path(__file__).parent.parent
    digest = hashlib.sha256()
    for path in sorted(here.rglob("*.py")):
        digest.update(path.read_bytes())
    digest.update(f"{loader.compiler()} {target}".encode())
    return digest.hexdigest()[:16]
