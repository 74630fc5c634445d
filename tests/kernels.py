"""Small kernels for tests of what surrounds them."""

from pellucid.engine.native.code.builtin_kernels import builtin
from pellucid.engine.native.code.llvm.code import INT32
from pellucid.engine.native.code.llvm.module import Kernel


def plus(number: int) -> Kernel:
    """A kernel that gives the first word of its table and a number more."""
    return builtin(f"plus {number}, for a test", "x", lambda code, w: (w.x + number).astype(INT32))
