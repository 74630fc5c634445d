"""Elementary functions that a compiled loop can run 16 numbers at a time.

Numba's own `exp`, `tanh`, ... are scalar calls. These are branch-free polynomials that LLVM inlines into the loop
around them and vectorises. FLOAT32 and FLOAT64 say, for a primitive's name, in which module the function is and what it
is called there. Importing this package does not import Numba; importing one of the modules does.

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

_HERE = "pellucid.engine.native.vectormath"
_MODULES = {
    "float32": "exp exp2 expm1 tanh sinh cosh expit arctan erf",
    "float32_logs": "log log2 log10 log1p log_expit",
    "float32_wide": "sin cos tan erfc ndtr cbrt",
    "float64": "exp exp2 expm1 tanh sinh cosh expit",
    "float64_logs": "log log2 log10 log1p log_expit cbrt",
    "float64_angles": "sin cos tan arctan",
    "float64_gauss": "erf erfc ndtr",
}


def _table(kind: str) -> dict[str, tuple[str, str]]:
    """Primitive -> (module, function): "tanh" -> tanh32, and "exp2" -> exp2_32, for a name that ends in a digit."""
    return {
        name: (f"{_HERE}.{module}", f"{name}{'_' if name[-1].isdigit() else ''}{kind[-2:]}")
        for module, names in _MODULES.items()
        if module.startswith(kind)
        for name in names.split()
    }


FLOAT32: dict[str, tuple[str, str]] = _table("float32")
FLOAT64: dict[str, tuple[str, str]] = _table("float64")

__all__ = ["FLOAT32", "FLOAT64"]
