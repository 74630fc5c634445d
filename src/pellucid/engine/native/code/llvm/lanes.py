"""Numbers that exist only in compiled code: one, or as many side by side as a vector of the processor holds.

`a * b + 1.0` writes the instructions that compute it. Operands have one dtype; a Python number takes that of the other
side, and a single number stands beside each of many. `code` has what is written, and everything that is not arithmetic.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from pellucid.engine.native.code.llvm.code import Code

TYPES = {
    np.dtype(name): kind
    for name, kind in (
        *(("float32", "float"), ("float64", "double"), ("bool", "i1")),
        *(("int64", "i64"), ("int32", "i32"), ("int16", "i16"), ("int8", "i8")),
        *(("uint64", "i64"), ("uint32", "i32"), ("uint16", "i16"), ("uint8", "i8")),
    )
}
"""What a dtype is called in IR: whole numbers have no sign there, the instructions do."""

BOOL, INT64, FLOAT64 = np.dtype(bool), np.dtype(np.int64), np.dtype(np.float64)

SHIFTS = ("shl", "lshr", "ashr")
"""Instructions whose second operand had better stand in the code."""

_ORDERED = {"<": "olt", "<=": "ole", ">": "ogt", ">=": "oge", "==": "oeq", "!=": "une"}
_WHOLE = {"<": "lt", "<=": "le", ">": "gt", ">=": "ge"}


def literal(value: Any, dtype: np.dtype[Any]) -> str:
    """A number as IR spells it: floats by the bits of the double that equals them."""
    if dtype.kind == "f":
        with np.errstate(over="ignore"):
            return f"0x{struct.unpack('<Q', struct.pack('<d', float(dtype.type(value))))[0]:016X}"
    if dtype.kind == "b":
        return "true" if value else "false"
    number = int(value)
    return str(number if number < 2**63 else number - 2**64)  # whole numbers have no sign in IR


def _operator(floating: str, whole: str, swapped: bool = False) -> Callable[[Lanes, Any], Lanes]:
    """The method of an operator, by its instructions for floats and for whole numbers."""
    return lambda self, other: self._of(floating, whole, other, swapped)


def _question(sign: str) -> Callable[[Lanes, Any], Lanes]:
    """The method of a comparison."""
    return lambda self, other: self._compared(sign, other)


class Lanes:
    """`lanes` numbers of a dtype. `text` is the name of what holds them, or a constant, whose value is known."""

    __slots__ = ("code", "constant", "dtype", "lanes", "text")
    __array_ufunc__ = None  # a NumPy number to the left leaves the arithmetic to us
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, code: Code, text: str, dtype: np.dtype[Any], lanes: int = 1, constant: Any = None) -> None:
        self.code, self.text, self.dtype, self.lanes, self.constant = code, text, dtype, lanes, constant

    def __repr__(self) -> str:
        return f"<{self.type} {self.text}>"

    def __bool__(self) -> bool:
        raise TypeError("a number of compiled code has no value yet: choose by select or code.when")

    @property
    def type(self) -> str:
        kind = TYPES[self.dtype]
        return kind if self.lanes == 1 else f"<{self.lanes} x {kind}>"

    def spread(self, lanes: int) -> Lanes:
        """The same number in every lane."""
        if self.lanes == lanes:
            return self
        kind = TYPES[self.dtype]
        if self.constant is not None:
            return Lanes(self.code, f"splat ({kind} {self.text})", self.dtype, lanes, self.constant)
        first = self.code.emit(f"insertelement <{lanes} x {kind}> poison, {kind} {self.text}, i32 0")
        wide = f"shufflevector <{lanes} x {kind}> {first}, <{lanes} x {kind}> poison, <{lanes} x i32> zeroinitializer"
        return Lanes(self.code, self.code.emit(wide), self.dtype, lanes)

    def beside(self, other: Any) -> tuple[Lanes, Lanes]:
        """Both operands, of one width."""
        if not isinstance(other, Lanes):
            other = self.code.number(other, self.dtype, self.lanes)
        if other.dtype != self.dtype:
            raise TypeError(f"operands of compiled code have one dtype, got {self.dtype} and {other.dtype}")
        if self.lanes == other.lanes:
            return self, other
        lanes = max(self.lanes, other.lanes)
        return self.spread(lanes), other.spread(lanes)

    # arithmetic

    def _of(self, floating: str, whole: str, other: Any, swapped: bool = False) -> Lanes:
        if whole in SHIFTS:
            other = self.code.constant(other, self.dtype)
        a, b = self.beside(other)
        if swapped:
            a, b = b, a
        word = f"{floating} {self.code.flags}" if self.dtype.kind == "f" else whole
        return Lanes(self.code, self.code.emit(f"{word} {a.type} {a.text}, {b.text}"), self.dtype, a.lanes)

    __add__, __radd__ = _operator("fadd", "add"), _operator("fadd", "add", swapped=True)
    __sub__, __rsub__ = _operator("fsub", "sub"), _operator("fsub", "sub", swapped=True)
    __mul__, __rmul__ = _operator("fmul", "mul"), _operator("fmul", "mul", swapped=True)
    __truediv__, __rtruediv__ = _operator("fdiv", ""), _operator("fdiv", "", swapped=True)

    def quotient(self, other: Any) -> Lanes:
        """Of whole numbers, towards zero; the divisor is not 0."""
        return self._of("", "udiv" if self.dtype.kind == "u" else "sdiv", other)

    def rest(self, other: Any) -> Lanes:
        """What `quotient` leaves, with the sign of the dividend."""
        return self._of("", "urem" if self.dtype.kind == "u" else "srem", other)

    def __neg__(self) -> Lanes:
        if self.dtype.kind == "f":
            return Lanes(self.code, self.code.emit(f"fneg {self.type} {self.text}"), self.dtype, self.lanes)
        return 0 - self

    def __abs__(self) -> Lanes:
        if self.dtype.kind == "f":
            return self.code.of_processor("fabs", self)
        return self if self.dtype.kind == "u" else (self < 0).select(-self, self)

    # bits

    __and__, __or__, __xor__ = _operator("", "and"), _operator("", "or"), _operator("", "xor")
    __rand__, __ror__, __rxor__ = __and__, __or__, __xor__

    def __invert__(self) -> Lanes:
        return self ^ (True if self.dtype == BOOL else -1)

    __lshift__ = _operator("", "shl")

    def __rshift__(self, other: Any) -> Lanes:
        return self._of("", "lshr" if self.dtype.kind == "u" else "ashr", other)

    def viewed(self, dtype: Any) -> Lanes:
        """The same bits as another dtype."""
        dtype = np.dtype(dtype)
        made = Lanes(self.code, self.text, dtype, self.lanes * self.dtype.itemsize // dtype.itemsize)
        if made.type != self.type:
            made.text = self.code.emit(f"bitcast {self.type} {self.text} to {made.type}")
        return made

    # questions

    def _compared(self, sign: str, other: Any) -> Lanes:
        a, b = self.beside(other)
        if self.dtype.kind == "f":
            word = f"fcmp {_ORDERED[sign]}"
        elif sign in ("==", "!="):
            word = "icmp eq" if sign == "==" else "icmp ne"
        else:
            word = f"icmp {'s' if self.dtype.kind == 'i' else 'u'}{_WHOLE[sign]}"
        return Lanes(self.code, self.code.emit(f"{word} {a.type} {a.text}, {b.text}"), BOOL, a.lanes)

    __lt__, __le__, __gt__, __ge__ = _question("<"), _question("<="), _question(">"), _question(">=")
    __eq__, __ne__ = _question("=="), _question("!=")  # type: ignore[assignment]

    def select(self, yes: Any, no: Any) -> Lanes:
        """`yes` where this is true, else `no`."""
        if isinstance(yes, Lanes):
            yes, no = yes.beside(no)
        elif isinstance(no, Lanes):
            no, yes = no.beside(yes)
        else:
            dtype = yes.dtype if isinstance(yes, np.generic) else FLOAT64
            yes, no = self.code.constant(yes, dtype), self.code.constant(no, dtype)
        lanes = max(self.lanes, yes.lanes)
        condition, yes, no = self if self.lanes == 1 else self.spread(lanes), yes.spread(lanes), no.spread(lanes)
        text = f"select {condition.type} {condition.text}, {yes.type} {yes.text}, {no.type} {no.text}"
        return Lanes(self.code, self.code.emit(text), yes.dtype, lanes)

    def astype(self, dtype: Any) -> Lanes:
        """Converted as C does."""
        dtype = np.dtype(dtype)
        if dtype == self.dtype:
            return self
        if self.constant is not None:
            return self.code.constant(self.constant, dtype).spread(self.lanes)
        if dtype == BOOL:
            return self != 0
        made = Lanes(self.code, self.text, dtype, self.lanes)
        word = _conversion(self.dtype, dtype)
        if word:
            made.text = self.code.emit(f"{word} {self.type} {self.text} to {made.type}")
        return made


def _conversion(old: np.dtype[Any], new: np.dtype[Any]) -> str:
    """The instruction that converts; none where only the sign is read otherwise."""
    if old.kind == "f":
        if new.kind == "f":
            return "fpext" if new.itemsize > old.itemsize else "fptrunc"
        return "fptosi" if new.kind == "i" else "fptoui"
    unsigned = old.kind in "ub"
    if new.kind == "f":
        return "uitofp" if unsigned else "sitofp"
    if old.kind == "b" or new.itemsize > old.itemsize:
        return "zext" if unsigned else "sext"
    return "trunc" if new.itemsize < old.itemsize else ""
