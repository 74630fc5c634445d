"""Everything that the source of a kernel may call. Imported by Numba's side alone."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types

from pellucid.engine.native import intrinsics
from pellucid.engine.native.door import part
from pellucid.engine.native.vectormath import FLOAT32, FLOAT64

f32, f64 = np.float32, np.float64
i64, i32, i16, i8 = np.int64, np.int32, np.int16, np.int8
u64, u32, u16, u8 = np.uint64, np.uint32, np.uint16, np.uint8
INFINITY = np.inf

_TYPES = {
    "f32": (types.float32, ir.FloatType()),
    "f64": (types.float64, ir.DoubleType()),
    "i64": (types.int64, ir.IntType(64)),
    "i32": (types.int32, ir.IntType(32)),
    "i16": (types.int16, ir.IntType(16)),
    "i8": (types.int8, ir.IntType(8)),
    "u64": (types.uint64, ir.IntType(64)),
    "u32": (types.uint32, ir.IntType(32)),
    "u16": (types.uint16, ir.IntType(16)),
    "u8": (types.uint8, ir.IntType(8)),
    "b1": (types.boolean, ir.IntType(8)),
}
for _name, (_type, _kind) in _TYPES.items():
    globals()[f"load_{_name}"] = intrinsics.loader(_type, _kind)
    globals()[f"store_{_name}"] = intrinsics.storer(_type, _kind)
for _bits, _table in ((32, FLOAT32), (64, FLOAT64)):
    for _name, (_module, _function) in _table.items():
        globals()[f"{_name}{_bits}"] = getattr(import_module(_module), _function)
for _name in ("asin", "acos", "atan", "asinh", "acosh", "atanh", "cbrt", "tan", "sinh", "cosh"):
    globals()[f"libm_{_name}"] = intrinsics.from_c(_name, 1)
for _name in ("atan2", "fmod", "hypot", "pow"):
    globals()[f"libm_{_name}"] = intrinsics.from_c(_name, 2)

load_word: Any = globals()["load_i64"]
load_number: Any = globals()["load_f64"]
log32, log64, log1p64 = (globals()[name] for name in ("log32", "log64", "log1p64"))
exp64: Any = globals()["exp64"]
call1 = intrinsics.call_function
libm_pow: Any = globals()["libm_pow"]
libm_fmod: Any = globals()["libm_fmod"]
call_kernel, call_gemm = intrinsics.call_kernel, intrinsics.call_gemm
atomic_add, atomic_load = intrinsics.atomic_add, intrinsics.atomic_load
rest, copy_memory, scratch = intrinsics.rest, intrinsics.copy_memory, intrinsics.scratch
set_float_mode = intrinsics.set_float_mode
root = intrinsics.of_processor("sqrt")
magnitude = intrinsics.of_processor("fabs")
down, up = intrinsics.of_processor("floor"), intrinsics.of_processor("ceil")
nearest, towards_zero = intrinsics.of_processor("rint"), intrinsics.of_processor("trunc")


@part
def b1(x):  # type: ignore[no-untyped-def]
    return x != 0


@part
def word(table, place):  # type: ignore[no-untyped-def]
    return load_word(table, place, 63)


@part
def number(table, place):  # type: ignore[no-untyped-def]
    return load_number(table, place, 63)


@part
def clipped(x, low, high):  # type: ignore[no-untyped-def]
    raised = low if (x < low) | (low != low) else x
    return high if (raised > high) | (high != high) else raised


@part
def with_sign(x, sign):  # type: ignore[no-untyped-def]
    size = magnitude(x)
    return -size if (sign < 0) | ((sign == 0) & (1 / sign < 0)) else size


@part
def remainder(x, y):  # type: ignore[no-untyped-def]
    """With the sign of y, exact also where x / y is large."""
    rest = libm_fmod(x, y)
    return rest + y if (rest != 0) & ((rest < 0) != (y < 0)) else rest


@part
def floor_divide(x, y):  # type: ignore[no-untyped-def]
    """As in NumPy: by way of the remainder, so that -1 // inf is -1."""
    rest = libm_fmod(x, y)
    share = (x - rest) / y
    share = share - 1 if (rest != 0) & ((rest < 0) != (y < 0)) else share
    return x / y if y == 0 else nearest(share)


@part
def whole_divide(x, y):  # type: ignore[no-untyped-def]
    return x // y if y != 0 else x * 0


@part
def whole_remainder(x, y):  # type: ignore[no-untyped-def]
    return x % y if y != 0 else x * 0


@part
def whole_fmod(x, y):  # type: ignore[no-untyped-def]
    rest = abs(x) % abs(y) if y != 0 else x * 0
    return -rest if x < 0 else rest


@part
def whole_power(x, p):  # type: ignore[no-untyped-def]
    out = x * 0 + 1
    while p > 0:
        if p & 1:
            out = out * x
        x = x * x
        p = p >> 1
    return out


@part
def logaddexp64(a, b):  # type: ignore[no-untyped-def]
    top = b if (a < b) | (b != b) else a
    low = a if (a < b) | (b != b) else b
    return top if (a == b) & (magnitude(a) == f64(INFINITY)) else top + log1p64(exp64(low - top))


@part
def logaddexp32(a, b):  # type: ignore[no-untyped-def]
    return f32(logaddexp64(f64(a), f64(b)))


@part
def entropy64(x):  # type: ignore[no-untyped-def]
    inside = f64(0) if x == 0 else f64(-INFINITY)
    return x if x != x else (-x * log64(x) if x > 0 else inside)


@part
def entropy32(x):  # type: ignore[no-untyped-def]
    return f32(entropy64(f64(x)))


@part
def relative_entropy64(x, y):  # type: ignore[no-untyped-def]
    inside = f64(0) if (x == 0) & (y >= 0) else f64(INFINITY)
    ratio = x / y
    safe = (ratio > 0) & (ratio < f64(INFINITY))  # else it is out of range
    near = log1p64((x - y) / y)  # exactly 0 where x = y, which a ratio need not be
    far = log64(ratio) if safe else log64(x) - log64(y)
    logarithm = near if (ratio > 0.5) & (ratio < 2) else far
    value = x * logarithm if (x > 0) & (y > 0) else inside
    return x + y if (x != x) | (y != y) else value


@part
def relative_entropy32(x, y):  # type: ignore[no-untyped-def]
    return f32(relative_entropy64(f64(x), f64(y)))


TINY32, TINY64 = np.float32(2.0**-24), 2.0**-53

BERNOULLI = (
    12.0,
    -720.0,
    30240.0,
    -1209600.0,
    47900160.0,
    -1.8924375803183791606e9,
    7.47242496e10,
    -2.950130727918164224e12,
    1.1646782814350067249e14,
    -4.5979787224074726105e15,
    1.8152105401943546773e17,
    -7.1661652561756670113e18,
)
"""(2k)! / B_2k"""


@part
def hurwitz_zeta(x, q):  # type: ignore[no-untyped-def]
    """sum (q + k)^-x over k >= 0, by the Euler-Maclaurin formula (as in Cephes; SciPy exports no address of it)."""
    if (x != x) | (q != q) | (x < 1):
        return f64(np.nan)
    if x == 1:
        return f64(INFINITY)
    if q <= 0:
        if q == down(q):
            return f64(INFINITY)
        if x != down(x):
            return f64(np.nan)
    if q > 1e8:
        return (1 / (x - 1) + 1 / (2 * q)) * libm_pow(q, 1 - x)
    total = libm_pow(q, -x)
    a, term, i = q, 0.0, 0
    while (i < 9) | (a <= 9):
        i += 1
        a += 1
        term = libm_pow(a, -x)
        total += term
        if magnitude(term / total) < TINY64:
            return total
    total += term * a / (x - 1) - 0.5 * term
    factor, k = 1.0, 0.0
    for number in BERNOULLI:
        factor *= x + k
        term /= a
        step = factor * term / number
        total += step
        if magnitude(step / total) < TINY64:
            return total
        k += 1
        factor *= x + k
        term /= a
        k += 1
    return total


# SplitMix64 by position, as in graph/primitives/random.py

GAMMA = np.uint64(0x9E3779B97F4A7C15)
MIX1, MIX2 = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
S27, S30, S31, S11, S40 = (np.uint64(n) for n in (27, 30, 31, 11, 40))
ONE = np.uint64(1)


@part
def mixed(z):  # type: ignore[no-untyped-def]
    z = (z ^ (z >> S30)) * MIX1
    z = (z ^ (z >> S27)) * MIX2
    return z ^ (z >> S31)


@part
def random_start(key, counter, stream):  # type: ignore[no-untyped-def]
    start = mixed(u64(key) + GAMMA)
    return mixed(start ^ (u64(counter) * GAMMA + u64(stream)))


@part
def uniform64(start, position):  # type: ignore[no-untyped-def]
    return f64(i64(mixed(start + (u64(position) + ONE) * GAMMA) >> S11)) * TINY64


@part
def uniform32(start, position):  # type: ignore[no-untyped-def]
    return f32(i32(mixed(start + (u64(position) + ONE) * GAMMA) >> S40)) * TINY32
