"""Functions of Cython modules by address: SciPy's special functions, in their double versions, and BLAS."""

from __future__ import annotations

import ctypes
import functools
from typing import Any

SCIPY = "scipy."
"""How compiled code names SciPy's special functions."""


@functools.cache
def special(name: str) -> int:
    """The address of one of SciPy's special functions, of doubles and with a double for result."""
    from scipy.special import cython_special

    table: Any = cython_special.__pyx_capi__
    for key in (name, f"__pyx_fuse_0{name}", f"__pyx_fuse_1{name}"):  # which one is of doubles differs
        if key in table and signature(table[key]).startswith(b"double (double,"):
            return address(table[key])
    raise LookupError(f"scipy.special.cython_special has no {name!r} of doubles")


def signature(capsule: Any) -> bytes:
    get = ctypes.pythonapi.PyCapsule_GetName
    get.restype, get.argtypes = ctypes.c_char_p, [ctypes.py_object]
    return bytes(get(capsule))


def address(capsule: Any) -> int:
    """Where the function behind an entry of a module's `__pyx_capi__` is."""
    get = ctypes.pythonapi.PyCapsule_GetPointer
    get.restype, get.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    return int(get(capsule, signature(capsule)))
