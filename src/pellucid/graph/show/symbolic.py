"""A graph as a SymPy expression: symbolic derivatives, to compare with (extra `symbolic`)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pellucid.errors import ShapeError, UnsupportedError
from pellucid.graph.node import Literal
from pellucid.graph.show.names import free_letter

if TYPE_CHECKING:
    from pellucid.graph.graph import Graph

_ARITHMETIC = {
    "add": lambda a, b: a + b,
    "subtract": lambda a, b: a - b,
    "multiply": lambda a, b: a * b,
    "divide": lambda a, b: a / b,
    "power": lambda a, b: a**b,
    "negative": lambda x: -x,
    "positive": lambda x: x,
    "square": lambda x: x**2,
    "reciprocal": lambda x: 1 / x,
    "stop_gradient": lambda x: x,
}
_SYMPY = {
    **{
        name: name
        for name in (
            "exp",
            "log",
            "sqrt",
            "cbrt",
            "sin",
            "cos",
            "tan",
            "sinh",
            "cosh",
            "tanh",
            "erf",
            "erfc",
            "sign",
        )
    },
    "arcsin": "asin",
    "arccos": "acos",
    "arctan": "atan",
    "arcsinh": "asinh",
    "arccosh": "acosh",
    "arctanh": "atanh",
    "absolute": "Abs",
    "fabs": "Abs",
    "maximum": "Max",
    "minimum": "Min",
    "floor": "floor",
    "ceil": "ceiling",
    "gammaln": "loggamma",
    "psi": "digamma",
    "arctan2": "atan2",
}


def to_sympy(graph: Graph, symbols: tuple[Any, ...] = ()) -> Any:
    """The outputs of a scalar graph in terms of symbols (given, or named as the inputs are)."""
    try:
        import sympy
    except ImportError as error:
        raise ImportError("Graph.sympy needs SymPy: pip install 'pellucid[symbolic]'") from error
    if any(node.shape for node in graph.nodes):
        raise ShapeError(
            "Graph.sympy takes scalar functions; this graph has arrays. Write one argument for each number"
        )
    formulas = {
        **_ARITHMETIC,
        **{name: getattr(sympy, there) for name, there in _SYMPY.items()},
        "expm1": lambda x: sympy.exp(x) - 1,
        "log1p": lambda x: sympy.log(1 + x),
        "expit": lambda x: 1 / (1 + sympy.exp(-x)),
    }
    values: list[Any] = []
    taken = {str(symbol) for symbol in symbols}

    def argument(a: int | Literal) -> Any:
        return sympy.nsimplify(a.value) if isinstance(a, Literal) else values[a]

    for i, node in enumerate(graph.nodes):
        if node.op is None:
            own = free_letter([node.name], lambda name: [name], taken)  # the same name would be the same symbol
            values.append(symbols[i] if i < len(symbols) else sympy.Symbol(own, real=True))
        elif node.op.name in formulas:
            values.append(formulas[node.op.name](*(argument(a) for a in node.args)))
        else:
            raise UnsupportedError(
                f"the operation {node.op.name!r} has no SymPy form here; there are {', '.join(sorted(formulas))}"
            )
    results = tuple(argument(out) for out in graph.outputs)
    return results[0] if len(results) == 1 else results
