"""Division and powers of whole numbers, as NumPy has them: rounded down, and 0 for a division by 0."""

from __future__ import annotations

from pellucid.engine.native.code.llvm.code import Code
from pellucid.engine.native.code.llvm.lanes import INT64, Lanes
from pellucid.engine.native.code.vectormath.operations import select


def divide(x: Lanes, y: Lanes) -> Lanes:
    """Rounded down."""
    share, rest = _parts(x, y)
    if x.dtype.kind == "i":
        below = (rest != 0) & ((rest < 0) != (y < 0))
        share = (y == -1).select(-x, below.select(share - 1, share))
    return (y == 0).select(0, share)


def remainder(x: Lanes, y: Lanes) -> Lanes:
    """With the sign of the divisor."""
    _, rest = _parts(x, y)
    if x.dtype.kind == "i":
        rest = ((rest != 0) & ((rest < 0) != (y < 0))).select(rest + y, rest)
    return (y == 0).select(0, rest)


def fmod(x: Lanes, y: Lanes) -> Lanes:
    """With the sign of the dividend."""
    return (y == 0).select(0, _parts(x, y)[1])


def reciprocal(x: Lanes) -> Lanes:
    return divide(x.code.constant(1, x.dtype).spread(x.lanes), x)


def _parts(x: Lanes, y: Lanes) -> tuple[Lanes, Lanes]:
    """Quotient towards zero and rest. Divisors 0 and -1 become 1: the processor could not divide by them."""
    odd = (y == 0) | (y == -1) if y.dtype.kind == "i" else y == 0
    divisor = odd.select(1, y)
    return x.quotient(divisor), x.rest(divisor)


def power(x: Lanes, p: Lanes) -> Lanes:
    """By squares; a negative exponent counts as 0."""
    code = x.code

    def one(a: Lanes, b: Lanes) -> Lanes:
        return code.by_name(_power(code), INT64, a, b)

    return code.one_by_one(one, x.astype(INT64), p.astype(INT64)).astype(x.dtype)


def _power(outer: Code) -> str:
    """The function of two 64-bit numbers, in the module once."""
    name = "pellucid.power"
    if name not in outer.text.functions:
        code = Code(outer.text, name, outer.processor, (INT64, INT64), INT64, internal=True)
        square, rest = code.variable(INT64, code.arguments[0]), code.variable(INT64, code.arguments[1])
        product = code.variable(INT64, 1)
        with code.repeat(lambda: rest.get() > 0):
            product.set(product.get() * select((rest.get() & 1) != 0, square.get(), code.constant(1)))
            square.set(square.get() * square.get())
            rest.set(rest.get() >> 1)
        code.finish(product.get())
    return name
