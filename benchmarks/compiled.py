"""Small compiled loops for measurements: calls of kernels in turn, and fused multiply-adds alone."""

from __future__ import annotations

import ctypes
import functools
from typing import Any

import numpy as np

from pellucid.engine.native.code.llvm.code import INT32, INT64, Code, Text
from pellucid.engine.native.code.llvm.module import Kernel
from pellucid.engine.native.code.llvm.processor import Processor, processor
from pellucid.engine.native.code.products.tile import plus_product
from pellucid.engine.native.runtime import cache


@functools.cache
def calls() -> Any:
    """(entries, count, times): call `count` kernels (function, table) in turn, all of them `times` times."""
    return _function(Kernel("benchmark: calls", _write_calls), 3)


def _write_calls(name: str, target: Processor) -> str:
    text = Text()
    code = Code(text, name, target, (INT64,) * 3)
    entries, count, times = code.arguments
    table = code.array(entries, INT64)
    with code.loop(0, times), code.loop(0, count) as i:
        code.by_address(table.load(i * 2), INT32, table.load(i * 2 + 1))
    code.finish(0)
    return str(text)


def sums(target: Processor) -> int:
    """How many fill the registers and wait for nobody."""
    return 24 if target.registers >= 32 else 12


def operations(dtype: str) -> int:
    """Multiplications and additions of a turn of `multiply_adds`."""
    target = processor()
    return 2 * sums(target) * target.lanes(np.dtype(dtype).itemsize)


@functools.cache
def multiply_adds(dtype: str) -> Any:
    """(place for a vector, turns): what the processor can do at best."""
    return _function(Kernel(f"benchmark: multiply and add {dtype}", functools.partial(_write_sums, dtype)), 2)


def _write_sums(dtype: str, name: str, target: Processor) -> str:
    text = Text()
    code = Code(text, name, target, (INT64, INT64))
    lanes = target.lanes(np.dtype(dtype).itemsize)
    place = code.array(code.arguments[0], dtype)
    with code.exactly():
        factor = place.load(0, lanes)
        totals = [code.variable(dtype, 0.001 * i, lanes) for i in range(sums(target))]
        with code.loop(0, code.arguments[1]):
            for total in totals:
                total.set(plus_product(code, total.get(), factor, factor))
        result = totals[0].get()
        for total in totals[1:]:
            result = result + total.get()
    place.store(0, result)
    code.finish(0)
    return str(text)


def _function(kernel: Kernel, arguments: int) -> Any:
    (address,) = cache.addresses([kernel])
    return ctypes.CFUNCTYPE(ctypes.c_int32, *[ctypes.c_int64] * arguments)(address)
