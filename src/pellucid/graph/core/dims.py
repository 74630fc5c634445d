"""Open dimensions: sizes that are known by name when a graph is recorded, and by number when it runs.

A `Dim` is a polynomial in named sizes with integer coefficients, so that shapes can be computed with:
`n * 28 // 4` is `7*n`. It behaves as an integer as far as it can without knowing its value.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias

from pellucid.errors import AbstractValueError

Monomial: TypeAlias = tuple[str, ...]  # ("m", "n", "n") stands for m*n*n; () for 1


class Dim:
    """A size such as `n`, `n + 1` or `7*n`.

    >>> n = Dim.symbol("n")
    >>> (n * 28) // 4
    7*n
    >>> (n * 2 + 1).resolve({"n": 5})
    11
    """

    __slots__ = ("_hash", "terms")

    def __init__(self, terms: Mapping[Monomial, int]) -> None:
        self.terms: tuple[tuple[Monomial, int], ...] = tuple(sorted((m, c) for m, c in terms.items() if c))
        self._hash = hash(self.terms)

    @staticmethod
    def symbol(name: str) -> Dim:
        if not name.isidentifier():
            raise ValueError(f"an open dimension needs a name like 'n' or 'batch', got {name!r}")
        return Dim({(name,): 1})

    def resolve(self, sizes: Mapping[str, int]) -> int:
        """The number this size has once the named sizes are known."""
        total = 0
        for monomial, coefficient in self.terms:
            for name in monomial:
                coefficient *= sizes[name]
            total += coefficient
        return total

    def __add__(self, other: Any) -> Any:
        if not isinstance(other, int | Dim):
            return NotImplemented
        return _dim(_combine([*self.terms, *_terms(other)]))

    def __mul__(self, other: Any) -> Any:
        if not isinstance(other, int | Dim):
            return NotImplemented
        products = [
            (tuple(sorted(a + b)), c * d) for a, c in self.terms for b, d in _terms(other)
        ]  # a monomial times a monomial is their names together
        return _dim(_combine(products))

    __radd__, __rmul__ = __add__, __mul__

    def __neg__(self) -> Any:
        return self * -1

    def __sub__(self, other: Any) -> Any:
        return self + other * -1 if isinstance(other, int | Dim) else NotImplemented

    def __rsub__(self, other: Any) -> Any:
        return self * -1 + other

    def __floordiv__(self, other: Any) -> Any:
        """Exact division by a single term; anything that would leave a remainder is refused."""
        if not isinstance(other, int | Dim):
            return NotImplemented
        divisor = _terms(other)
        if len(divisor) != 1:
            raise AbstractValueError(f"cannot divide the open size {self} by {other}")
        (names, factor) = divisor[0]
        quotient: dict[Monomial, int] = {}
        for monomial, coefficient in self.terms:
            rest = list(monomial)
            for name in names:
                if name not in rest:
                    raise AbstractValueError(f"cannot divide the open size {self} evenly by {other}")
                rest.remove(name)
            if coefficient % factor:
                raise AbstractValueError(f"cannot divide the open size {self} evenly by {other}")
            quotient[tuple(rest)] = coefficient // factor
        return _dim(quotient)

    def __rfloordiv__(self, other: Any) -> Any:
        return Dim(dict(_terms(other))) // self

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Dim) and self.terms == other.terms

    def __hash__(self) -> int:
        return self._hash

    def __lt__(self, other: Any) -> bool:
        raise AbstractValueError(_UNKNOWN.format(self))

    __gt__ = __le__ = __ge__ = __lt__

    def __index__(self) -> int:
        raise AbstractValueError(_UNKNOWN.format(self))

    def __repr__(self) -> str:
        parts = []
        for monomial, coefficient in reversed(self.terms):
            factors = [*monomial] if abs(coefficient) == 1 and monomial else [str(abs(coefficient)), *monomial]
            parts.append(("- " if coefficient < 0 else "+ ") + "*".join(factors))
        text = " ".join(parts)
        return text[2:] if text.startswith("+ ") else text.replace("- ", "-", 1)


Size: TypeAlias = int | Dim
Shape: TypeAlias = tuple[Size, ...]

_UNKNOWN = (
    "the size {} is open while a function is recorded by shape: it has no number yet. "
    "Use it in shapes and arithmetic (x.sum() / x.shape[0], np.zeros_like(x)), or record with a fixed size"
)


def _terms(value: Size) -> tuple[tuple[Monomial, int], ...]:
    return value.terms if isinstance(value, Dim) else (((), value),)


def _combine(terms: Iterable[tuple[Monomial, int]]) -> dict[Monomial, int]:
    total: dict[Monomial, int] = {}
    for monomial, coefficient in terms:
        total[monomial] = total.get(monomial, 0) + coefficient
    return total


def _dim(terms: Mapping[Monomial, int]) -> Size:
    """A plain int where no name is left."""
    kept = {m: c for m, c in terms.items() if c}
    if not kept:
        return 0
    if list(kept) == [()]:
        return kept[()]
    return Dim(kept)


def product(sizes: Iterable[Size]) -> Size:
    """The number of elements of a shape."""
    total: Size = 1
    for size in sizes:
        total = total * size
    return total


def is_open(value: Any) -> bool:
    """Does a setting (a size, a shape, a nested tuple of them) hold a size that is not known yet?"""
    if isinstance(value, tuple | list):
        return any(is_open(v) for v in value)
    if isinstance(value, slice):
        return is_open((value.start, value.stop, value.step))
    return isinstance(value, Dim)


def resolve(value: Any, sizes: Mapping[str, int]) -> Any:
    """The same setting with every open size replaced by its number."""
    if isinstance(value, Dim):
        return value.resolve(sizes)
    if isinstance(value, tuple):
        return tuple(resolve(v, sizes) for v in value)
    if isinstance(value, slice):
        return slice(*(resolve(v, sizes) for v in (value.start, value.stop, value.step)))
    return value


def bind(declared: Shape, actual: tuple[int, ...], sizes: dict[str, int]) -> bool:
    """Read the named sizes of `declared` off an actual shape into `sizes`; False where they do not fit."""
    if len(declared) != len(actual):
        return False
    for want, got in zip(declared, actual, strict=True):
        if isinstance(want, Dim):
            symbol = want.terms[0][0] if len(want.terms) == 1 and want.terms[0][1] == 1 else ()
            if len(symbol) == 1 and symbol[0] not in sizes:
                sizes[symbol[0]] = got
            elif want.resolve(sizes) != got:
                return False
        elif want != got:
            return False
    return True
