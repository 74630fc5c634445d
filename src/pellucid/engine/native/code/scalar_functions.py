"""What a processor does not compute in a vector: division with a rest, powers, the C library's functions and SciPy's,
sums that do not end by count. Division is NumPy's: rounded down, and 0 for a division of whole numbers by 0.
"""

from __future__ import annotations

from collections.abc import Callable

from pellucid.engine.native.code.llvm.code import BOOL, FLOAT64, INT64, Code, Lanes
from pellucid.engine.native.code.vectormath.operations import select

INFINITY, NAN = float("inf"), float("nan")
TINY = 2.0**-53


def compiled(symbol: str, *xs: Lanes) -> Lanes:
    """A function that the loader finds, number by number in float64, in the dtype of its operands."""
    return _called(symbol, *(x.astype(FLOAT64) for x in xs)).astype(xs[0].dtype)


def _called(name: str, *xs: Lanes) -> Lanes:
    """A function of numbers of one dtype, for every lane."""
    code, dtype, lanes = xs[0].code, xs[0].dtype, max(x.lanes for x in xs)
    return code.one_by_one(lambda *each: code.by_name(name, dtype, *each), *(x.spread(lanes) for x in xs))


def _called_here(name: str, body: Callable[[Code], Lanes], *xs: Lanes) -> Lanes:
    """... that is written in the module, once."""
    outer, dtype = xs[0].code, xs[0].dtype
    if name not in outer.text.functions:
        code = Code(outer.text, name, outer.processor, [dtype] * len(xs), dtype, internal=True)
        code.finish(body(code))
    return _called(name, *xs)


# division


def fmod(x: Lanes, y: Lanes) -> Lanes:
    """With the sign of the dividend."""
    return compiled("fmod", x, y) if x.dtype.kind == "f" else (y == 0).select(0, x.rest(_divisor(y)))


def remainder(x: Lanes, y: Lanes) -> Lanes:
    """With the sign of the divisor, exact also where x / y is large."""
    rest = fmod(x, y)
    return _is_below(rest, y).select(rest + y, rest)


def floor_divide(x: Lanes, y: Lanes) -> Lanes:
    """By way of the remainder, so that -1 // inf is -1."""
    rest = fmod(x, y)
    if x.dtype.kind == "f":
        share = (x - rest) / y
        share = _is_below(rest, y).select(share - 1, share)
        return (y == 0).select(x / y, x.code.of_processor("rint", share))
    share = x.quotient(_divisor(y))
    share = _is_below(rest, y).select(share - 1, share)
    if x.dtype.kind == "i":
        share = (y == -1).select(-x, share)
    return (y == 0).select(0, share)


def reciprocal(x: Lanes) -> Lanes:
    """Of whole numbers."""
    return floor_divide(x.code.constant(1, x.dtype).spread(x.lanes), x)


def _is_below(rest: Lanes, y: Lanes) -> Lanes:
    """Is there a rest on the other side of 0 than the divisor?"""
    if rest.dtype.kind == "u":
        return rest.code.constant(False, BOOL)
    return (rest != 0) & ((rest < 0) != (y < 0))


def _divisor(y: Lanes) -> Lanes:
    """1 in the place of 0 and -1: the processor could not divide by them."""
    return ((y == 0) | (y == -1) if y.dtype.kind == "i" else y == 0).select(1, y)


# powers and sums


def power(x: Lanes, p: Lanes) -> Lanes:
    """Of whole numbers, by squares; a negative exponent counts as 0."""
    return _called_here("pellucid.power", _power, x.astype(INT64), p.astype(INT64)).astype(x.dtype)


def _power(code: Code) -> Lanes:
    square, rest = code.variable(INT64, code.arguments[0]), code.variable(INT64, code.arguments[1])
    product = code.variable(INT64, 1)
    with code.repeat(lambda: rest.get() > 0):
        product.set(product.get() * select((rest.get() & 1) != 0, square.get(), code.constant(1)))
        square.set(square.get() * square.get())
        rest.set(rest.get() >> 1)
    return product.get()


def hurwitz_zeta(x: Lanes, q: Lanes) -> Lanes:
    """sum (q + k)^-x over k >= 0"""
    return _called_here("pellucid.zeta", _zeta, x, q)


BERNOULLI = (
    *(12.0, -720.0, 30240.0, -1209600.0, 47900160.0, -1.8924375803183791606e9, 7.47242496e10),
    *(-2.950130727918164224e12, 1.1646782814350067249e14, -4.5979787224074726105e15),
    *(1.8152105401943546773e17, -7.1661652561756670113e18),
)
"""(2k)! / B_2k"""


def _zeta(code: Code) -> Lanes:
    """By the Euler-Maclaurin formula (as in Cephes; SciPy exports no address of it)."""
    x, q = code.arguments
    with code.when((x != x) | (q != q) | (x < 1)):
        code.leave(NAN)
    with code.when(x == 1):
        code.leave(INFINITY)
    with code.when(q <= 0):
        with code.when(q == code.of_processor("floor", q)):
            code.leave(INFINITY)
        with code.when(x != code.of_processor("floor", x)):
            code.leave(NAN)
    with code.when(q > 1e8):
        code.leave((1 / (x - 1) + 1 / (2 * q)) * compiled("pow", q, 1 - x))
    total, a = code.variable(FLOAT64, compiled("pow", q, -x)), code.variable(FLOAT64, q)
    term, count = code.variable(FLOAT64, 0.0), code.variable(FLOAT64, 0.0)
    with code.repeat(lambda: (count.get() < 9) | (a.get() <= 9)):
        count.set(count.get() + 1)
        a.set(a.get() + 1)
        term.set(compiled("pow", a.get(), -x))
        total.set(total.get() + term.get())
        with code.when(abs(term.get() / total.get()) < TINY):
            code.leave(total.get())
    total.set(total.get() + (term.get() * a.get() / (x - 1) - 0.5 * term.get()))
    factor, k = code.constant(1.0, FLOAT64), 0
    for number in BERNOULLI:
        factor = factor * (x + k)
        term.set(term.get() / a.get())
        step = factor * term.get() / number
        total.set(total.get() + step)
        with code.when(abs(step / total.get()) < TINY):
            code.leave(total.get())
        factor = factor * (x + (k + 1))
        term.set(term.get() / a.get())
        k += 2
    return total.get()
