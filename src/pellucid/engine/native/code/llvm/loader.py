"""Machine code into memory: what a warm start needs."""

from __future__ import annotations

import ctypes
import functools
import sys
from contextlib import suppress
from typing import Any, NamedTuple

from pellucid.locks import forkable

_lock = forkable()
_engines: list[Any] = []  # as long as the process lives: addresses into them are everywhere


class Code(NamedTuple):
    """A compiled function: the names that it needs from outside, and the object code."""

    needs: tuple[str, ...]
    binary: bytes


class CannotLoad(Exception):
    """Code that would not run here."""


@functools.cache
def processor_name() -> str:
    import llvmlite.binding as llvm

    return str(llvm.get_host_cpu_name())


@functools.cache
def compiler() -> str:
    """The version of LLVM: code made by another is not used."""
    import llvmlite

    return f"llvmlite {llvmlite.__version__}"


SCIPY = "scipy."
"""How compiled code names SciPy's special functions."""

LIBRARIES: dict[str, tuple[str | None, ...]] = {"linux": (None, "libm.so.6"), "win32": ("ucrtbase", "kernel32")}
"""Where the C library's functions are; elsewhere all of them are in the process itself."""


@functools.cache
def _provided(symbol: str) -> bool:
    """Make a function of the C library or SciPy known to LLVM, which sees only what the process has loaded for all."""
    import llvmlite.binding as llvm

    if symbol.startswith(SCIPY):
        llvm.add_symbol(symbol, _special(symbol.removeprefix(SCIPY)))
        return True
    for library in LIBRARIES.get(sys.platform, (None,)):
        with suppress(OSError, AttributeError):
            place = ctypes.cast(getattr(ctypes.CDLL(library), symbol), ctypes.c_void_p).value
            if place:
                llvm.add_symbol(symbol, place)
                return True
    return False


def _special(name: str) -> int:
    """The address of one of SciPy's special functions, of doubles and with a double for result."""
    from scipy.special import cython_special

    table: Any = cython_special.__pyx_capi__
    for key in (name, f"__pyx_fuse_0{name}", f"__pyx_fuse_1{name}"):  # which one is of doubles differs
        if key in table and _signature(table[key]).startswith(b"double (double,"):
            return address(table[key])
    raise LookupError(f"scipy.special.cython_special has no {name!r} of doubles")


def _signature(capsule: Any) -> bytes:
    get = ctypes.pythonapi.PyCapsule_GetName
    get.restype, get.argtypes = ctypes.c_char_p, [ctypes.py_object]
    return bytes(get(capsule))


def address(capsule: Any) -> int:
    """Where the function behind an entry of a Cython module's `__pyx_capi__` is."""
    get = ctypes.pythonapi.PyCapsule_GetPointer
    get.restype, get.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    return int(get(capsule, _signature(capsule)))


def load(name: str, code: Code) -> int:
    """The address of a function from the object code that holds it; CannotLoad where it would not run.

    Each object has an engine of its own: in a common one, constants of the same local name would be taken for one.
    """
    import llvmlite.binding as llvm

    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    machine = llvm.Target.from_default_triple().create_target_machine(opt=3, jit=True)
    absent = [symbol for symbol in code.needs if not llvm.address_of_symbol(symbol) and not _provided(symbol)]
    if absent:  # LLVM would end the process
        raise CannotLoad(f"{name} needs {', '.join(absent)}, which this process does not have")
    parsed = llvm.ObjectFileRef.from_data(code.binary)
    if not parsed._ptr:  # noqa: SLF001 (llvmlite does not look at it)
        raise CannotLoad(f"{name} is not object code of this machine")
    with _lock:
        engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), machine)
        engine.add_object_file(parsed)
        engine.finalize_object()
        address = int(engine.get_function_address(name))
        if not address:
            raise CannotLoad(f"the code of {name} has no function of that name")
        _engines.append(engine)
        return address
