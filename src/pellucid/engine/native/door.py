"""The one door to Numba: the only place that names its options, and that turns source into machine code."""

from __future__ import annotations

import types as python_types
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import llvmlite.binding as llvm
from numba import cfunc, njit, types
from numba.core import config
from numba.core.compiler_lock import global_compiler_lock

from pellucid.engine.native.loader import Code, target_machine

FASTMATH = {"nsz", "arcp", "contract", "afn", "reassoc"}
"""Without nnan and ninf: with them `x != x` may answer False, and we look for NaN on purpose."""

PINNED = {
    "OPT": type(vars(config)["OPT"])(3),
    "LOOP_VECTORIZE": 1,
    "SLP_VECTORIZE": 0,
    "BOUNDSCHECK": 0,
    "DEBUGINFO_DEFAULT": 0,
    "EXTEND_VARIABLE_LIFETIMES": 0,
    "DEBUG_JIT": 0,
}
"""Numba's settings for our kernels, whatever the user has set for functions of his own: unoptimised code is not only
slow, it also needs Numba itself in memory."""


def part(f: Any) -> Any:
    """A small function that kernels call: always inlined."""
    return njit(inline="never", forceinline=True, error_model="numpy", fastmath=FASTMATH, nogil=True)(f)


def machine_code(source: str, name: str) -> Code:
    """The object code of the function `kernel(a)` in a source, under a name of its own."""
    module = python_types.ModuleType(name)
    with _pinned():
        exec(compile(source, name, "exec"), module.__dict__)
        made = cfunc(types.int32(types.int64), error_model="numpy", fastmath=FASTMATH)(module.kernel)
        text = made.inspect_llvm().replace(made.native_name.removeprefix("cfunc."), f"{name}.body")
    parsed = llvm.parse_assembly(text.replace(f"cfunc.{name}.body", name))
    outside = [x.name for group in (parsed.functions, parsed.global_variables) for x in group if x.is_declaration]
    needs = tuple(symbol for symbol in outside if not symbol.startswith("llvm."))
    return Code(needs, bytes(target_machine(llvm.get_host_cpu_features().flatten()).emit_object(parsed)))


@contextmanager
def _pinned() -> Iterator[None]:
    with global_compiler_lock:  # nobody else compiles meanwhile
        before = {name: getattr(config, name) for name in PINNED}
        vars(config).update(PINNED)
        try:
            yield
        finally:
            vars(config).update(before)
