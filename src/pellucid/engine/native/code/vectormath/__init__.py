"""Elementary functions that a compiled loop computes for a whole vector at a time.

The functions of the C library take one number. These are polynomials without branches, written once as formulas that
either compute (arrays of NumPy: the reference in tests) or write instructions into the loop around them. FLOAT32 and
FLOAT64 have them by the primitive's name.

Largest error, in units of the last place, from the exact result (for float32: from the exact result rounded), over all
numbers, subnormal results included, with and without fused multiply-add:

| function                                    | float32 | float64 |
| ------------------------------------------- | ------- | ------- |
| exp, exp2, log, log2, log1p, tanh, cbrt     | 1       | 2       |
| log10, expm1, sinh, cosh, arctan, erf       | 2       | 2       |
| expit, log_expit                            | 2       | 2.5     |
| sin, cos, for abs(x) <= 2^30; NaN beyond    | 2       | 2.5     |
| tan, for abs(x) <= 2^30; NaN beyond         | 1       | 4       |
| erfc, ndtr, tails included                  | 1       | 5       |

NaN gives NaN, and infinities, poles and numbers outside the domain give what NumPy gives; the sign of a zero is not
kept. log_expit(x) = log(1 / (1 + exp(-x))), which is -softplus(-x).
"""

from collections.abc import Callable
from types import ModuleType

from pellucid.engine.native.code.vectormath import (
    float32,
    float32_logs,
    float32_wide,
    float64,
    float64_angles,
    float64_gauss,
    float64_logs,
)
from pellucid.engine.native.code.vectormath.operations import Number


def _table(ending: str, names: dict[ModuleType, str]) -> dict[str, Callable[[Number], Number]]:
    """Primitive -> function: "tanh" -> tanh32, and "exp2" -> exp2_32, for a name that ends in a digit."""
    return {
        name: getattr(module, f"{name}{'_' if name[-1].isdigit() else ''}{ending}")
        for module, listed in names.items()
        for name in listed.split()
    }


FLOAT32 = _table(
    "32",
    {
        float32: "exp exp2 expm1 tanh sinh cosh expit arctan erf",
        float32_logs: "log log2 log10 log1p log_expit",
        float32_wide: "sin cos tan erfc ndtr cbrt",
    },
)
FLOAT64 = _table(
    "64",
    {
        float64: "exp exp2 expm1 tanh sinh cosh expit",
        float64_logs: "log log2 log10 log1p log_expit cbrt",
        float64_angles: "sin cos tan arctan",
        float64_gauss: "erf erfc ndtr",
    },
)

__all__ = ["FLOAT32", "FLOAT64"]
