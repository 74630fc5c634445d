"""The one door to LLVM's compiler: IR becomes verified, optimised object code.

A `Kernel` says how one function is written; `cache.addresses` takes kernels and gives addresses, from memory, from
disk, or compiled here.
"""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from pellucid.engine.native.code.llvm.loader import Code
from pellucid.engine.native.code.llvm.processor import Processor

Writer = Callable[[str, Processor], str]


@dataclass(frozen=True)
class Kernel:
    """One function as LLVM IR.

    Parameters
    ----------
    key : str
        says all that shapes the code, besides the processor and the files of this package; what is on disk is found
        by it, so nothing is written as IR that has been compiled before
    write : callable
        (name, processor): the text of a module with the function `name`; functions beside it have internal linkage
    settled : bool
        has the writer left nothing to find? Then variables become registers, and that is all: a tenth of the time
    """

    key: str
    write: Writer = field(compare=False, repr=False)
    settled: bool = False

    @functools.cached_property
    def name(self) -> str:
        """Of its function, and of what is kept of it."""
        return "k" + hashlib.sha256(self.key.encode()).hexdigest()[:24]


def machine_code(text: str, target: Processor, settled: bool = False) -> Code:
    """The object code of a module's text; RuntimeError where LLVM finds a fault in it."""
    module = optimised(text, target, settled)
    outside = [x.name for group in (module.functions, module.global_variables) for x in group if x.is_declaration]
    needs = tuple(symbol for symbol in outside if not symbol.startswith("llvm."))
    return Code(needs, bytes(target_machine(target).emit_object(module)))


def optimised(text: str, target: Processor, settled: bool = False) -> Any:
    """The module behind a text, verified and optimised. Vectors are the writer's: LLVM looks for none."""
    import llvmlite.binding as llvm

    machine = target_machine(target)
    module = llvm.parse_assembly(text)
    module.triple, module.data_layout = machine.triple, str(machine.target_data)
    module.verify()
    options = llvm.create_pipeline_tuning_options(speed_level=2)
    options.loop_vectorization = options.slp_vectorization = False
    options.loop_unrolling = False
    builder = llvm.create_pass_builder(machine, options)
    passes = builder.getModulePassManager()
    if settled:
        passes = llvm.create_new_module_pass_manager()
        passes.add_sroa_pass()
        passes.add_instruction_combine_pass()
        passes.add_simplify_cfg_pass()
        passes.add_loop_rotate_pass()
        passes.add_instruction_combine_pass()
    passes.run(module, builder)
    return module


def assembly(text: str, target: Processor, settled: bool = False) -> str:
    """The assembler's words for a module, to be looked at."""
    return str(target_machine(target).emit_assembly(optimised(text, target, settled)))


@functools.cache
def target_machine(target: Processor) -> Any:
    import llvmlite.binding as llvm

    if target.triple:
        llvm.initialize_all_targets()
        llvm.initialize_all_asmprinters()
        back = llvm.Target.from_triple(target.triple)
    else:
        llvm.initialize_native_target()
        llvm.initialize_native_asmprinter()
        back = llvm.Target.from_default_triple()
    # a small code model would have constants within 2 GB of the code; in a process with much memory they are not
    return back.create_target_machine(
        cpu=target.name, features=target.features, opt=3, reloc="default", codemodel="jitdefault", jit=True
    )
