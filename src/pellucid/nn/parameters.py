"""Named arrays as one vector and back, and parts of them by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from pellucid.errors import ShapeError
from pellucid.named_arrays import On, chosen
from pellucid.nn.layers.layer import Params


def flatten_parameters(params: Params) -> tuple[Any, Callable[[Any], dict[str, Any]]]:
    """All numbers in one vector, and the function that puts a vector back into named arrays.

    Parameters
    ----------
    params : Params
        arrays by name

    Returns
    -------
    tuple
        a vector, and a function from such a vector to arrays by name

    Examples
    --------
    >>> vector, back = flatten_parameters({"w": np.ones((2, 2)), "b": np.zeros(2)})
    >>> vector.tolist(), back(vector)["b"].tolist()
    ([1.0, 1.0, 1.0, 1.0, 0.0, 0.0], [0.0, 0.0])
    """
    names, arrays = list(params), [np.asarray(value) for value in params.values()]
    ends = np.cumsum([0, *(array.size for array in arrays)]).tolist()

    def back(vector: Any) -> dict[str, Any]:
        if np.shape(vector) != (ends[-1],):
            raise ShapeError(f"the parameters are {ends[-1]} numbers, got {' × '.join(map(str, np.shape(vector)))}")
        return {
            name: np.reshape(vector[start:end], array.shape).astype(array.dtype)
            for name, array, start, end in zip(names, arrays, ends, ends[1:], strict=False)
        }

    return np.concatenate([array.ravel() for array in arrays]), back


def select(params: Params, pattern: On) -> dict[str, Any]:
    """The arrays whose names match.

    Parameters
    ----------
    params : Params
        arrays by name
    pattern : On
        one or several, with * for anything

    Returns
    -------
    dict of arrays
        by name

    Examples
    --------
    >>> list(select({"hidden1.weight": 1, "hidden1.bias": 2, "output.weight": 3}, "*.weight"))
    ['hidden1.weight', 'output.weight']
    """
    return {name: params[name] for name in chosen(pattern, params)}
