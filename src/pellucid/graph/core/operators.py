"""Python's operators on traced arrays, straight to the primitives: NumPy's own dispatch costs a microsecond."""

from __future__ import annotations

from typing import Any

from pellucid.graph.core.primitive import METHODS, REGISTRY


def _apply(name: str, *args: Any) -> Any:
    op = REGISTRY[name]
    return op.bind(op, args)


class Operators:
    """What `x + y`, `x @ y`, `x > y` and their kin mean. Powers have short cuts, in numpy_api."""

    __slots__ = ()

    def __add__(self, other: Any) -> Any:
        return _apply("add", self, other)

    def __radd__(self, other: Any) -> Any:
        return _apply("add", other, self)

    def __sub__(self, other: Any) -> Any:
        return _apply("subtract", self, other)

    def __rsub__(self, other: Any) -> Any:
        return _apply("subtract", other, self)

    def __mul__(self, other: Any) -> Any:
        return _apply("multiply", self, other)

    def __rmul__(self, other: Any) -> Any:
        return _apply("multiply", other, self)

    def __truediv__(self, other: Any) -> Any:
        return _apply("divide", self, other)

    def __rtruediv__(self, other: Any) -> Any:
        return _apply("divide", other, self)

    def __matmul__(self, other: Any) -> Any:
        return _apply("matmul", self, other)

    def __rmatmul__(self, other: Any) -> Any:
        return _apply("matmul", other, self)

    def __neg__(self) -> Any:
        return _apply("negative", self)

    def __pos__(self) -> Any:
        return self

    def __abs__(self) -> Any:
        return _apply("absolute", self)

    def __pow__(self, other: Any) -> Any:
        return METHODS["__pow__"](self, other)

    def __rpow__(self, other: Any) -> Any:
        return _apply("power", other, self)

    def __floordiv__(self, other: Any) -> Any:
        return _apply("floor_divide", self, other)

    def __rfloordiv__(self, other: Any) -> Any:
        return _apply("floor_divide", other, self)

    def __mod__(self, other: Any) -> Any:
        return _apply("remainder", self, other)

    def __rmod__(self, other: Any) -> Any:
        return _apply("remainder", other, self)

    def __lt__(self, other: Any) -> Any:
        return _apply("less", self, other)

    def __le__(self, other: Any) -> Any:
        return _apply("less_equal", self, other)

    def __gt__(self, other: Any) -> Any:
        return _apply("greater", self, other)

    def __ge__(self, other: Any) -> Any:
        return _apply("greater_equal", self, other)

    def __eq__(self, other: Any) -> Any:
        return _apply("equal", self, other)

    def __ne__(self, other: Any) -> Any:
        return _apply("not_equal", self, other)

    def __and__(self, other: Any) -> Any:
        return _apply("bitwise_and", self, other)

    def __or__(self, other: Any) -> Any:
        return _apply("bitwise_or", self, other)

    def __xor__(self, other: Any) -> Any:
        return _apply("bitwise_xor", self, other)

    __rand__, __ror__, __rxor__ = __and__, __or__, __xor__

    def __invert__(self) -> Any:
        return _apply("invert", self)
