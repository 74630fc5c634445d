"""Products: dot, outer, tensordot, einsum."""

from __future__ import annotations

from typing import Any

import numpy as np

from pellucid.errors import UnsupportedError
from pellucid.graph.numpy_api.doors import implements
from pellucid.graph.primitives import products


@implements(np.dot, method="dot")
def dot(a: Any, b: Any) -> Any:
    if not np.ndim(a) or not np.ndim(b):
        return a * b
    if np.ndim(b) <= 2:
        return np.matmul(a, b)
    return tensordot(a, b, ([-1], [-2]))


@implements(np.outer)
def outer(a: Any, b: Any) -> Any:
    return np.reshape(a, (-1, 1)) * np.reshape(b, (1, -1))


@implements(np.vdot)
def vdot(a: Any, b: Any) -> Any:
    return np.matmul(np.ravel(a), np.ravel(b))


@implements(np.inner)
def inner(a: Any, b: Any) -> Any:
    if not np.ndim(a) or not np.ndim(b):
        return a * b
    return tensordot(a, b, ([-1], [-1]))


_LETTERS = "abcdefghijklmnopqrstuvwxyz"


@implements(np.tensordot)
def tensordot(a: Any, b: Any, axes: Any = 2) -> Any:
    na, nb = np.ndim(a), np.ndim(b)
    if isinstance(axes, int):
        axes = (list(range(na - axes, na)), list(range(axes)))
    axes = [list(x) if isinstance(x, tuple | list) else [x] for x in axes]
    first, second = list(_LETTERS[:na]), list(_LETTERS[na : na + nb])
    for i, j in zip(*axes, strict=True):
        second[j] = first[i]
    summed = {first[i] for i in axes[0]}
    out = "".join(letter for letter in first + second if letter not in summed)
    return products.einsum(a, b, subscripts=f"{''.join(first)},{''.join(second)}->{out}")


@implements(np.einsum)
def einsum(subscripts: str, *operands: Any, optimize: Any = False) -> Any:
    text = subscripts.replace(" ", "")
    inputs, _, output = text.partition("->")
    if "->" not in text:
        letters = inputs.replace(",", "")
        output = "".join(sorted({c for c in letters if letters.count(c) == 1}))
    if "." in text or any(len(set(t)) != len(t) for t in inputs.split(",")):
        raise UnsupportedError(
            f"einsum {subscripts!r}: ellipses and an axis named twice in one array are not recorded; "
            "name all axes, and use np.diagonal or np.trace"
        )
    return products.einsum(*operands, subscripts=f"{inputs}->{output}")
