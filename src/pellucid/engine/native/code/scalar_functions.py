"""Functions of single numbers, in float64: the C library's, SciPy's, and sums that do not end by count."""

from __future__ import annotations

from pellucid.engine.native.code.llvm.code import Code
from pellucid.engine.native.code.llvm.lanes import FLOAT64, Lanes

INFINITY, NAN = float("inf"), float("nan")
TINY = 2.0**-53


def compiled(symbol: str, *xs: Lanes) -> Lanes:
    """A function that the loader finds, number by number, in the dtype of its operands."""
    code, dtype = xs[0].code, xs[0].dtype
    lanes = max(x.lanes for x in xs)
    wide = [x.astype(FLOAT64).spread(lanes) for x in xs]
    return code.one_by_one(lambda *each: code.by_name(symbol, FLOAT64, *each), *wide).astype(dtype)


def remainder(x: Lanes, y: Lanes) -> Lanes:
    """With the sign of y, exact also where x / y is large."""
    rest = compiled("fmod", x, y)
    return ((rest != 0) & ((rest < 0) != (y < 0))).select(rest + y, rest)


def floor_divide(x: Lanes, y: Lanes) -> Lanes:
    """As in NumPy: by way of the remainder, so that -1 // inf is -1."""
    rest = compiled("fmod", x, y)
    share = (x - rest) / y
    share = ((rest != 0) & ((rest < 0) != (y < 0))).select(share - 1, share)
    return (y == 0).select(x / y, x.code.of_processor("rint", share))


def hurwitz_zeta(x: Lanes, q: Lanes) -> Lanes:
    """sum (q + k)^-x over k >= 0"""
    code, lanes = x.code, max(x.lanes, q.lanes)
    return code.one_by_one(lambda *each: code.by_name(_zeta(code), FLOAT64, *each), x.spread(lanes), q.spread(lanes))


BERNOULLI = (
    *(12.0, -720.0, 30240.0, -1209600.0, 47900160.0, -1.8924375803183791606e9, 7.47242496e10),
    *(-2.950130727918164224e12, 1.1646782814350067249e14, -4.5979787224074726105e15),
    *(1.8152105401943546773e17, -7.1661652561756670113e18),
)
"""(2k)! / B_2k"""


def _zeta(outer: Code) -> str:
    """By the Euler-Maclaurin formula (as in Cephes; SciPy exports no address of it), in the module once."""
    name = "pellucid.zeta"
    if name in outer.text.functions:
        return name
    code = Code(outer.text, name, outer.processor, (FLOAT64, FLOAT64), FLOAT64, internal=True)
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
    code.finish(total.get())
    return name
