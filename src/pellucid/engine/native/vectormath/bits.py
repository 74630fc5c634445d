"""What the elementary functions need and Python does not have: the bits of a float, integers that keep their width
(Numba widens int32 to int64, which halves the lanes of a vector), and Horner's rule written out for a table.
"""

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba
import numpy as np
from numba.core import types
from numba.extending import intrinsic

# Every function is inlined into the kernel that calls it, so that the loop there becomes one vector loop.
# No "reassoc": it would cancel (x + BIG) - BIG and every compensation. No "arcp": 1/x from an estimate is 2 ulp off.
elementary = numba.njit(forceinline=True, error_model="numpy", fastmath={"nsz", "contract"})

_T = TypeVar("_T")


def _reinterpret(source: types.Type, target: types.Type) -> Callable[..., Any]:
    def typing(typingctx: Any, value: Any) -> Any:
        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            return builder.bitcast(args[0], context.get_value_type(target))

        return target(source), codegen

    return typing


def _integer_operation(name: str) -> Callable[..., Any]:
    def typing(typingctx: Any, a: Any, b: Any) -> Any:
        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            return getattr(builder, name)(*args)

        return a(a, a), codegen

    return typing


def _horner(typingctx: Any, x: Any, coefficients: Any) -> Any:
    """coefficients[0] + x (coefficients[1] + x (...)), all in the type of x."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        *rest, total = (builder.extract_value(args[1], i) for i in range(len(coefficients)))
        for c in reversed(rest):
            total = builder.fadd(builder.fmul(total, args[0], flags=("contract",)), c, flags=("contract",))
        return total

    return x(x, coefficients), codegen


float32_bits: Callable[[np.float32], int] = intrinsic(_reinterpret(types.float32, types.int32))
float64_bits: Callable[[float], int] = intrinsic(_reinterpret(types.float64, types.int64))
bits_float32: Callable[[int | np.int32], np.float32] = intrinsic(_reinterpret(types.int32, types.float32))
bits_float64: Callable[[int], float] = intrinsic(_reinterpret(types.int64, types.float64))
# the result, and the second operand, have the width of the first
int_add: Callable[[int, int], int] = intrinsic(_integer_operation("add"))
int_subtract: Callable[[int | np.int32, int], int] = intrinsic(_integer_operation("sub"))
int_and: Callable[[int, int], int] = intrinsic(_integer_operation("and_"))
int_or: Callable[[int, int], int] = intrinsic(_integer_operation("or_"))
int_xor: Callable[[int, int], int] = intrinsic(_integer_operation("xor"))
shift_left: Callable[[int, int], int] = intrinsic(_integer_operation("shl"))
shift_right: Callable[[int, int], int] = intrinsic(_integer_operation("lshr"))  # zeros come in from the left
horner: Callable[[_T, tuple[_T, ...]], _T] = intrinsic(cast(Any, _horner))
