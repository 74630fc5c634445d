"""The one door to Numba: the only place that names its options, and that turns source into machine code."""

from __future__ import annotations

import types as python_types
from typing import Any

import llvmlite.binding as llvm
from numba import cfunc, njit, types

from pellucid.engine.native.loader import target_machine

FASTMATH = {"nsz", "arcp", "contract", "afn", "reassoc"}
"""Without nnan and ninf: with them `x != x` may answer False, and we look for NaN on purpose."""


def part(f: Any) -> Any:
    """A small function that kernels call: always inlined."""
    return njit(inline="never", forceinline=True, error_model="numpy", fastmath=FASTMATH, nogil=True)(f)


def machine_code(source: str, name: str) -> bytes:
    """The object code of the function `kernel(a)` in a source, under a name of its own."""
    module = python_types.ModuleType(name)
    exec(compile(source, name, "exec"), module.__dict__)
    made = cfunc(types.int32(types.int64), error_model="numpy", fastmath=FASTMATH)(module.kernel)
    text = made.inspect_llvm().replace(made.native_name.removeprefix("cfunc."), f"{name}.body")
    text = text.replace(f"cfunc.{name}.body", name)
    return bytes(target_machine(llvm.get_host_cpu_features().flatten()).emit_object(llvm.parse_assembly(text)))
