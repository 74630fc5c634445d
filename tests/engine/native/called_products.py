"""Matrix products of our own, compiled and called one by one; memory around all arrays must stay as it is."""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from pellucid.engine.native.code.llvm import loader
from pellucid.engine.native.code.llvm.module import machine_code
from pellucid.engine.native.code.llvm.processor import SETTINGS, host
from pellucid.engine.native.code.products import product, short_product
from pellucid.engine.native.code.products.product_plan import Product, Room, room_for, words_for

LAYOUTS = [(False, False), (True, False), (False, True), (True, True)]
GUARD = 64
"""Numbers around every array that must stay as they are."""

OTHERS = {"other_halves": replace(host(), halves=not host().halves)} if host().vector == 64 else {}
"""This machine, taken for one that works on half a vector in another time."""


@functools.cache
def compiled(dtype: str, name: str) -> Any:
    """The function for float32, float64, or float32 numbers that are rounded to bfloat16."""
    target = OTHERS[name] if name in OTHERS else SETTINGS.get(name) or host()
    symbol = f"product_{dtype}_{name}"
    text = short_product.write(symbol, target) if dtype == "bfloat16" else product.write(dtype, symbol, target)
    address = loader.load(symbol, machine_code(text, target, settled=True))
    return ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_int64)(address), target


def described(
    m: int, n: int, k: int, turned: tuple[bool, bool], item: int, spare: int = 0, short: bool = False
) -> Product:
    """Sides stored as `turned` says, rows `spare` numbers longer than they are."""
    left, right = (m if turned[0] else k) + spare, (k if turned[1] else n) + spare
    return Product(m, n, k, turned[0], turned[1], left, right, n, item, short)


def guarded(values: Any, step: int) -> tuple[Any, Any]:
    """A matrix whose rows are `step` apart, with memory around it."""
    rows, columns = values.shape
    memory = np.full(rows * step + 2 * GUARD, 777.0, values.dtype)
    inside = memory[GUARD : GUARD + rows * step].reshape(rows, step)[:, :columns]
    inside[...] = values
    return memory, inside


def multiplied(
    A: Any,
    B: Any,
    turned: tuple[bool, bool],
    setting: str,
    spare: int = 0,
    room: Room | None = None,
    short: bool = False,
    asked: Sequence[int] = (),
) -> Any:
    """A @ B by compiled code; the sides are stored as `turned` says, their rows `spare` numbers longer. `asked`: places
    of arrays that are asked for meanwhile."""
    function, target = compiled("bfloat16" if short else A.dtype.name, setting)
    stored = [x.T if turn else x for x, turn in zip((A, B), turned, strict=True)]
    steps = [x.shape[1] + spare for x in stored]
    (left, a), (right, b) = (guarded(x, step) for x, step in zip(stored, steps, strict=True))
    result, c = guarded(np.full((A.shape[0], B.shape[1]), 99.0, A.dtype), B.shape[1])
    what = described(A.shape[0], B.shape[1], A.shape[1], turned, A.itemsize, spare, short)
    room = room or room_for(what, target)
    panel, copies = (np.full(size // A.itemsize + GUARD, np.nan, A.dtype) for size in room)
    panel[room.panel // A.itemsize :] = copies[room.copies // A.itemsize :] = 55.0
    before = left.copy(), right.copy()
    places, work = tuple(x.ctypes.data for x in (a, b, c)), (panel.ctypes.data, copies.ctypes.data, room)
    words = words_for(what, target, places, work, asked=asked)
    assert function(np.array(words, np.int64).ctypes.data) == 0
    np.testing.assert_array_equal(left, before[0])
    np.testing.assert_array_equal(right, before[1])
    assert (panel[room.panel // A.itemsize :] == 55.0).all()
    assert (copies[room.copies // A.itemsize :] == 55.0).all()
    assert (result[:GUARD] == 777.0).all()
    assert (result[GUARD + c.size :] == 777.0).all()
    return c


def sides(m: int, n: int, k: int, dtype: str, seed: int = 0) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    return rng.standard_normal((m, k)).astype(dtype), rng.standard_normal((k, n)).astype(dtype)
