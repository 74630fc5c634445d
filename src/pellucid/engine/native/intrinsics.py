"""What Python cannot say: memory by address, calls by address, atomic steps, the processor's rounding."""

from __future__ import annotations

import os
import platform
from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

SCOPES = 64
"""Arrays of a kernel that the compiler may tell apart."""

WORD = ir.IntType(64)


def _memory(builder: Any, address: Any, index: Any, kind: Any) -> Any:
    pointer = builder.inttoptr(address, kind.as_pointer())
    return builder.gep(pointer, [index], inbounds=True)


def _apart(module: Any, instruction: Any, scope: int) -> None:
    """Arrays with different numbers do not overlap: without this no loop over many arrays vectorises."""
    domain = module.add_metadata(["pellucid"])
    scopes = [module.add_metadata([f"array {i}", domain]) for i in range(SCOPES)]
    own = min(scope, SCOPES - 1)
    instruction.set_metadata("alias.scope", module.add_metadata([scopes[own]]))
    instruction.set_metadata("noalias", module.add_metadata([s for i, s in enumerate(scopes) if i != own]))


def loader(numba_type: Any, kind: Any) -> Any:
    """load(address, index, scope)"""

    @intrinsic(prefer_literal=True)  # type: ignore[misc,unused-ignore]
    def load(context: Any, address: Any, index: Any, scope: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            found = builder.load(_memory(builder, args[0], args[1], kind))
            _apart(builder.module, found, scope.literal_value)
            return builder.icmp_unsigned("!=", found, ir.IntType(8)(0)) if numba_type is types.boolean else found

        return numba_type(types.int64, types.int64, scope), generate

    return load


def storer(numba_type: Any, kind: Any) -> Any:
    """store(address, index, value, scope)"""

    @intrinsic(prefer_literal=True)  # type: ignore[misc,unused-ignore]
    def store(context: Any, address: Any, index: Any, value: Any, scope: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            value = builder.zext(args[2], ir.IntType(8)) if numba_type is types.boolean else args[2]
            made = builder.store(value, _memory(builder, args[0], args[1], kind))
            _apart(builder.module, made, scope.literal_value)
            return context.get_dummy_value()

        return types.void(types.int64, types.int64, numba_type, scope), generate

    return store


@intrinsic(prefer_literal=True)  # type: ignore[misc,unused-ignore]
def scratch(context: Any, words: Any) -> Any:
    """The address of so many words of memory that the kernel has for itself while it runs."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        with builder.goto_entry_block():
            memory = builder.alloca(ir.ArrayType(WORD, words.literal_value))
        return builder.ptrtoint(memory, WORD)

    return types.int64(words), generate


@intrinsic  # type: ignore[misc,unused-ignore]
def call_function(context: Any, address: Any, x: Any) -> Any:
    """A double function of a double by its address."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        kind = ir.FunctionType(ir.DoubleType(), [ir.DoubleType()])
        return builder.call(builder.inttoptr(args[0], kind.as_pointer()), args[1:])

    return types.float64(types.int64, types.float64), generate


def from_c(name: str, count: int) -> Any:
    """A double function of the C library by its name."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        kind = ir.FunctionType(ir.DoubleType(), [ir.DoubleType()] * count)
        function = builder.module.globals.get(name) or ir.Function(builder.module, kind, name)
        return builder.call(function, args)

    if count == 1:

        @intrinsic  # type: ignore[misc,unused-ignore]
        def call(context: Any, x: Any) -> Any:
            return types.float64(types.float64), generate

        return call

    @intrinsic  # type: ignore[misc,unused-ignore]
    def call_two(context: Any, x: Any, y: Any) -> Any:
        return types.float64(types.float64, types.float64), generate

    return call_two


def of_processor(name: str) -> Any:
    """A function that the processor has for every float type (floor, fabs, sqrt, ...)."""

    @intrinsic  # type: ignore[misc,unused-ignore]
    def call(context: Any, x: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            function = builder.module.declare_intrinsic(f"llvm.{name}", [args[0].type])
            return builder.call(function, args)

        return x(x), generate

    return call


@intrinsic  # type: ignore[misc,unused-ignore]
def call_kernel(context: Any, address: Any, table: Any) -> Any:
    """int32 kernel(int64) by its address."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        kind = ir.FunctionType(ir.IntType(32), [WORD])
        return builder.call(builder.inttoptr(args[0], kind.as_pointer()), [args[1]])

    return types.int32(types.int64, types.int64), generate


@intrinsic  # type: ignore[misc,unused-ignore]
def call_gemm(context: Any, table: Any) -> Any:
    """void gemm(13 pointers): the table holds the function's address and then the pointers."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        words = [builder.load(_memory(builder, args[0], WORD(i), WORD)) for i in range(14)]
        pointer = ir.IntType(8).as_pointer()
        kind = ir.FunctionType(ir.VoidType(), [pointer] * 13)
        builder.call(
            builder.inttoptr(words[0], kind.as_pointer()), [builder.inttoptr(word, pointer) for word in words[1:]]
        )
        return context.get_dummy_value()

    return types.void(types.int64), generate


@intrinsic  # type: ignore[misc,unused-ignore]
def atomic_add(context: Any, address: Any, amount: Any) -> Any:
    """The old value; everything written before is visible to whoever sees the new one."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        pointer = builder.inttoptr(args[0], WORD.as_pointer())
        return builder.atomic_rmw("add", pointer, args[1], "seq_cst")

    return types.int64(types.int64, types.int64), generate


@intrinsic  # type: ignore[misc,unused-ignore]
def atomic_load(context: Any, address: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        pointer = builder.inttoptr(args[0], WORD.as_pointer())
        return builder.load_atomic(pointer, "seq_cst", 8)

    return types.int64(types.int64), generate


@intrinsic  # type: ignore[misc,unused-ignore]
def rest(context: Any) -> Any:
    """Sleep for as short a time as the system knows.

    A thread that sleeps is woken on a free processor; one that only yields stays beside the thread it waits for.
    """

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        name = "usleep" if os.name == "posix" else "Sleep"
        kind = ir.FunctionType(ir.IntType(32), [ir.IntType(32)])
        function = builder.module.globals.get(name) or ir.Function(builder.module, kind, name)
        return builder.call(function, [ir.IntType(32)(1)])

    return types.int32(), generate


@intrinsic  # type: ignore[misc,unused-ignore]
def copy_memory(context: Any, target: Any, source: Any, count: Any) -> Any:
    """Copy bytes between places that do not overlap."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        pointer = ir.IntType(8).as_pointer()
        kind = ir.FunctionType(ir.VoidType(), [pointer, pointer, WORD, ir.IntType(1)])
        name = "llvm.memcpy.p0.p0.i64"
        function = builder.module.globals.get(name) or ir.Function(builder.module, kind, name)
        places = [builder.inttoptr(a, pointer) for a in args[:2]]
        builder.call(function, [*places, args[2], ir.IntType(1)(0)])
        return context.get_dummy_value()

    return types.void(types.int64, types.int64, types.int64), generate


IS_X86 = platform.machine().lower() in ("x86_64", "amd64")


@intrinsic  # type: ignore[misc,unused-ignore]
def set_float_mode(context: Any, bits: Any) -> Any:
    """The processor's floating-point mode (MXCSR) set to these bits; the mode before. Elsewhere nothing."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        if not IS_X86:
            return ir.IntType(64)(0)
        kind = ir.FunctionType(ir.VoidType(), [ir.IntType(8).as_pointer()])
        module = builder.module
        place = builder.alloca(ir.IntType(32))
        pointer = builder.bitcast(place, ir.IntType(8).as_pointer())
        read, write = (
            module.globals.get(name) or ir.Function(module, kind, name)
            for name in ("llvm.x86.sse.stmxcsr", "llvm.x86.sse.ldmxcsr")
        )
        builder.call(read, [pointer])
        before = builder.load(place)
        builder.store(builder.trunc(args[0], ir.IntType(32)), place)
        builder.call(write, [pointer])
        return builder.zext(before, ir.IntType(64))

    return types.int64(types.int64), generate
