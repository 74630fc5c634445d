"""The notations of the lectures: are samples rows or columns, and what are things called?"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from pellucid.inspect.derivation.numbers import Numbers
from pellucid.lookup import look_up
from pellucid.records import Record


@dataclass(frozen=True)
class Notation(Record):
    """How a derivation is written. For one sample letters are small.

    Parameters
    ----------
    name : str
        of the notation
    rows : bool
        samples are rows and a layer is X W + b; else they are columns, and it is W X + b
    z : str
        the letter of what goes into an activation
    a : str
        of what comes out
    delta : str
        of the derivative by z
    index : str
        how a layer's number is written at variables: "[k]" and "(k)" above, "_k" below
    weight_index : str
        the same at weights
    one : bool
        a single sample: small letters, no 1/n

    Examples
    --------
    >>> NOTATIONS["columns"].affine(r"X", 1)
    'W^{[1]} X + b^{[1]}'
    """

    name: str
    rows: bool
    z: str = "Z"
    a: str = "A"
    delta: str = r"\Delta"
    index: str = "[k]"
    weight_index: str = "[k]"
    one: bool = False  # a single sample: small letters, no 1/n

    def __post_init__(self) -> None:
        for style in (self.index, self.weight_index):
            if style not in ("[k]", "(k)", "_k"):
                raise ValueError(f"Notation: an index is '[k]', '(k)' or '_k', got {style!r}")

    def for_rows(self, count: int) -> Notation:
        """The same for so many samples.

        Parameters
        ----------
        count : int
            of samples
        """
        return replace(self, one=count == 1)

    # symbols

    def letter(self, base: str, number: int = 0, accent: str = "", transposed: bool = False) -> str:
        r"""A variable of a layer: \tilde{A}^{[1]}; layer 0 is the input, which has no number.

        Parameters
        ----------
        base : str
            the letter
        number : int
            of the layer
        accent : str
            a command of LaTeX: "tilde"
        transposed : bool
            written with a T
        """
        small = {r"\Delta": r"\delta "}.get(base, base.lower()) if self.one else base
        accented = rf"\{accent}{{{small}}}" if accent else small
        return _indexed(accented, self.index, number, transposed)

    def weight(self, base: str, number: int, transposed: bool = False) -> str:
        """A parameter of a layer: W^{[1]}.

        Parameters
        ----------
        base : str
            the letter
        number : int
            of the layer
        transposed : bool
            written with a T
        """
        return _indexed(base, self.weight_index, number, transposed)

    def error(self, number: int) -> str:
        """The derivative by z of layer `number`.

        Parameters
        ----------
        number : int
            of the layer
        """
        return self.letter(self.delta, number)

    # formulas that depend on whether samples are rows or columns

    def affine(self, x: str, number: int, bias: bool = True, factor: str = "") -> str:
        """The affine map of a layer: x W + b, or W x + b.

        Parameters
        ----------
        x : str
            what goes in, as LaTeX
        number : int
            of the layer
        bias : bool
            has it one?
        factor : str
            in front of the weights
        """
        W = factor + self.weight("W", number)
        product = f"{x} {W}" if self.rows else f"{W} {x}"
        return f"{product} + {self.weight('b', number)}" if bias else product

    def back(self, error: str, number: int, factor: str = "") -> str:
        """The derivative by what went into layer `number`.

        Parameters
        ----------
        error : str
            the derivative by z, as LaTeX
        number : int
            of the layer
        factor : str
            in front of the weights
        """
        W = factor + self.weight("W", number, transposed=True)
        return f"{error} {W}" if self.rows else f"{W} {error}"

    def weight_gradient(self, x_transposed: str, error: str, factor: str = "") -> str:
        """The product that is the gradient of weights.

        Parameters
        ----------
        x_transposed : str
            what went in, transposed, as LaTeX
        error : str
            the derivative by z, as LaTeX
        factor : str
            in front of it
        """
        product = f"{x_transposed} {error}" if self.rows else f"{error} {x_transposed}"
        return self.mean + factor + product

    def summed(self, error: str) -> str:
        """The sum over the samples of the batch.

        Parameters
        ----------
        error : str
            the derivative by z, as LaTeX
        """
        if self.one:
            return error
        return rf"{self.mean}\mathbf1^{{\top}} {error}" if self.rows else rf"{self.mean}{error} \mathbf1"

    @property
    def mean(self) -> str:
        return "" if self.one else r"\frac{1}{n} "

    # numbers

    def samples(self, value: Any) -> Numbers:
        """A batch of values as a matrix.   (n, ...) -> (n, k), or (k, n) where samples are columns

        Parameters
        ----------
        value : array of shape (n, ...)
            a batch
        """
        flat = np.reshape(value, (len(value), -1))
        return Numbers(flat if self.rows else flat.T)

    def parameter(self, value: Any) -> Numbers:
        """A weight matrix or a vector, turned as the formula has it.

        Parameters
        ----------
        value : array
            (n_in, n_out) or (n_out,)
        """
        matrix = np.asarray(value)
        matrix = np.atleast_2d(matrix) if matrix.ndim < 2 else np.reshape(matrix, (len(matrix), -1))
        return Numbers(matrix if self.rows else matrix.T)

    def place(self, row: int, column: int, sample: bool = False) -> str:
        """The indices of an entry, from 1; row and column as in the library, samples first.

        Parameters
        ----------
        row : int
            as in the library, from 0
        column : int
            as in the library, from 0
        sample : bool
            is it an entry of a batch, samples first?
        """
        first, second = (row + 1, column + 1) if self.rows else (column + 1, row + 1)
        if sample and self.one:
            return str(column + 1)
        return f"{first}{second}" if max(first, second) < 10 else f"{first},{second}"

    def entry(self, symbol: str, row: int, column: int) -> str:
        """One entry of a variable: sample `row`, unit `column`.

        Parameters
        ----------
        symbol : str
            of the variable, as LaTeX
        row : int
            the sample
        column : int
            the unit
        """
        return _with_place(symbol, self.place(row, column, sample=True))

    def weight_entry(self, symbol: str, row: int, column: int) -> str:
        """One entry of a weight matrix (n_in, n_out).

        Parameters
        ----------
        symbol : str
            of the weights, as LaTeX
        row : int
            the input
        column : int
            the unit
        """
        return _with_place(symbol, self.place(row, column))


def _with_place(symbol: str, place: str) -> str:
    return f"{symbol}_{{{place}}}" if "_" not in symbol else f"({symbol})_{{{place}}}"


def _indexed(letter: str, style: str, number: int, transposed: bool) -> str:
    top = r"\top" if transposed else ""
    if not number:
        return f"{letter}^{{{top}}}" if top else letter
    if style == "_k":
        return f"{letter}_{{{number}}}" + (f"^{{{top}}}" if top else "")
    opening, closing = style[0], style[-1]
    return f"{letter}^{{{opening}{number}{closing}{top}}}"


NOTATIONS = {
    "rows": Notation("rows", rows=True),
    "columns": Notation("columns", rows=False),
    "kth": Notation("kth", rows=False, z="S", a="X", delta="G", index="(k)", weight_index="_k"),
    "waterloo": Notation("waterloo", rows=False, z="Z", a="H", delta=r"\Delta", index="_k", weight_index="_k"),
}
"""By name: the library's own (rows, x W + b), and three lectures' (columns, W x + b): 004, 003 and 000."""


def notation_named(which: Any) -> Notation:
    """A notation by name, or itself.

    >>> notation_named("rows").rows
    True
    """
    if isinstance(which, Notation):
        return which
    if not isinstance(which, str):
        raise TypeError(f"a notation is a name ({', '.join(NOTATIONS)}) or an inspect.Notation, got {which!r}")
    return look_up("notation", which, NOTATIONS)
