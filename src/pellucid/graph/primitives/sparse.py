"""Products of a sparse matrix: of its entries other than 0 alone."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from pellucid.errors import ShapeError
from pellucid.graph.core.dims import Dim, Size
from pellucid.graph.core.primitive import Primitive, fit, primitive
from pellucid.graph.core.spec import Spec, format_shape, promote


def _product_shape(entries: Spec, rows: Spec, columns: Spec, b: Spec, *, count: Size) -> Spec:
    return Spec((count, b.shape[1]), promote([entries, b]))


def _product(entries: Any, rows: Any, columns: Any, b: Any, *, count: int) -> Any:
    from scipy import sparse

    return sparse.csr_array((entries, (rows, columns)), shape=(count, b.shape[0])) @ b


def _by_entries(d: Any, y: Any, entries: Any, rows: Any, columns: Any, b: Any, *, count: Size) -> Any:
    return fit(np.sum(d[rows] * b[columns], axis=1), entries)


def _by_matrix(d: Any, y: Any, entries: Any, rows: Any, columns: Any, b: Any, *, count: Size) -> Any:
    """The transposed matrix has the same entries, rows and columns exchanged."""
    return fit(sparse_matmul(entries, columns, rows, d, count=b.shape[0]), b)


sparse_matmul: Primitive = primitive(
    "sparse_matmul",
    _product,
    shape=_product_shape,
    jvp=(
        lambda d, y, entries, rows, columns, b, *, count: sparse_matmul(d, rows, columns, b, count=count),
        None,
        None,
        lambda d, y, entries, rows, columns, b, *, count: sparse_matmul(entries, rows, columns, d, count=count),
    ),
    vjp=(_by_entries, None, None, _by_matrix),
)
"""entries (m,) at rows (m,) and columns (m,) of a matrix of `count` rows, times b (k, units) -> (count, units)"""


class SparseMatrix(NamedTuple):
    """A sparse matrix as arguments of a graph: its entries and their places. What is not among them is 0.

    `extent` has the matrix's shape, and no memory of its own (see `of`).
    """

    entries: Any  # (m,)
    rows: Any  # (m,)
    columns: Any  # (m,)
    extent: Any  # (n, k)

    @classmethod
    def of(cls, matrix: Any) -> SparseMatrix:
        """That of a matrix of SciPy's with compressed rows."""
        rows = np.repeat(np.arange(matrix.shape[0], dtype=matrix.indices.dtype), np.diff(matrix.indptr))
        return cls(matrix.data, rows, matrix.indices, np.broadcast_to(np.False_, matrix.shape))

    @property
    def shape(self) -> tuple[Size, ...]:
        return tuple(self.extent.shape)

    @property
    def dtype(self) -> Any:
        return self.entries.dtype

    def __matmul__(self, b: Any) -> Any:
        if len(b.shape) != 2 or self.shape[1] != b.shape[0]:
            raise ShapeError(
                f"a sparse matrix {format_shape(self.shape)} @ {format_shape(b.shape)} do not fit: the second must be "
                f"a matrix of {self.shape[1]} rows"
            )
        return sparse_matmul(self.entries, self.rows, self.columns, b, count=self.shape[0])

    def opened(self) -> SparseMatrix:
        """Of specs: the number of rows, n, and that of entries, m, left open."""
        specs = (*((spec, "m") for spec in self[:3]), (self.extent, "n"))
        return SparseMatrix(*(Spec((Dim.symbol(name), *spec.shape[1:]), spec.dtype) for spec, name in specs))
