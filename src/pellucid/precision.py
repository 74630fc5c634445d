"""Numbers in the precision of an array: float32 stays float32, whatever the settings are."""

from __future__ import annotations

from typing import Any


def like(value: Any, array: Any) -> Any:
    """A number or an array in the dtype of another: what is traced or NumPy's own must not turn float32 into float64.

    Compute with settings first, in their own precision, and cast last: `like(1 - beta, w)`. Python numbers pass
    through, they have no dtype.

    Parameters
    ----------
    value : number | array
        to be cast
    array : array
        whose dtype is taken

    Returns
    -------
    number | array
        the value

    Examples
    --------
    >>> import numpy as np
    >>> like(np.float64(0.1), np.ones(2, np.float32)).dtype, like(0.1, np.ones(2, np.float32))
    (dtype('float32'), 0.1)
    """
    return value.astype(array.dtype) if hasattr(value, "dtype") and value.dtype != array.dtype else value
