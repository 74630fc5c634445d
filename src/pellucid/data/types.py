"""Names for kinds of arrays, as signatures use them."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

Array: TypeAlias = NDArray[Any]
"""An array of NumPy, of any shape and dtype."""

Floats: TypeAlias = NDArray[np.floating[Any]]
"""An array of float32 or float64."""

Matrix: TypeAlias = Array | sparse.csr_matrix
"""Rows that have been checked: an array (n, features), or a sparse matrix."""

ArrayLike: TypeAlias = object
"""What users hand in: an array, a data frame, a sparse matrix, lists of rows, a column. Looked at before it is used."""

Tree: TypeAlias = dict[str, Array]
"""Named arrays: parameters, statistics."""
