"""Elementary functions that a compiled loop computes for a whole vector at a time.

The functions of the C library take one number. These are polynomials without branches, written once as formulas that
either compute (arrays of NumPy: the reference in tests) or write instructions into the loop around them. FUNCTIONS has
them by the primitive's name, for float32 and float64.

Largest error, in units of the last place, from the exact result (for float32: from the exact result rounded), over all
numbers, subnormal results included, with and without fused multiply-add:

| function                                    | float32 | float64 |
| ------------------------------------------- | ------- | ------- |
| exp, exp2, log, log2, log1p, tanh, cbrt     | 1       | 2       |
| log10, expm1, sinh, cosh, arctan, erf       | 2       | 2       |
| expit, log_expit                            | 2       | 2.5     |
| sin, cos, for abs(x) <= 2^30; NaN beyond    | 2       | 2.5     |
| tan, for abs(x) <= 2^30; NaN beyond         | 1       | 4       |
| erfc, tails included                        | 1       | 5       |
| ndtr, tails included                        | 2       | 5       |

NaN gives NaN, and infinities, poles and numbers outside the domain give what NumPy gives; the sign of a zero is not
kept. log_expit(x) = log(1 / (1 + exp(-x))), which is -softplus(-x).
"""

from pellucid.engine.native.code.vectormath import angles, exponentials, gauss, logarithms
from pellucid.engine.native.code.vectormath.precision import FUNCTIONS

__all__ = ["FUNCTIONS", "angles", "exponentials", "gauss", "logarithms"]
