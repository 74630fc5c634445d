"""Operations on single numbers in the words of C: one table from the name of a primitive to an expression."""

from __future__ import annotations

ELEMENTWISE = {
    "add": "({0} + {1})",
    "subtract": "({0} - {1})",
    "multiply": "({0} * {1})",
    "divide": "({0} / {1})",
    "power": "pow{f}({0}, {1})",
    "maximum": "fmax{f}({0}, {1})",
    "minimum": "fmin{f}({0}, {1})",
    "clip": "fmin{f}(fmax{f}({0}, {1}), {2})",
    "negative": "(-{0})",
    "reciprocal": "({one} / {0})",
    "square": "{p}square{f}({0})",
    "sqrt": "sqrt{f}({0})",
    "cbrt": "cbrt{f}({0})",
    "fmod": "fmod{f}({0}, {1})",
    "hypot": "hypot{f}({0}, {1})",
    "exp": "exp{f}({0})",
    "exp2": "exp2{f}({0})",
    "expm1": "expm1{f}({0})",
    "log": "log{f}({0})",
    "log2": "log2{f}({0})",
    "log10": "log10{f}({0})",
    "log1p": "log1p{f}({0})",
    "sin": "sin{f}({0})",
    "cos": "cos{f}({0})",
    "tan": "tan{f}({0})",
    "arcsin": "asin{f}({0})",
    "arccos": "acos{f}({0})",
    "arctan": "atan{f}({0})",
    "arctan2": "atan2{f}({0}, {1})",
    "sinh": "sinh{f}({0})",
    "cosh": "cosh{f}({0})",
    "tanh": "tanh{f}({0})",
    "arcsinh": "asinh{f}({0})",
    "arccosh": "acosh{f}({0})",
    "arctanh": "atanh{f}({0})",
    "absolute": "fabs{f}({0})",
    "fabs": "fabs{f}({0})",
    "sign": "{p}sign{f}({0})",
    "floor": "floor{f}({0})",
    "ceil": "ceil{f}({0})",
    "rint": "rint{f}({0})",
    "trunc": "trunc{f}({0})",
    "copysign": "copysign{f}({0}, {1})",
    "heaviside": "{p}heaviside{f}({0}, {1})",
    "erf": "erf{f}({0})",
    "erfc": "erfc{f}({0})",
    "ndtr": "{p}ndtr{f}({0})",
    "expit": "{p}expit{f}({0})",
    "log_expit": "{p}log_expit{f}({0})",
    "gammaln": "lgamma{f}({0})",
    "isnan": "(isnan({0}) != 0)",
    "isinf": "(isinf({0}) != 0)",
    "isfinite": "(isfinite({0}) != 0)",
    "logical_not": "(!{0})",
    "logical_and": "({0} && {1})",
    "logical_or": "({0} || {1})",
    "greater": "({0} > {1})",
    "greater_equal": "({0} >= {1})",
    "less": "({0} < {1})",
    "less_equal": "({0} <= {1})",
    "equal": "({0} == {1})",
    "not_equal": "({0} != {1})",
    "where": "({0} ? {1} : {2})",
    "astype": "({type}){0}",
}
"""{0}, {1}, ...: the arguments; {f}: the ending of functions of floats; {p}: what our own
functions begin with; {one}: the number 1; {type}: of the result."""

LOGIC = {"bitwise_and": "({0} && {1})", "bitwise_or": "({0} || {1})", "bitwise_xor": "({0} != {1})", "invert": "(!{0})"}
"""Of truth values."""

WHOLE = {"add", "subtract", "multiply", "negative", "maximum", "minimum", "where", "astype"}
"""Those that are the same of whole numbers: up to 2^31, as doubles hold them."""

HELPERS = {
    "square": "static {T} {p}square{f}({T} x) {{ return x * x; }}",
    "sign": "static {T} {p}sign{f}({T} x) {{ return ({T})((x > 0) - (x < 0)); }}",
    "heaviside": "static {T} {p}heaviside{f}({T} x, {T} at_zero) {{ return x == 0 ? at_zero : ({T})(x > 0); }}",
    "expit": "static {T} {p}expit{f}({T} x) {{ return 1 / (1 + exp{f}(-x)); }}",
    "log_expit": "static {T} {p}log_expit{f}({T} x) {{ return fmin{f}(x, 0) - log1p{f}(exp{f}(-fabs{f}(x))); }}",
    "ndtr": "static {T} {p}ndtr{f}({T} x) {{ return ({T})0.5 * erfc{f}(-x * ({T})0.70710678118654752440); }}",
}
"""Functions that C does not have: written into the file where they are used."""

STARTS = {"sum": "0", "mean": "0", "prod": "1", "any": "0", "all": "1"}
"""What reductions begin with; the largest and the smallest begin with the first."""

STEPS = {
    "sum": "{a} += {x};",
    "mean": "{a} += {x};",
    "prod": "{a} *= {x};",
    "any": "{a} = {a} || {x};",
    "all": "{a} = {a} && {x};",
    "max": "{a} = fmax{f}({a}, {x});",
    "min": "{a} = fmin{f}({a}, {x});",
}
