"""SciPy's special functions by address: the double versions behind `scipy.special.cython_special`."""

from __future__ import annotations

import ctypes
import functools
from typing import Any


@functools.cache
def special(name: str) -> int:
    """The address of one of SciPy's special functions, of doubles and with a double for result."""
    from scipy.special import cython_special

    table: Any = cython_special.__pyx_capi__
    for key in (name, f"__pyx_fuse_0{name}", f"__pyx_fuse_1{name}"):  # which one is of doubles differs
        if key in table:
            signature = _name(table[key])
            if signature.startswith(b"double (double,"):
                return int(_pointer(table[key], signature))
    raise LookupError(f"scipy.special.cython_special has no {name!r} of doubles")


def _name(capsule: Any) -> bytes:
    get = ctypes.pythonapi.PyCapsule_GetName
    get.restype, get.argtypes = ctypes.c_char_p, [ctypes.py_object]
    return bytes(get(capsule))


def _pointer(capsule: Any, name: bytes) -> int:
    get = ctypes.pythonapi.PyCapsule_GetPointer
    get.restype, get.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    return int(get(capsule, name))
