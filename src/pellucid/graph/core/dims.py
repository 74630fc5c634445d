"""Open dimensions: sizes that are known by name when a graph is recorded, and by number when it runs.

A `Dim` is a polynomial in named sizes with integer coefficients, so that shapes can be computed with:
`n * 28 // 4` is `7*n`. It behaves as an integer as far as it can without knowing its value.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
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

    Arithmetic beyond integers (1.0 / n, np.sqrt(n)) is recorded: `home` is the recording in which the size is open.
    """

    __slots__ = ("_hash", "home", "terms")

    def __init__(self, terms: Mapping[Monomial, int], home: Any = None) -> None:
        self.terms: tuple[tuple[Monomial, int], ...] = tuple(sorted((m, c) for m, c in terms.items() if c))
        self.home = home
        self._hash = hash(self.terms)

    @staticmethod
    def symbol(name: str) -> Dim:
        if not name.isidentifier():
            raise ValueError(f"an open dimension needs a name like 'n' or 'batch', got {name!r}")
        return Dim({(name,): 1})

    def at(self, home: Any) -> Dim:
        """The same size, open in this recording."""
        return Dim(dict(self.terms), home)

    def resolve(self, sizes: Mapping[str, Any]) -> Any:
        """The number this size has once the named sizes are known."""
        total: Any = 0
        for monomial, coefficient in self.terms:
            term: Any = coefficient
            for name in monomial:
                term *= sizes[name]
            total += term
        return total

    def __add__(self, other: Any) -> Any:
        if not isinstance(other, int | Dim):
            return _recorded("add", self, other)
        return self._made(_combine([*self.terms, *_terms(other)]), other)

    def __mul__(self, other: Any) -> Any:
        if not isinstance(other, int | Dim):
            return _recorded("multiply", self, other)
        # a monomial times a monomial is their names together
        products = [(tuple(sorted(a + b)), c * d) for a, c in self.terms for b, d in _terms(other)]
        return self._made(_combine(products), other)

    __radd__, __rmul__ = __add__, __mul__

    def __neg__(self) -> Any:
        return self * -1

    def __sub__(self, other: Any) -> Any:
        return self + other * -1

    def __rsub__(self, other: Any) -> Any:
        return self * -1 + other

    def __truediv__(self, other: Any) -> Any:
        return _recorded("divide", self, other)

    def __rtruediv__(self, other: Any) -> Any:
        return _recorded("divide", other, self)

    def __pow__(self, other: Any) -> Any:
        return _recorded("power", self, other)

    def __array_ufunc__(self, ufunc: Any, method: str, *args: Any, **options: Any) -> Any:
        return _recorded(ufunc, *args)

    def __floordiv__(self, other: Any) -> Any:
        """Exact division by a single term; anything that would leave a remainder is refused."""
        if not isinstance(other, int | Dim):
            return NotImplemented
        refusal = AbstractValueError(f"cannot divide the open size {self} evenly by {other}")
        divisor = _terms(other)
        if len(divisor) != 1 or divisor[0][1] == 0:
            raise refusal
        ((names, factor),) = divisor
        quotient: dict[Monomial, int] = {}
        for monomial, coefficient in self.terms:
            rest = list(monomial)
            for name in names:
                if name not in rest:
                    raise refusal
                rest.remove(name)
            if coefficient % factor:
                raise refusal
            quotient[tuple(rest)] = coefficient // factor
        return self._made(quotient, other)

    def __rfloordiv__(self, other: Any) -> Any:
        return Dim(dict(_terms(other))) // self

    def _made(self, terms: Mapping[Monomial, int], other: Any) -> Size:
        """A plain int where no name is left."""
        nonzero = {m: c for m, c in terms.items() if c}
        if all(m == () for m in nonzero):
            return nonzero.get((), 0)
        return Dim(nonzero, self.home if self.home is not None else getattr(other, "home", None))

    def __reduce__(self) -> Any:
        return (Dim, (dict(self.terms),))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Dim) and self.terms == other.terms

    def __hash__(self) -> int:
        return self._hash

    def __lt__(self, other: Any) -> bool:
        raise AbstractValueError(_UNKNOWN.format(self))

    __gt__ = __le__ = __ge__ = __mod__ = __rmod__ = __lt__

    def __bool__(self) -> bool:
        raise AbstractValueError(_UNKNOWN.format(self))

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


RECORD: list[Callable[..., Any]] = []
"""How arithmetic on open sizes is recorded (set by core.tracer, which stands above)."""


def _recorded(operation: Any, *args: Any) -> Any:
    if not any(isinstance(a, Dim) and a.home is not None for a in args):
        unknown = next(a for a in args if isinstance(a, Dim))
        raise AbstractValueError(_UNKNOWN.format(unknown))
    return RECORD[0](operation, args)


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


def resolve(value: Any, sizes: Mapping[str, Any]) -> Any:
    """The same setting with every open size replaced by its number (or by a size of another name)."""
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
    pairs = list(zip(declared, actual, strict=True))
    for want, got in pairs:  # the names first: then sizes made of them can be compared
        (monomial, coefficient) = want.terms[0] if isinstance(want, Dim) and len(want.terms) == 1 else ((), 0)
        if len(monomial) == 1 and coefficient == 1:
            sizes.setdefault(monomial[0], got)
    return all(resolve(want, sizes) == got for want, got in pairs)
