"""Four ways to a derivative: by hand, symbolic, numerical, automatic (lecture 004), and what is wrong with three.

The example is the logistic map:  l_1 = x,  l_{n+1} = 4 l_n (1 - l_n).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pellucid.autodiff import grad, jvp, numerical_grad
from pellucid.graph import record
from pellucid.lab.costs import evaluated, text_table
from pellucid.markup import Brief


def logistic_map(n: int) -> Callable[[Any], Any]:
    """The function l_n: x, and n - 1 times 4 l (1 - l).

    Parameters
    ----------
    n : int
        from 1

    Returns
    -------
    Callable
        of a number or array

    Examples
    --------
    >>> round(logistic_map(4)(0.1), 8)
    0.28901376
    """
    if n < 1:
        raise ValueError(f"logistic_map starts with l_1 = x: n is at least 1, got {n}")

    def l(x: Any) -> Any:  # noqa: E743  # the lecture's name
        for _ in range(n - 1):
            x = 4 * x * (1 - x)
        return x

    return l


def slope_by_hand(n: int) -> Callable[[Any], Any]:
    """The derivative of l_n as a person writes it: for n = 4 the lecture's formula, else the chain rule's product.

    >>> round(slope_by_hand(4)(0.1), 7)
    -12.0881152
    """

    def product(x: Any) -> Any:
        slope = 1.0
        for _ in range(n - 1):
            slope = slope * 4 * (1 - 2 * x)
            x = 4 * x * (1 - x)
        return slope

    def printed(x: Any) -> Any:
        return (
            128 * x * (1 - x) * (-8 + 16 * x) * (1 - 2 * x) ** 2 * (1 - 8 * x + 8 * x**2)
            + 64 * (1 - x) * (1 - 2 * x) ** 2 * (1 - 8 * x + 8 * x**2) ** 2
            - 64 * x * (1 - 2 * x) ** 2 * (1 - 8 * x + 8 * x**2) ** 2
            - 256 * x * (1 - x) * (1 - 2 * x) * (1 - 8 * x + 8 * x**2) ** 2
        )

    return printed if n == 4 else product


@dataclass(frozen=True)
class Way:
    """One way to the derivative: its value, how far off it is, and the arithmetic operations it took."""

    name: str
    value: float
    error: float
    operations: int


@dataclass(frozen=True, repr=False)
class FourWays(Brief):
    """The derivative of l_n at x in every way. `exact` is a ratio of integers, rounded once."""

    n: int
    x: float
    exact: float
    ways: tuple[Way, ...]

    def __getitem__(self, name: str) -> Way:
        return next(way for way in self.ways if way.name == name)

    def table(self) -> str:
        rounding = 64 * np.finfo(float).eps * abs(self.exact)
        errors = [f"{way.error:.1e}" if way.error > rounding else "rounding" for way in self.ways]
        rows = [[w.name, f"{w.value:.10f}", error, w.operations] for w, error in zip(self.ways, errors, strict=True)]
        return text_table([f"l_{self.n}'({self.x:g})", "value", "error", "operations"], rows)

    __str__ = table


def four_ways(n: int = 4, x: float = 0.1) -> FourWays:
    """The derivative of l_n at x by hand, symbolic, numerical and automatic (needs the extra `symbolic`).

    The error is taken against SymPy's exact arithmetic at the very floating-point number x. Every way is counted
    by the same measure, arithmetic operations of the recorded program (finding a formula is not counted).

    Parameters
    ----------
    n : int
        of the logistic map l_n
    x : float
        where

    Returns
    -------
    FourWays
        print it

    Examples
    --------
    >>> ways = four_ways()
    >>> round(ways.exact, 7), round(ways["automatic, reverse"].value, 7)
    (-12.0881152, -12.0881152)
    """
    sympy = _sympy()
    f, point = logistic_map(n), np.float64(x)
    symbol = sympy.Symbol("x")
    formula = sympy.diff(record(f, point).sympy(symbol), symbol)
    exact = formula.subs(symbol, sympy.Rational(float(x)))
    calls = 0

    def counting_f(x: Any) -> Any:
        nonlocal calls
        calls += 1
        return f(x)

    ways = []

    def add(name: str, value: Any, operations: int) -> None:
        ways.append(Way(name, float(value), float(abs(sympy.Rational(float(value)) - exact)), operations))

    for name, slope in (("by hand", slope_by_hand(n)), ("symbolic", sympy.lambdify(symbol, formula, "numpy"))):
        add(name, slope(point), evaluated(record(slope, point), point))
    for scheme in ("forward", "central"):
        calls = 0
        difference = numerical_grad(counting_f, point, scheme=scheme)
        add(f"numerical, {scheme}", difference, calls * evaluated(record(f, point), point) + 2)  # one -, one /
    tangent: Callable[[Any], Any] = lambda x: jvp(f, (x,), (1.0,))[1]
    for mode, automatic in (("forward", tangent), ("reverse", grad(f))):
        add(f"automatic, {mode}", automatic(point), evaluated(record(automatic, point), point))
    return FourWays(n, float(x), float(exact), tuple(ways))


@dataclass(frozen=True)
class LectureForm:
    """A line of the lecture's table: l_n and its derivative as printed, and whether SymPy agrees with both."""

    n: int
    function: str
    derivative: str
    agrees: bool


PRINTED = (
    ("x", "1"),
    ("4*x*(1-x)", "4*(1-x) - 4*x"),
    ("16*x*(1-x)*(1-2*x)**2", "16*(1-x)*(1-2*x)**2 - 16*x*(1-2*x)**2 - 64*x*(1-x)*(1-2*x)"),
    (
        "64*x*(1-x)*(1-2*x)**2*(1-8*x+8*x**2)**2",
        "128*x*(1-x)*(-8+16*x)*(1-2*x)**2*(1-8*x+8*x**2) + 64*(1-x)*(1-2*x)**2*(1-8*x+8*x**2)**2"
        " - 64*x*(1-2*x)**2*(1-8*x+8*x**2)**2 - 256*x*(1-x)*(1-2*x)*(1-8*x+8*x**2)**2",
    ),
)
"""The lecture's l_1 ... l_4 and derivatives."""


def lecture_forms() -> tuple[LectureForm, ...]:
    """The lecture's table of l_1 ... l_4, each line checked by SymPy against the recorded function.

    Examples
    --------
    >>> [form.agrees for form in lecture_forms()]
    [True, True, True, True]
    """
    sympy = _sympy()
    x = sympy.Symbol("x")
    forms = []
    for n, (function, derivative) in enumerate(PRINTED, start=1):
        true = record(logistic_map(n), 0.1).sympy(x)
        pairs = ((function, true), (derivative, sympy.diff(true, x)))
        agrees = all(sympy.expand(sympy.sympify(text, {"x": x}) - e) == 0 for text, e in pairs)
        forms.append(LectureForm(n, function, derivative, agrees))
    return tuple(forms)


@dataclass(frozen=True, repr=False)
class Swell(Brief):
    """For each n: operations in the formulas of l_n and l_n', and nodes of the graph that reverse mode makes."""

    n: tuple[int, ...]
    function: tuple[int, ...]
    derivative: tuple[int, ...]
    expanded: tuple[int, ...]  # the derivative multiplied out to a polynomial
    graph: tuple[int, ...]

    def table(self) -> str:
        columns = zip(self.n, self.function, self.derivative, self.expanded, self.graph, strict=True)
        return text_table(["n", "l_n", "l_n'", "l_n' expanded", "graph of l_n'"], [list(row) for row in columns])

    __str__ = table


def expression_swell(n_max: int = 8) -> Swell:
    """How large the symbolic derivative of l_n grows, and how large the graph of the automatic one.

    Parameters
    ----------
    n_max : int
        the last n

    Returns
    -------
    Swell
        print it

    Examples
    --------
    >>> print(expression_swell(4))
    n  l_n  l_n'  l_n' expanded  graph of l_n'
    ──────────────────────────────────────────
    1    0     0              0              1
    2    3     2              2              8
    3    8    21              8             16
    4   18    82             20             24
    """
    sympy = _sympy()
    x = sympy.Symbol("x")
    rows = []
    for n in range(1, n_max + 1):
        f = logistic_map(n)
        graph = record(f, 0.1)
        formula = graph.sympy(x)
        polynomial = graph.sympy(sympy.Poly(x)).diff().as_expr()  # the same program on polynomials
        sizes = [int(sympy.count_ops(e)) for e in (formula, sympy.diff(formula, x), polynomial)]
        rows.append((n, *sizes, len(record(grad(f), 0.1).simplify())))
    return Swell(*zip(*rows, strict=True))


@dataclass(frozen=True, eq=False, repr=False)
class DifferenceErrors(Brief):
    """Errors of difference quotients for each step h, the slopes of error against h, and the best steps."""

    h: NDArray[np.float64]
    forward: NDArray[np.float64]
    central: NDArray[np.float64]
    forward_slope: float
    central_slope: float
    forward_best: float
    central_best: float

    def table(self) -> str:
        eps = float(np.finfo(float).eps)
        rows = [
            ["forward", f"{self.forward_slope:.2f}", f"{self.forward_best:.1e}", f"eps^(1/2) = {eps ** (1 / 2):.1e}"],
            ["central", f"{self.central_slope:.2f}", f"{self.central_best:.1e}", f"eps^(1/3) = {eps ** (1 / 3):.1e}"],
        ]
        return text_table(["scheme", "error ~ h^", "best h", "rule of thumb"], rows)

    __str__ = table


def difference_errors(
    f: Callable[[Any], Any], x: float, *, exact: float | None = None, hs: Sequence[float] | None = None
) -> DifferenceErrors:
    """The error of forward and central differences of f at x, over the step.

    Where rounding rules the errors jump about, so the best step is the one with the smallest mean error over its 8
    neighbours. The slope is fitted where h <= 0.01 and the error stands far above rounding (NaN where there is no
    such error: central differences are exact for a parabola).

    Parameters
    ----------
    f : Callable[[Any], Any]
        of a number
    x : float
        where
    exact : float | None
        the derivative; by default the automatic one
    hs : Sequence[float] | None
        the steps; by default 8 a decade from 1 down to 1e-15

    Returns
    -------
    DifferenceErrors
        print it

    Examples
    --------
    >>> print(difference_errors(lambda x: 1 / (1 + x * x), 0.7))
    scheme   error ~ h^   best h  rule of thumb
    ─────────────────────────────────────────────────
    forward        1.00  1.3e-08  eps^(1/2) = 1.5e-08
    central        2.00  3.2e-06  eps^(1/3) = 6.1e-06
    """
    point = np.float64(x)
    true = float(grad(f)(point)) if exact is None else exact
    steps = np.asarray(np.logspace(0, -15, 121) if hs is None else hs, dtype=np.float64)
    rounding = np.finfo(float).eps * abs(float(f(point))) / steps
    schemes: list[tuple[NDArray[np.float64], float, float]] = []
    for scheme in ("forward", "central"):
        errors = np.array([abs(float(numerical_grad(f, point, h=float(h), scheme=scheme)) - true) for h in steps])
        around = np.convolve(np.pad(errors, 4, mode="edge"), np.ones(9), "valid")
        region = (steps <= 0.01) & (errors > 100 * rounding)
        line = np.polyfit(np.log(steps[region]), np.log(errors[region]), 1) if region.sum() > 2 else [np.nan]
        schemes.append((errors, float(line[0]), float(steps[int(np.argmin(around))])))
    (forward, forward_slope, forward_best), (central, central_slope, central_best) = schemes
    return DifferenceErrors(steps, forward, central, forward_slope, central_slope, forward_best, central_best)


def _sympy() -> Any:
    try:
        import sympy
    except ImportError as error:
        raise ImportError("symbolic derivatives need SymPy: pip install 'pellucid[symbolic]'") from error
    return sympy
