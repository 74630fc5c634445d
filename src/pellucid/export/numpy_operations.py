"""Operations in the words of NumPy: from the name of a primitive to a line of a script."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from pellucid.graph.primitives.indexing import SLOT
from pellucid.graph.show import notation

INFIX = {name: sign for name, (sign, _) in notation.INFIX.items() if not name.startswith("logical")}
"""Operators of Python; `and` and `or` are none of arrays."""

FUNCTIONS = (
    *("negative", "reciprocal", "square", "sqrt", "cbrt", "fmod", "hypot", "exp", "exp2", "expm1", "log", "log2"),
    *("log10", "log1p", "logaddexp", "sin", "cos", "tan", "arcsin", "arccos", "arctan", "arctan2", "sinh", "cosh"),
    *("tanh", "arcsinh", "arccosh", "arctanh", "absolute", "fabs", "maximum", "minimum", "clip", "sign", "floor"),
    *("ceil", "rint", "trunc", "isnan", "isinf", "isfinite", "logical_not", "invert", "logical_and", "logical_or"),
    *("logical_xor", "bitwise_xor", "copysign", "heaviside", "where"),
)
"""Functions of NumPy under their own names, of arrays alone."""

REDUCTIONS = ("sum", "mean", "max", "min", "prod", "any", "all")

HELPERS = {
    "expit": """def expit(x):
    small = np.exp(-np.abs(x))
    return np.where(x >= 0, 1 / (1 + small), small / (1 + small))""",
    "log_expit": """def log_expit(x):
    return np.minimum(x, 0) - np.log1p(np.exp(-np.abs(x)))""",
    "erf": """def erf(x):
    return np.vectorize(math.erf, otypes=[np.float64])(x).astype(x.dtype)""",
    "erfc": """def erfc(x):
    return np.vectorize(math.erfc, otypes=[np.float64])(x).astype(x.dtype)""",
    "ndtr": """def ndtr(x):
    below = np.vectorize(lambda one: 0.5 * math.erfc(-one / math.sqrt(2.0)), otypes=[np.float64])
    return below(x).astype(x.dtype)""",
    "gammaln": """def gammaln(x):
    return np.vectorize(math.lgamma, otypes=[np.float64])(x).astype(x.dtype)""",
    "logit": """def logit(x):
    return np.log(x) - np.log1p(-x)""",
    "logsumexp": """def logsumexp(x, axis, keepdims):
    top = np.max(x, axis=axis, keepdims=True)
    total = np.log(np.sum(np.exp(x - top), axis=axis, keepdims=True)) + top
    return total if keepdims else np.squeeze(total, axis)""",
    "one_hot": """def one_hot(labels, classes, dtype):
    return (labels[..., None] == np.arange(classes)).astype(dtype)""",
}
"""What NumPy alone does not have, as the script defines it."""

SHAPES = {
    "reshape": "np.reshape({0}, {shape})",
    "transpose": "np.transpose({0}, {axes})",
    "broadcast_to": "np.broadcast_to({0}, {shape})",
    "flip": "np.flip({0}, {axis})",
    "pad": "np.pad({0}, {width})",
    "full_like": "np.full_like({0}, {1}, dtype={dtype})",
    "astype": "{0}.astype({dtype})",
    "argmax": "np.argmax({0}, axis={axis})",
    "argmin": "np.argmin({0}, axis={axis})",
    "argsort": "np.argsort({0}, axis={axis}, kind='stable')",
    "reorder": "np.take_along_axis({0}, {1}, axis={axis})",
    "cumsum": "np.cumsum({0}, axis={axis})",
    "logsumexp": "logsumexp({0}, {axis}, {keepdims})",
    "one_hot": "one_hot({0}, {classes}, {dtype})",
}

OPERATIONS = frozenset({*INFIX, *FUNCTIONS, *REDUCTIONS, *HELPERS, *SHAPES, "concatenate", "einsum", "getitem"})
"""All that scripts, and JSON, have words for."""


def line(name: str, args: list[str], settings: Mapping[str, Any]) -> str:
    """What computes an operation.

    >>> line("sum", ["v1"], {"axis": (1,), "keepdims": True})
    'np.sum(v1, axis=(1,), keepdims=True)'
    """
    listed = ", ".join(args)
    if name in INFIX:
        return f"{args[0]} {INFIX[name]} {args[1]}"
    if name in REDUCTIONS:
        return f"np.{name}({listed}, axis={settings['axis']}, keepdims={settings['keepdims']})"
    if name in SHAPES:
        return SHAPES[name].format(*args, **{key: shown(value) for key, value in settings.items()})
    if name == "concatenate":
        return f"np.concatenate(({listed}), axis={settings['axis']})"
    if name == "einsum":
        return f"np.einsum({settings['subscripts']!r}, {listed})"
    if name == "getitem":
        arrays = iter(args[1:])
        return f"{args[0]}[{', '.join(_part(part, arrays) for part in settings['spec'])}]"
    return f"{name}({listed})" if name in HELPERS else f"np.{name}({listed})"


def shown(setting: Any) -> str:
    """A setting as Python; open sizes by their names."""
    if isinstance(setting, np.dtype | type):
        return f"np.{np.dtype(setting).name}" if np.dtype(setting) != np.bool_ else "bool"
    if isinstance(setting, tuple):
        return f"({', '.join(map(shown, setting))}{',' if len(setting) == 1 else ''})"
    return str(setting)


def _part(part: Any, arrays: Any) -> str:
    if part is SLOT:
        return str(next(arrays))
    if part is Ellipsis:
        return "..."
    if isinstance(part, slice):
        ends = ["" if end is None else str(end) for end in (part.start, part.stop)]
        return ":".join(ends if part.step is None else [*ends, str(part.step)])
    return str(part)
