"""Machine code into memory, without Numba: what a warm start needs."""

from __future__ import annotations

import functools
from typing import Any

from pellucid.locks import forkable

_lock = forkable()
_engines: list[Any] = []  # as long as the process lives: addresses into them are everywhere


@functools.cache
def processor_name() -> str:
    import llvmlite.binding as llvm

    return str(llvm.get_host_cpu_name())


@functools.cache
def processor() -> str:
    """Name and features of this machine's processor: code made for another is not used."""
    import llvmlite
    import llvmlite.binding as llvm

    return f"{llvmlite.__version__} {llvm.get_host_cpu_name()} {llvm.get_host_cpu_features().flatten()}"


@functools.cache
def target_machine(features: str = "") -> Any:
    import llvmlite.binding as llvm

    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    target = llvm.Target.from_default_triple()
    return target.create_target_machine(
        cpu=llvm.get_host_cpu_name(), features=features, opt=3, reloc="pic", codemodel="small", jit=True
    )


def load(name: str, code: bytes) -> int:
    """The address of a function from the object code that holds it.

    Each object has an engine of its own: in a common one, constants of the same local name would be taken for one.
    """
    import llvmlite.binding as llvm

    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    machine = llvm.Target.from_default_triple().create_target_machine(opt=3, jit=True)
    with _lock:
        engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), machine)
        engine.add_object_file(llvm.ObjectFileRef.from_data(code))
        engine.finalize_object()
        _engines.append(engine)
        return int(engine.get_function_address(name))
