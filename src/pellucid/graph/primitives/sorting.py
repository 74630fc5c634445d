"""Order: where elements go when they are sorted, elements in another order, and where numbers would be put in.

Sorting is `reorder(x, argsort(x))`: a permutation, constant as long as no two elements pass each other. The sort is
stable, so that of equal elements the first comes first, with its derivative.
"""

from __future__ import annotations

import numpy as np

from pellucid.graph.core.primitive import Primitive, primitive
from pellucid.graph.core.spec import Spec

argsort = primitive(
    "argsort",
    lambda x, *, axis, kind: np.argsort(x, axis=axis, kind=kind),
    shape=lambda x, *, axis, kind: Spec(x.shape, np.intp),
    jvp=(None,),
    vjp=(None,),
)

reorder: Primitive = primitive(  # `order` holds each position along the axis once: its inverse is its argsort
    "reorder",
    lambda x, order, *, axis: np.take_along_axis(x, order, axis=axis),
    shape=lambda x, order, *, axis: Spec(x.shape, x.dtype),
    jvp=(None, None),
    vjp=(
        lambda d, y, x, order, *, axis: reorder(d, argsort(order, axis=axis, kind="stable"), axis=axis),
        None,
    ),
    linear=1,
)

searchsorted = primitive(
    "searchsorted",
    lambda a, v, *, side: np.searchsorted(a, v, side=side),
    shape=lambda a, v, *, side: Spec(v.shape, np.intp),
    jvp=(None, None),
    vjp=(None, None),
)
