"""Cases of every primitive: arguments, settings, and what plain NumPy and SciPy make of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy import special as sp

import pellucid as pel
import pellucid.graph.primitives.sparse
import pellucid.graph.primitives.special
import pellucid.graph.primitives.statistics
from pellucid.graph.core.dims import Dim, resolve
from pellucid.graph.primitives.indexing import SLOT

N = Dim.symbol("n")
ROWS = 3  # what n stands for in the cases

rng = np.random.default_rng(2024)


def real(*shape: int) -> Any:
    """Away from zero and from the integers."""
    return np.asarray(rng.choice([-1.0, 1.0], shape) * (rng.integers(0, 2, shape) + rng.uniform(0.2, 0.8, shape)))


def positive(*shape: int) -> Any:
    return np.asarray(rng.uniform(0.4, 2.3, shape))


def unit(*shape: int) -> Any:
    return np.asarray(rng.uniform(0.15, 0.85, shape))


def above_one(*shape: int) -> Any:
    return np.asarray(rng.uniform(1.2, 3.0, shape))


def small(*shape: int) -> Any:
    return np.asarray(rng.choice([-1.0, 1.0], shape) * rng.uniform(0.3, 0.7, shape))


def large(*shape: int) -> Any:
    return np.asarray(rng.choice([-1.0, 1.0], shape) * rng.uniform(1.1, 1.9, shape))


def apart(*shape: int) -> Any:
    """No two elements closer than 0.3."""
    return np.asarray(0.3 * rng.permutation(int(np.prod(shape))).reshape(shape) - 0.5)


def mask(*shape: int) -> Any:
    return np.asarray(rng.integers(0, 2, shape), bool)


def distribution_by_numpy(x: Any, *, bins: int) -> Any:
    x = x.astype(float)
    mean, std = x.mean(), x.std()
    lower, upper = max(x.min(), mean - 5 * std), min(x.max(), mean + 5 * std)
    lower, upper = (lower, upper) if upper > lower else (lower - 0.5, lower + 0.5)
    counts, _ = np.histogram(np.clip(x, lower, upper), bins, (lower, upper))
    return np.array([mean, std, x.min(), x.max(), np.mean(x == 0), x.size, *counts])


def products_of_columns() -> Any:
    """Of five columns, of which the third is twice the first, and the last does not move."""
    columns = real(9, 5)
    columns[:, 2], columns[:, 4] = 2 * columns[:, 0], 0.0
    return columns.T @ columns


def likeness_by_numpy(products: Any) -> Any:
    return np.array([np.trace(products) ** 2 / np.sum(products**2), 0, 1, 0, 3, 4])


def sparse_by_numpy(entries: Any, rows: Any, columns: Any, b: Any, *, count: int) -> Any:
    matrix = np.zeros((count, b.shape[0]), entries.dtype)
    np.add.at(matrix, (rows, columns), entries)
    return matrix @ b


def integers(*shape: int) -> Any:
    return np.asarray(rng.integers(0, 50, shape))


def regular(*shape: int) -> Any:
    """Matrices far from singular."""
    return small(*shape) + 2 * np.eye(shape[-1])


def definite(*shape: int) -> Any:
    """Positive definite matrices, their eigenvalues far apart."""
    half = 0.3 * small(*shape)
    return half @ np.swapaxes(half, -1, -2) + np.diag(np.arange(1.0, 2 * shape[-1], 2))


@dataclass(frozen=True)
class Case:
    """Arguments of a primitive, and what plain NumPy makes of them. Python numbers among them are constants."""

    reference: Callable[..., Any]
    args: tuple[Any, ...]
    settings: dict[str, Any] = field(default_factory=dict)
    fixed: tuple[int, ...] = ()  # arguments that nobody may differentiate by
    open: tuple[int, ...] = ()  # arguments whose leading size may be open; settings may hold the size N
    open_vjp: bool = True

    def at(self, n: int) -> dict[str, Any]:
        return {key: resolve(setting, {"n": n}) for key, setting in self.settings.items()}

    def arrays(self, dtype: Any = np.float64) -> list[Any]:
        cast = [a.astype(dtype) if is_float(a) else np.array(a) for a in self.args if isinstance(a, np.ndarray)]
        for a in cast:
            a.flags.writeable = False
        return cast

    def resized(self, n: int) -> list[Any]:
        """The arguments with `n` rows where the leading size is open."""
        return [np.resize(a, (n, *a.shape[1:])) if i in self.open else a for i, a in enumerate(self.arrays())]

    def call(self, op: Callable[..., Any], settings: dict[str, Any]) -> Callable[..., Any]:
        """`op` as a function of the arrays alone."""

        def f(*arrays: Any) -> Any:
            rest = iter(arrays)
            return op(*(next(rest) if isinstance(a, np.ndarray) else a for a in self.args), **settings)

        return f

    def direct(self, arrays: list[Any], n: int = ROWS) -> Any:
        return self.call(self.reference, self.at(n))(*arrays)


def is_float(a: Any) -> bool:
    return isinstance(a, np.ndarray) and a.dtype.kind == "f"


def unary(reference: Callable[..., Any], draw: Callable[..., Any] = real) -> list[Case]:
    return [
        Case(reference, (draw(),)),
        Case(reference, (draw(ROWS, 2),), open=(0,)),
        Case(reference, (draw(0, 2),)),
    ]


def binary(
    reference: Callable[..., Any],
    left: Callable[..., Any] = real,
    right: Callable[..., Any] | None = None,
    number: Any = 1.5,
) -> list[Case]:
    right = right or left
    return [
        Case(reference, (left(), right())),
        Case(reference, (left(ROWS, 2), right(ROWS, 2)), open=(0, 1)),
        Case(reference, (left(ROWS, 1), right(4)), open=(0,)),
        Case(reference, (left(4), right(2, 1, 1))),
        Case(reference, (left(0, 3), right(3))),
        Case(reference, (left(ROWS), number), open=(0,)),
        Case(reference, (number, right(ROWS)), open=(0,)),
    ]


def reduction(reference: Callable[..., Any], draw: Callable[..., Any] = real, **flags: Any) -> list[Case]:
    settings = [
        ((0, 1), False),
        ((0,), False),
        ((1,), True),
        ((0, 1), True),
        ((), False),
    ]
    return [
        *(
            Case(reference, (draw(ROWS, 4),), {"axis": axis, "keepdims": keepdims}, open=(0,), **flags)
            for axis, keepdims in settings
        ),
        Case(reference, (draw(2, 3, 2),), {"axis": (0, 2), "keepdims": False}),
        Case(reference, (draw(),), {"axis": (), "keepdims": False}),
    ]


def along_axis(reference: Callable[..., Any], draw: Callable[..., Any] = real) -> list[Case]:
    return [Case(reference, (draw(ROWS, 4),), {"axis": axis}, open=(0,)) for axis in (0, 1)]


def matmul(*shapes: tuple[tuple[int, ...], tuple[int, ...]]) -> list[Case]:
    return [Case(np.matmul, (real(*a), real(*b))) for a, b in shapes]


def einsum(subscripts: str, *shapes: tuple[int, ...]) -> Case:
    return Case(
        lambda *xs, subscripts: np.einsum(subscripts, *xs),
        tuple(real(*s) for s in shapes),
        {"subscripts": subscripts},
    )


def _filled(x: Any, *arrays: Any, spec: tuple[Any, ...]) -> Any:
    rest = iter(arrays)
    return x[tuple(next(rest) if part is SLOT else part for part in spec)]


def getitem(shape: tuple[int, ...], spec: tuple[Any, ...], *arrays: Any, **flags: Any) -> Case:
    return Case(_filled, (real(*shape), *map(np.array, arrays)), {"spec": spec}, **flags)


def _scattered(d: Any, *arrays: Any, spec: tuple[Any, ...], shape: tuple[int, ...]) -> Any:
    """One element at a time: where each element of an array numbered throughout would be taken from."""
    out = np.zeros(shape, d.dtype)
    places = _filled(np.arange(out.size).reshape(shape), *arrays, spec=spec)
    for place, value in zip(np.ravel(places), np.ravel(d), strict=True):
        out.flat[place] += value
    return out


def _logsumexp(x: Any, *, axis: tuple[int, ...], keepdims: bool) -> Any:
    return sp.logsumexp(x, axis=axis, keepdims=keepdims) if axis else x


def _mixed_bits(key: int, counter: int, count: int, stream: int = 0) -> list[int]:
    """SplitMix64 in Python's integers."""
    word, gamma = 1 << 64, 0x9E3779B97F4A7C15

    def mix(z: int) -> int:
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9 % word
        z = (z ^ (z >> 27)) * 0x94D049BB133111EB % word
        return z ^ (z >> 31)

    start = mix(mix((int(key) + gamma) % word) ^ (int(counter) * gamma + stream) % word)
    return [mix((start + i * gamma) % word) for i in range(1, count + 1)]


def _uniform(key: Any, counter: Any, *, shape: tuple[int, ...], dtype: Any, stream: int = 0) -> Any:
    digits = {"float32": 24, "float64": 53}[np.dtype(dtype).name]
    drawn = [b >> (64 - digits) for b in _mixed_bits(key, counter, int(np.prod(shape)), stream)]
    return (np.array(drawn, dtype=np.float64) / 2.0**digits).astype(dtype).reshape(shape)


def _normal(key: Any, counter: Any, *, shape: tuple[int, ...], dtype: Any) -> Any:
    radius = np.sqrt(-2 * np.log1p(-_uniform(key, counter, shape=shape, dtype=dtype)))
    turns = _uniform(key, counter, shape=shape, dtype=dtype, stream=1)
    return radius * np.cos(np.dtype(dtype).type(2 * np.pi) * turns)


def _bernoulli(key: Any, counter: Any, p: Any, *, shape: tuple[int, ...], dtype: Any) -> Any:
    return (_uniform(key, counter, shape=shape, dtype=np.float32) < p).astype(dtype)


def _one_hot(labels: Any, *, classes: int, dtype: Any) -> Any:
    return np.eye(classes, dtype=dtype)[labels]


def _full_like(x: Any, fill: Any, *, dtype: Any) -> Any:
    return np.full(x.shape, fill, dtype)


def _recurrence(a: Any, b: Any, *, axis: int) -> Any:
    """y_i = a_i y_{i-1} + b_i, one element at a time."""
    out = np.moveaxis(np.zeros_like(a + b), axis, 0)
    previous = 0 * out[0] if len(out) else 0
    for i, (factor, term) in enumerate(zip(np.moveaxis(a, axis, 0), np.moveaxis(b, axis, 0), strict=True)):
        out[i] = previous = factor * previous + term
    return np.moveaxis(out, 0, axis)


def _cofactors(a: Any) -> Any:
    """One minor at a time."""
    n = a.shape[-1]
    out = np.zeros_like(a)
    for i, j in np.ndindex(n, n):
        minor = np.delete(np.delete(a.astype(float), i, axis=-2), j, axis=-1)
        out[..., i, j] = (-1) ** (i + j) * np.linalg.det(minor)
    return out


def _eigh(a: Any) -> Any:
    w, v = np.linalg.eigh(a)
    return np.concatenate([w[..., None], v], axis=-1)


def _pinv(a: Any, *, rcond: Any) -> Any:
    return np.linalg.pinv(a)


CASES: dict[str, list[Case]] = {
    # arithmetic
    "add": binary(np.add),
    "subtract": binary(np.subtract),
    "multiply": binary(np.multiply),
    "divide": binary(np.divide),
    "negative": unary(np.negative),
    "positive": unary(np.positive),
    "reciprocal": unary(np.reciprocal),
    "square": unary(np.square),
    "sqrt": unary(np.sqrt, positive),
    "cbrt": unary(np.cbrt),
    "power": [
        *binary(np.power, positive, real),
        Case(np.power, (real(3), 3)),
        Case(np.power, (real(3), -2.0)),
        Case(np.power, (real(3), 0)),
        Case(np.power, (real(2, 3), np.array([0, 1, 3]))),
        Case(np.power, (positive(3), np.array([0.0, 1.0, 2.0]))),
        Case(np.power, (2, real(3))),
    ],
    **{
        f.__name__: [
            *binary(f, small, large, number=0.9),
            Case(f, (np.array([5.3, -5.3, 7.1]), np.array([2, -2, -3.0]))),
        ]
        for f in (np.floor_divide, np.remainder, np.fmod)
    },
    "hypot": binary(np.hypot),
    # exponentials and logarithms
    "exp": unary(np.exp),
    "exp2": unary(np.exp2),
    "expm1": unary(np.expm1),
    "log": unary(np.log, positive),
    "log2": unary(np.log2, positive),
    "log10": unary(np.log10, positive),
    "log1p": unary(np.log1p, positive),
    "logaddexp": binary(np.logaddexp),
    # trigonometric and hyperbolic functions
    "sin": unary(np.sin),
    "cos": unary(np.cos),
    "tan": unary(np.tan, unit),
    "arcsin": unary(np.arcsin, unit),
    "arccos": unary(np.arccos, unit),
    "arctan": unary(np.arctan),
    "arctan2": binary(np.arctan2),
    "sinh": unary(np.sinh),
    "cosh": unary(np.cosh),
    "tanh": unary(np.tanh),
    "arcsinh": unary(np.arcsinh),
    "arccosh": unary(np.arccosh, above_one),
    "arctanh": unary(np.arctanh, unit),
    # kinks
    "absolute": unary(np.absolute),
    "fabs": unary(np.fabs),
    "maximum": binary(np.maximum, small, large, number=0.9),
    "minimum": binary(np.minimum, small, large, number=0.9),
    "clip": [
        Case(np.clip, (real(ROWS, 4), -0.9, 0.9), open=(0,)),
        Case(np.clip, (real(), -0.9, 0.9)),
        Case(np.clip, (np.array([[-2.0], [0.1], [2.0]]), -(small(4) ** 2), small(4) ** 2 + 0.2), open=(0,)),
        Case(np.clip, (real(4), np.array(-1.0), 0.9)),
        Case(np.clip, (real(0), -1, 1)),
    ],
    # no slope
    **{f.__name__: unary(f) for f in (np.sign, np.floor, np.ceil, np.rint, np.trunc)},
    **{f.__name__: unary(f) for f in (np.isnan, np.isinf, np.isfinite, np.logical_not)},
    "invert": [*unary(np.invert, mask), *unary(np.invert, integers)],
    **{f.__name__: binary(f) for f in (np.greater, np.greater_equal, np.less, np.less_equal, np.equal, np.not_equal)},
    **{
        f.__name__: [*binary(f, mask, number=True), *binary(f, real)]
        for f in (np.logical_and, np.logical_or, np.logical_xor)
    },
    **{
        f.__name__: [*binary(f, mask, number=True), *binary(f, integers, number=3)]
        for f in (np.bitwise_and, np.bitwise_or, np.bitwise_xor)
    },
    "copysign": binary(np.copysign),
    "heaviside": binary(np.heaviside),
    "where": [
        Case(np.where, (mask(ROWS, 2), real(ROWS, 2), real(ROWS, 2)), open=(0, 1, 2)),
        Case(np.where, (mask(ROWS, 1), real(4), real()), open=(0,)),
        Case(np.where, (mask(4), real(3, 1), 0), open=(1,)),
        Case(np.where, (mask(4), -1.5, real(4))),
        Case(np.where, (mask(), real(2), real(2))),
    ],
    "astype": [
        Case(lambda x, *, dtype: x.astype(dtype), args, {"dtype": np.dtype(dtype)}, open=(0,))
        for dtype, args in [
            ("float64", (real(ROWS),)),
            ("int64", (real(ROWS, 2),)),
            ("bool", (real(ROWS),)),
            ("float64", (integers(ROWS),)),
        ]
    ],
    "stop_gradient": unary(lambda x: x),
    # indexing
    "getitem": [
        getitem((ROWS, 4), (1,)),
        getitem((ROWS, 4), (Ellipsis, -1), open=(0,)),
        getitem((ROWS, 4), (slice(None), slice(1, 3)), open=(0,)),
        getitem((ROWS, 4), (slice(1, None),), open=(0,)),
        getitem((ROWS, 4), (slice(None, None, -1), slice(None, None, -2)), open=(0,)),
        getitem((ROWS, 4), (slice(3, 0, -2),)),
        getitem((ROWS, 4), (None, slice(None), None, 2), open=(0,)),
        getitem((), ()),
        getitem((), (None,)),
        getitem((5,), (slice(5, None),)),
        getitem((5,), (SLOT,), [0, 2, 2, -1, 0]),
        getitem((5,), (SLOT,), np.zeros((0,), int)),
        getitem((ROWS, 4), (slice(None), SLOT), [[1, 1], [0, 3]], open=(0,)),
        getitem((ROWS, 4), (SLOT, SLOT), [0, 1, 1], [3, 2, 2]),
        getitem((ROWS, 4), (SLOT, SLOT), [[0], [2]], [3, 3, 1]),
        getitem((2, 3, 4), (SLOT, slice(None), SLOT), [0, 1, 1], [3, 2, 2]),
        getitem((2, 3, 4), (0, slice(None), SLOT), [0, 1, 1]),
        getitem((2, 3, 4), (slice(None), 1, SLOT), [0, 1, 1]),
        getitem((2, 3, 4), (SLOT, None, SLOT, Ellipsis), [0, 1, 1], [0, 2, 2]),
        getitem((2, 3, 4), (Ellipsis, SLOT, slice(0, 2)), [0, 1, 1]),
    ],
    "scatter_add": [
        Case(_scattered, (real(4),), {"spec": (1,), "shape": (ROWS, 4)}),
        Case(_scattered, (real(ROWS),), {"spec": (slice(None), 2), "shape": (N, 4)}, open=(0,)),
        Case(_scattered, (real(2, 4),), {"spec": (slice(None, None, -2),), "shape": (4, 4)}),
        Case(_scattered, (real(),), {"spec": (), "shape": ()}),
        Case(_scattered, (real(4), np.array([0, 2, 2, 0])), {"spec": (SLOT,), "shape": (5,)}),
        Case(_scattered, (real(2, 3), np.array([1, 1])), {"spec": (SLOT,), "shape": (5, 3)}),
        Case(
            _scattered,
            (real(3, 2), np.array([0, 1, 1]), np.array([0, 3, 3])),
            {"spec": (SLOT, slice(None), SLOT), "shape": (2, 2, 4)},
        ),
    ],
    "one_hot": [
        Case(_one_hot, (np.array([2, 0, 1]),), {"classes": 3, "dtype": np.dtype(float)}, open=(0,)),
        Case(_one_hot, (np.array([[2, 0]]),), {"classes": 4, "dtype": np.dtype(np.float32)}),
        Case(_one_hot, (np.array(1),), {"classes": 2, "dtype": np.dtype(float)}),
    ],
    # products
    "sparse_matmul": [
        Case(
            sparse_by_numpy,
            (real(ROWS), np.array([3, 0, 3]), np.array([1, 4, 0]), real(5, 2)),
            {"count": 4},
            open=(0, 1, 2),
        ),
        Case(sparse_by_numpy, (real(3), np.array([2, 2, 2]), np.array([0, 1, 0]), real(2, 3)), {"count": 3}),
        Case(sparse_by_numpy, (real(0), np.zeros(0, int), np.zeros(0, int), real(5, 2)), {"count": 2}),
    ],
    "matmul": [
        *matmul(
            ((2,), (2,)),
            ((3, 2), (2,)),
            ((2,), (2, 3)),
            ((5, 3, 2), (2,)),
            ((2,), (5, 2, 3)),
            ((5, 3, 2), (5, 2, 4)),
            ((5, 1, 3, 2), (4, 2, 2)),
            ((3, 2), (5, 2, 4)),
            ((3, 0), (0, 4)),
            ((0, 2), (2, 3)),
        ),
        Case(np.matmul, (real(ROWS, 2), real(2, 4)), open=(0,)),
        Case(np.matmul, (real(ROWS, 2, 4), real(ROWS, 4, 2)), open=(0, 1)),
    ],
    "einsum": [
        einsum("ij,jk->ik", (3, 2), (2, 4)),
        einsum("i,i->", (3,), (3,)),
        einsum("i,j->ij", (3,), (2,)),
        einsum("bij,bjk->bik", (5, 3, 2), (5, 2, 4)),
        einsum("ij->ji", (3, 2)),
        einsum("ij->", (3, 2)),
        einsum("ij->j", (3, 2)),
        einsum("ij,k->i", (3, 2), (4,)),
        einsum("ij,jk,kl->il", (3, 2), (2, 4), (4, 2)),
        einsum("ij,ij->ij", (3, 1), (3, 4)),
        einsum("ij,j->i", (3, 4), (1,)),
        einsum("ij,ij->i", (1, 4), (3, 1)),
        einsum(",i->i", (), (3,)),
        Case(
            lambda a, b, *, subscripts: np.einsum(subscripts, a, b),
            (real(ROWS, 2), real(2, 4)),
            {"subscripts": "ij,jk->ki"},
            open=(0,),
        ),
    ],
    # shapes
    "reshape": [
        Case(lambda x, *, shape: np.reshape(x, shape), (real(ROWS, 4),), {"shape": shape}, open=(0,))
        for shape in [(N * 4,), (N * 2, 2), (1, N, 4), (N, 2, 2)]
    ]
    + [
        Case(lambda x, *, shape: np.reshape(x, shape), (real(*old),), {"shape": new})
        for old, new in [((), (1,)), ((1, 1), ()), ((0, 3), (3, 0))]
    ],
    "transpose": [
        Case(np.transpose, (real(ROWS, 2),), {"axes": (1, 0)}, open=(0,)),
        Case(np.transpose, (real(ROWS, 2, 4),), {"axes": (2, 0, 1)}, open=(0,)),
        Case(np.transpose, (real(),), {"axes": ()}),
    ],
    "broadcast_to": [
        Case(np.broadcast_to, (real(ROWS, 1),), {"shape": (2, N, 4)}, open=(0,)),
        Case(np.broadcast_to, (real(),), {"shape": (2, 3)}),
        Case(np.broadcast_to, (real(1, 3),), {"shape": (0, 3)}),
    ],
    "flip": [Case(np.flip, (real(ROWS, 4),), {"axis": axis}, open=(0,)) for axis in [(0,), (1,), (0, 1)]],
    "concatenate": [
        Case(lambda *xs, axis: np.concatenate(xs, axis=axis), (real(ROWS, 2), real(2, 2)), {"axis": 0}, open=(0,)),
        Case(
            lambda *xs, axis: np.concatenate(xs, axis=axis),
            (real(ROWS, 2), real(ROWS, 1), real(ROWS, 0)),
            {"axis": 1},
            open=(0, 1, 2),
        ),
        Case(lambda *xs, axis: np.concatenate(xs, axis=axis), (real(3), integers(2)), {"axis": 0}),
    ],
    "pad": [
        Case(lambda x, *, width: np.pad(x, width), (real(ROWS, 2),), {"width": width}, open=(0,))
        for width in [((0, 0), (1, 2)), ((2, 1), (0, 0))]
    ],
    "full_like": [
        Case(_full_like, (real(ROWS, 2), real()), {"dtype": np.dtype(float)}, open=(0,)),
        Case(_full_like, (real(ROWS, 2), 1.5), {"dtype": np.dtype(float)}, open=(0,)),
        Case(_full_like, (real(ROWS, 2), real(2)), {"dtype": np.dtype(float)}, open=(0,)),
    ],
    # reductions
    "sum": [*reduction(np.sum), Case(np.sum, (real(0, 3),), {"axis": (0,), "keepdims": False})],
    "mean": reduction(np.mean),
    "max": reduction(np.max, apart),
    "min": reduction(np.min, apart),
    "prod": [
        *reduction(np.prod, open_vjp=False),
        *(Case(np.prod, (real(n),), {"axis": (0,), "keepdims": False}) for n in (0, 1, 2, 5, 7)),
    ],
    "logsumexp": reduction(_logsumexp),
    "any": reduction(np.any, mask),
    "all": reduction(np.all, mask),
    "argmax": [*along_axis(np.argmax, apart), Case(np.argmax, (apart(3, 4),), {"axis": None})],
    "argmin": [*along_axis(np.argmin, apart), Case(np.argmin, (apart(3, 4),), {"axis": None})],
    "cumsum": along_axis(np.cumsum),
    "cumprod": [
        *along_axis(np.cumprod),
        Case(np.cumprod, (np.array([[2.0, 0.0, 3.0, 0.0, 1.5], [0.0, 0.0, 1.0, 2.0, 4.0]]),), {"axis": 1}),
        Case(np.cumprod, (real(0),), {"axis": 0}),
        Case(np.cumprod, (real(2, 3, 2),), {"axis": 1}),
    ],
    "recurrence": [
        *(Case(_recurrence, (real(ROWS, 4), real(ROWS, 4)), {"axis": axis}, open=(0, 1)) for axis in (0, 1)),
        Case(_recurrence, (np.array([0.5, 0.0, 2.0, 0.0]), real(4)), {"axis": 0}),
        Case(_recurrence, (real(0), real(0)), {"axis": 0}),
    ],
    # order
    "argsort": [
        Case(np.argsort, (apart(ROWS, 4),), {"axis": axis, "kind": kind}, open=(0,))
        for axis, kind in [(0, "stable"), (1, "quicksort")]
    ],
    "reorder": [
        Case(np.take_along_axis, (real(ROWS, 4), np.argsort(real(ROWS, 4), axis=1)), {"axis": 1}, open=(0, 1)),
        Case(np.take_along_axis, (real(2, 4, 3), np.argsort(real(2, 4, 3), axis=1)), {"axis": 1}),
    ],
    "distribution": [
        Case(distribution_by_numpy, (real(ROWS, 4),), {"bins": 5}, fixed=(0,), open=(0,)),
        Case(distribution_by_numpy, (np.array([0.0, 0.0, 3.0, 1.0, 50.0] + [1.0] * 40),), {"bins": 8}, fixed=(0,)),
        Case(distribution_by_numpy, (np.full((2, 2), 3.0),), {"bins": 3}, fixed=(0,)),
    ],
    "column_moments": [
        Case(
            lambda x: np.stack([f(x.astype(float), axis=0) for f in (np.mean, np.std, np.min, np.max)]),
            (real(ROWS, 4),),
            fixed=(0,),
            open=(0,),
        )
    ],
    "likeness": [Case(likeness_by_numpy, (products_of_columns(),), fixed=(0,))],
    "searchsorted": [
        Case(np.searchsorted, (np.sort(real(5)), real(ROWS, 2)), {"side": side}, open=(1,))
        for side in ("left", "right")
    ],
    # linear algebra
    "solve": [
        Case(np.linalg.solve, (regular(3, 3), real(3, 2))),
        Case(np.linalg.solve, (regular(ROWS, 2, 2), real(ROWS, 2, 1)), open=(0, 1)),
        Case(np.linalg.solve, (regular(2, 2), real(4, 2, 3))),
        Case(np.linalg.solve, (regular(2, 1, 3, 3), real(4, 3, 2))),
        Case(np.linalg.solve, (regular(1, 2, 2), real(2, 2))),
    ],
    **{
        name: [Case(f, (regular(3, 3),)), Case(f, (regular(ROWS, 2, 2),), open=(0,)), Case(f, (regular(2, 2, 1, 1),))]
        for name, f in {
            "det": np.linalg.det,
            "cofactors": _cofactors,
            "log_abs_det": lambda a: np.linalg.slogdet(a)[1],
            "sign_of_det": lambda a: np.linalg.slogdet(a)[0],
        }.items()
    },
    **{
        name: [
            Case(f, (definite(3, 3),)),
            Case(f, (definite(ROWS, 2, 2),), open=(0,)),
            Case(f, (definite(2, 1, 4, 4),)),
        ]
        for name, f in {"cholesky": np.linalg.cholesky, "eigh": _eigh}.items()
    },
    "pinv": [
        Case(_pinv, (real(*shape),), {"rcond": None}, open=(0,) if shape[0] == ROWS else ())
        for shape in [(4, 2), (2, 4), (ROWS, 4, 2), (2, 2, 4)]
    ],
    # random numbers: the reference is SplitMix64 in Python's integers
    "random_uniform": [
        Case(_uniform, (np.array(7), np.array(2)), {"shape": (5, 2), "dtype": np.dtype(dtype)})
        for dtype in (np.float32, np.float64)
    ],
    "random_normal": [
        Case(_normal, (np.array(7), np.array(2)), {"shape": (5, 2), "dtype": np.dtype(dtype)})
        for dtype in (np.float32, np.float64)
    ],
    "random_bernoulli": [
        Case(_bernoulli, (np.array(7), np.array(2), p), {"shape": (5, 2), "dtype": np.dtype(np.float64)})
        for p in (0.3, unit(), unit(2))
    ],
    # SciPy's special functions
    "erf": unary(sp.erf),
    "erfc": unary(sp.erfc),
    "erfinv": unary(sp.erfinv, unit),
    "ndtr": unary(sp.ndtr),
    "log_ndtr": unary(sp.log_ndtr),
    "ndtri": unary(sp.ndtri, unit),
    "expit": unary(sp.expit),
    "log_expit": unary(sp.log_expit),
    "logit": unary(sp.logit, unit),
    "xlogy": binary(sp.xlogy, positive),
    "xlog1py": binary(sp.xlog1py, positive),
    "entr": unary(sp.entr, positive),
    "rel_entr": binary(sp.rel_entr, positive),
    "gammaln": unary(sp.gammaln, positive),
    "psi": unary(sp.psi, above_one),
    "zeta": [
        Case(sp.zeta, (2.0, positive(ROWS)), open=(0,)),
        Case(sp.zeta, (above_one(3, 1) + 1, positive(4)), fixed=(0,)),
    ],
}


def floats(case: Case) -> list[int]:
    """Positions, among the arrays, of those one may differentiate by."""
    arrays = [(i, a) for i, a in enumerate(case.args) if isinstance(a, np.ndarray)]
    return [k for k, (i, a) in enumerate(arrays) if is_float(a) and i not in case.fixed]


def differentiable(name: str, case: Case) -> bool:
    return bool(floats(case)) and np.asarray(case.direct(case.arrays())).dtype.kind == "f"


def of_floats(f: Callable[..., Any], case: Case, arrays: list[Any]) -> tuple[Callable[..., Any], list[Any]]:
    """`f` as a function of its floating-point arguments, the others held fixed; and those arguments."""
    active = floats(case)

    def g(*xs: Any) -> Any:
        given = dict(zip(active, xs, strict=True))
        return f(*(given.get(k, a) for k, a in enumerate(arrays)))

    return g, [arrays[k] for k in active]


def open_specs(case: Case) -> list[pel.Spec]:
    return [pel.Spec(("n", *a.shape[1:]) if i in case.open else a.shape, a.dtype) for i, a in enumerate(case.arrays())]
