"""Plain NumPy on traced arrays: the same values, the right derivatives, and errors that say what to do."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.testing import assert_allclose, assert_array_equal
from scipy import special as sp

import pellucid as pel
import pellucid.graph.primitives.special
from pellucid.errors import AbstractValueError, ShapeError, UnsupportedError
from pellucid.graph.core.primitive import FUNCTIONS, METHODS, UFUNCS
from pellucid.graph.core.tree import flatten

X = np.array([[0.7, -1.3, 2.2, 0.4], [-0.6, 1.9, -2.8, 1.1], [3.1, -0.2, 0.9, -1.7]])
Y = np.array([[1.2, 0.3, -0.8, 2.5], [0.9, -1.4, 0.6, 1.8], [-2.1, 1.6, 0.5, -0.9]])
V = np.array([0.5, -1.5, 2.5, 1.25])
CUBE = np.linspace(-1.0, 2.0, 24).reshape(2, 3, 4) ** 3 + 0.1

SHIFT = np.arange(1.0, 5.0)
SQUARES = CUBE[:, :, :3] + 3 * np.eye(3)
DEFINITE = SQUARES @ np.swapaxes(SQUARES, 1, 2)
KNOTS = np.array([-1.0, 0.0, 0.75, 2.0])
HEIGHTS = np.array([2.0, -1.0, 0.5, 0.0])

needs_values = "needs values"  # cannot be recorded by shape alone

norm: Callable[..., Any] = np.linalg.norm  # NumPy accepts more than its stubs say

Row = tuple[Any, ...]  # a function of arrays, its arguments, and perhaps `needs_values`

API: dict[Any, list[Row]] = {
    # elementwise
    np.where: [(lambda x, y: np.where(x > 0, x, 2 * y), X, Y), (lambda x: np.where(x > 0, x, 0), X)],
    np.clip: [
        (lambda x: np.clip(x, -1, 1), X),
        (lambda x: np.clip(x, 0.1, None), X),
        (lambda x: np.clip(x, None, 0.1), X),
        (lambda x: np.clip(x, a_min=-1.0, a_max=V + 3), X),
        (lambda x: np.clip(x, min=-1.0, max=1.0), X),
        (lambda v: np.clip(X, -v, 2.6), np.abs(V) + 0.01),
        (lambda i: np.clip(i, 1, None), np.arange(4)),
    ],
    np.around: [(np.around, X), (lambda x: np.around(x, 1), X / 3)],
    np.round: [
        (np.round, X),
        (lambda x: np.round(x, 1), X / 3),
        (lambda x: np.round(x, decimals=-1), X * 7),
        (np.round, np.arange(3)),
    ],
    np.nan_to_num: [(np.nan_to_num, np.array([1.5, np.nan])), (lambda x: np.nan_to_num(x, nan=3.0), V)],
    np.isclose: [(lambda x: np.isclose(x, np.round(x, 1), atol=0.01), X / 3), (lambda x: np.isclose(X, x), X)],
    np.allclose: [(lambda x: np.allclose(x, x), X), (lambda x: np.allclose(x, 0.0), X)],
    np.array_equal: [(lambda x: np.array_equal(x, x), X), (lambda x: np.array_equal(x, x[0]), X)],
    # indexing
    np.take: [
        (lambda x: np.take(x, [3, 0, 0, -1]), X),
        (lambda x: np.take(x, [[0, 2], [2, 2]], axis=-1), X),
        (lambda x: np.take(x, 1, axis=0), X),
        (lambda x, i: np.take(x, i, axis=1), X, np.array([1, 1, 3])),
    ],
    np.take_along_axis: [
        (lambda x: np.take_along_axis(x, np.argsort(X, axis=1), axis=1), X),
        (lambda x: np.take_along_axis(x, np.array([[0, 2, 2, 1]]), axis=0), X),
        (lambda x: np.take_along_axis(x, np.array([[3]]), axis=1), X),
        (lambda x: np.take_along_axis(x, np.array([5, 5, 0]), axis=None), X),
    ],
    np.diagonal: [
        (np.diagonal, X),
        (lambda x: np.diagonal(x, 1), X),
        (lambda x: np.diagonal(x, offset=-2), X),
        (np.diagonal, CUBE),
        (lambda x: np.diagonal(x, 1, -2, -1), CUBE),
    ],
    np.diag: [(np.diag, V), (lambda v: np.diag(v, 1), V), (lambda v: np.diag(v, k=-2), V), (np.diag, X)],
    np.trace: [
        (np.trace, X),
        (lambda x: np.trace(x, offset=1), X),
        (lambda x: np.trace(x, axis1=-2, axis2=-1), CUBE),
    ],
    # products
    np.dot: [
        (np.dot, X, V),
        (np.dot, V, V),
        (np.dot, X, Y.T),
        (lambda x, s: np.dot(s, x), X, np.array(1.5)),
        (np.dot, CUBE, V),
        (np.dot, V, np.swapaxes(CUBE, 1, 2)),
        (np.dot, X, np.swapaxes(CUBE, 1, 2)),
    ],
    np.outer: [(np.outer, V, V[:2]), (np.outer, X[:2], V)],
    np.vdot: [(np.vdot, X, Y)],
    np.inner: [(np.inner, V, V), (np.inner, X, Y), (np.inner, CUBE, V), (np.inner, np.array(2.0), V)],
    np.tensordot: [
        (lambda x, y: np.tensordot(x, y, axes=1), X, Y.T),
        (np.tensordot, X, Y),
        (lambda x, y: np.tensordot(x, y, axes=0), X, V),
        (lambda x, y: np.tensordot(x, y, axes=([0, 1], [1, 2])), X, CUBE),
        (lambda x, y: np.tensordot(x, y, axes=(1, -1)), X, CUBE),
    ],
    np.einsum: [
        (lambda x, y: np.einsum("ij,kj->ik", x, y), X, Y),
        (lambda x, y: np.einsum("ij, kj", x, y), X, Y),
        (lambda x: np.einsum("ij->", x), X),
        (lambda x, y: np.einsum("bij,ij->b", x, y), CUBE, X),
    ],
    # reductions
    **{
        f: [
            (f, X),
            (lambda x, f=f: f(x, axis=0), X),
            (lambda x, f=f: f(x, -1), X),
            (lambda x, f=f: f(x, axis=(0, 2), keepdims=True), CUBE),
        ]
        for f in (np.sum, np.mean, np.max, np.amax, np.min, np.amin, np.prod, np.ptp, np.var, np.std)
    },
    np.any: [(lambda x: np.any(x > 2, axis=1), X), (lambda x: np.any(x > 9), X)],
    np.all: [(lambda x: np.all(x > -2, axis=1, keepdims=True), X), (lambda x: np.all(x > -9), X)],
    np.average: [
        (np.average, X),
        (lambda x, w: np.average(x, weights=w), X, np.abs(Y)),
        (lambda x, w: np.average(x, axis=1, weights=w), X, np.abs(V)),
        (lambda x, w: np.average(x, axis=0, weights=w), X, np.array([1.0, 2.0, 0.5])),
        (lambda w: np.average(X, axis=-1, weights=w), np.abs(V)),
    ],
    np.cumsum: [(np.cumsum, X), (lambda x: np.cumsum(x, axis=-1), X), (lambda x: np.cumsum(x, 0), X)],
    np.cumprod: [
        (np.cumprod, X),
        (lambda x: np.cumprod(x, axis=-1), X * np.array([1.0, 0.0, 1.0, 0.0])),
        (lambda x: np.cumprod(x, 0), np.arange(6).reshape(2, 3)),
    ],
    **(
        {
            f: [
                (lambda x, f=f: f(x, axis=1), X),
                (lambda x, f=f: f(x, axis=0, include_initial=True), X),
                (f, V),
            ]
            for f in (np.cumulative_sum, np.cumulative_prod)
        }
        if hasattr(np, "cumulative_sum")
        else {}
    ),
    np.diff: [
        (np.diff, X),
        (lambda x: np.diff(x, axis=0), X),
        (lambda x: np.diff(x, n=2), X),
        (lambda x: np.diff(x, n=0), X),
        (lambda x: np.diff(x, prepend=0, append=x[:, :2]), X),
        (lambda x: np.diff(x, 2, 0, prepend=1.5), X),
        (lambda x: np.diff(X, axis=1, append=x), X),
        (lambda x: np.diff(x > 0), X),
    ],
    np.argmax: [(np.argmax, X), (lambda x: np.argmax(x, axis=-1), X)],
    np.argmin: [(np.argmin, X), (lambda x: np.argmin(x, axis=0), X)],
    np.sort: [
        (np.sort, X),
        (lambda x: np.sort(x, axis=0), X),
        (lambda x: np.sort(x, axis=None), X),
        (lambda x: np.sort(x, axis=1, kind="stable"), CUBE),
        (np.sort, np.array([3, 1, 2])),
    ],
    np.argsort: [
        (np.argsort, X),
        (lambda x: np.argsort(x, axis=0, stable=True), X),
        (lambda x: np.argsort(x, axis=None), X),
    ],
    np.searchsorted: [
        (lambda x: np.searchsorted(np.sort(V), x, side="right"), X),
        (lambda v: np.searchsorted(np.sort(v), 0.7), V),
    ],
    np.median: [
        (np.median, X),
        (np.median, X[:, :3]),
        (lambda x: np.median(x, axis=0), X),
        (lambda x: np.median(x, axis=-1, keepdims=True), X),
        (lambda x: np.median(x, axis=(0, 2), keepdims=True), CUBE),
        (lambda x: np.median(x, axis=(2, 0)), CUBE),
        (lambda x: np.median(x, axis=1), np.array([[3, 1, 2, 5], [0, 9, 9, 1]])),
        (lambda x: np.median(x, axis=1), np.array([[np.nan, 1.0, 2.0], [5.0, 0.0, 3.0]])),
        (np.median, np.array(2.0)),
    ],
    np.quantile: [
        (lambda x: np.quantile(x, 0.3), X),
        (lambda x: np.quantile(x, [0.0, 0.25, 1.0], axis=1), X),
        (lambda x: np.quantile(x, [[0.1, 0.9]], axis=0, keepdims=True), X),
        (lambda x: np.quantile(x, 0.8, axis=(0, 2)), CUBE),
        (lambda x: np.quantile(x, 0.5, axis=1), np.array([[3, 1, 2, 5], [0, 9, 9, 1]])),
        (lambda x: np.quantile(x, [0.2, 0.5], axis=1), np.array([[np.nan, 1.0, 2.0], [5.0, 0.0, 3.0]])),
    ],
    np.percentile: [(lambda x: np.percentile(x, 90, axis=0), X), (lambda x: np.percentile(x, [5, 50]), X)],
    np.interp: [
        (lambda x: np.interp(x, KNOTS, HEIGHTS), X),
        (lambda x: np.interp(x, KNOTS, HEIGHTS, left=-9.0, right=9.0), X),
        (lambda x: np.interp(x, KNOTS, HEIGHTS, period=2.53), X),
        (lambda y: np.interp(X, KNOTS, y), HEIGHTS),
        (np.interp, X, KNOTS, HEIGHTS),
        (lambda x: np.interp(x, [0.5], [3.0]), X),
        (lambda x: np.interp(x, KNOTS, HEIGHTS), np.array([-np.inf, np.inf, np.nan, *KNOTS])),
        (lambda x: np.interp(x, KNOTS, HEIGHTS), np.arange(3)),
    ],
    # linear algebra
    np.linalg.solve: [
        (np.linalg.solve, SQUARES, V[:3]),
        (np.linalg.solve, SQUARES[0], X),
        (lambda b: np.linalg.solve(SQUARES[1].tolist(), b), X),
        (np.linalg.solve, SQUARES, CUBE[:, :, :2]),
        (np.linalg.solve, np.array([[3, 1], [1, 2]]), np.array([9, 8])),
    ],
    **{f: [(f, SQUARES), (f, np.array([[3, 1], [1, 2]]))] for f in (np.linalg.inv, np.linalg.det, np.linalg.slogdet)},
    np.linalg.cholesky: [
        (np.linalg.cholesky, DEFINITE),
        (lambda a: np.linalg.cholesky(a, upper=True), DEFINITE[0]),
        (np.linalg.cholesky, np.tril(DEFINITE)),
    ],
    np.linalg.eigh: [
        (np.linalg.eigh, np.diag([1.0, 3.0, 6.0]) + 0.05),
        (lambda a: np.linalg.eigh(a, UPLO="U"), np.triu(np.diag([1.0, 3.0, 6.0]) + 0.05)),
    ],
    np.linalg.eigvalsh: [(np.linalg.eigvalsh, DEFINITE), (lambda a: np.linalg.eigvalsh(a, "U"), DEFINITE)],
    np.linalg.pinv: [(np.linalg.pinv, X), (np.linalg.pinv, np.swapaxes(CUBE, 1, 2) + np.eye(4, 3))],
    np.linalg.matrix_power: [(lambda a, n=n: np.linalg.matrix_power(a, n), SQUARES) for n in (-2, 0, 1, 2, 5)],
    np.linalg.svd: [(lambda x: np.linalg.svd(x, compute_uv=False), X)],
    np.linalg.svdvals: [(np.linalg.svdvals, X), (np.linalg.svdvals, SQUARES)],
    np.tril: [(np.tril, X), (lambda x: np.tril(x, -1), SQUARES)],
    np.triu: [(np.triu, X), (lambda x: np.triu(x, k=1), SQUARES)],
    np.linalg.norm: [
        (np.linalg.norm, V),
        (np.linalg.norm, X),
        (lambda x: np.linalg.norm(x, "fro"), X),
        (lambda x: np.linalg.norm(x, axis=1, keepdims=True), X),
        (lambda x: np.linalg.norm(x, 1, axis=0), X),
        (lambda x: np.linalg.norm(x, np.inf), V),
        (lambda x: np.linalg.norm(x, 2, axis=-1), X),
        *((lambda x, p=p: np.linalg.norm(x, p, axis=1), X) for p in (0, 3, 2.5, 0.5, -1, -np.inf, np.int64(3))),
        *((lambda x, p=p: np.linalg.norm(x, p), X) for p in ("nuc", 1, -1, 2, -2, np.inf, -np.inf)),
        (lambda x: np.linalg.norm(x, "nuc", axis=(2, 0)), CUBE**2 + SHIFT),
        (lambda x: np.linalg.norm(x, 1, axis=(-1, 0), keepdims=True), CUBE),
        (lambda x: np.linalg.norm(x, axis=(0, 1)), CUBE),
        (lambda x: norm(x, keepdims=True), CUBE),
        (np.linalg.norm, np.array([3, 4])),
    ],
    np.linalg.vector_norm: [
        (np.linalg.vector_norm, X),
        (lambda x: np.linalg.vector_norm(x, axis=(0, 2), keepdims=True, ord=3), CUBE),
        (lambda x: np.linalg.vector_norm(x, axis=1, ord=1), CUBE),
    ],
    np.linalg.matrix_norm: [
        (np.linalg.matrix_norm, CUBE),
        (lambda x: np.linalg.matrix_norm(x, ord=np.inf, keepdims=True), CUBE),
    ],
    # shapes
    np.shape: [(np.shape, X)],
    np.ndim: [(np.ndim, X)],
    np.size: [(np.size, X), (lambda x: np.size(x, 1), X)],
    np.reshape: [
        (lambda x: np.reshape(x, (2, -1)), X),
        (lambda x: np.reshape(x, -1), X),
        (lambda x: np.reshape(x, shape=[4, 3]), X),
        (lambda x: np.reshape(x, np.array([4, 3])), X),
        (lambda x: np.reshape(x, ()), np.array([2.0])),
    ],
    np.ravel: [(np.ravel, X), (np.ravel, np.array(2.0))],
    np.transpose: [
        (np.transpose, X),
        (lambda x: np.transpose(x, (2, 0, 1)), CUBE),
        (lambda x: np.transpose(x, axes=(0, -1, 1)), CUBE),
    ],
    np.swapaxes: [(lambda x: np.swapaxes(x, 0, -1), CUBE)],
    np.moveaxis: [
        (lambda x: np.moveaxis(x, 0, -1), CUBE),
        (lambda x: np.moveaxis(x, -1, 0), CUBE),
        (lambda x: np.moveaxis(x, (0, 1), (2, 0)), CUBE),
        (lambda x: np.moveaxis(x, [2, 0], [0, 1]), CUBE),
    ],
    np.broadcast_to: [(lambda v: np.broadcast_to(v, (2, 3, 4)), V), (lambda v: np.broadcast_to(v, 3), np.array(2.0))],
    np.expand_dims: [(lambda x: np.expand_dims(x, -1), X), (lambda x: np.expand_dims(x, (0, 2)), X)],
    np.squeeze: [(np.squeeze, X[:1, :, None]), (lambda x: np.squeeze(x, axis=-1), X[:1, :, None])],
    np.atleast_1d: [(np.atleast_1d, np.array(2.0)), (np.atleast_1d, X)],
    np.atleast_2d: [(np.atleast_2d, np.array(2.0)), (np.atleast_2d, V), (np.atleast_2d, CUBE)],
    np.concatenate: [
        (lambda x, y: np.concatenate([x, y]), X, Y),
        (lambda x, y: np.concatenate((x, y, x), axis=-1), X, Y),
        (lambda x, v: np.concatenate([x, v], axis=None), X, V),
        (lambda x: np.concatenate([np.zeros((3, 1)), x], 1), X),
    ],
    np.stack: [
        (lambda x, y: np.stack([x, y]), X, Y),
        (lambda x, y: np.stack((x, y), axis=-1), X, Y),
        (lambda x: np.stack([x[0, 0], x[1, 1], 1.0]), X),
    ],
    np.vstack: [(lambda x, v: np.vstack([x, v]), X, V)],
    np.hstack: [(lambda x, y: np.hstack([x, y]), X, Y), (lambda v, s: np.hstack([v, s]), V, np.array(2.0))],
    np.column_stack: [(lambda x, v: np.column_stack([x, v]), X, V[:3])],
    np.split: [
        (lambda x: np.split(x, 3), X),
        (lambda x: np.split(x, 2, axis=1), X),
        (lambda x: np.split(x, [1, 3], axis=-1), X),
    ],
    np.array_split: [(lambda x: np.array_split(x, 3, axis=1), X), (lambda x: np.array_split(x, [2]), X)],
    np.flip: [(np.flip, X), (lambda x: np.flip(x, axis=-1), X), (lambda x: np.flip(x, (0, 2)), CUBE)],
    np.pad: [
        (lambda x: np.pad(x, 1), X),
        (lambda x: np.pad(x, ((0, 1), (2, 0))), X),
        (lambda x: np.pad(x, (1, 2), constant_values=1.5), X),
        (lambda x: np.pad(x, (1, 2), mode="constant"), X),
    ],
    np.tile: [(lambda v: np.tile(v, 3), V), (lambda x: np.tile(x, (2, 1, 2)), X), (lambda x: np.tile(x, (2,)), X)],
    np.repeat: [
        (lambda x: np.repeat(x, 2), X),
        (lambda x: np.repeat(x, 3, axis=-1), X),
        (lambda x: np.repeat(x, [1, 0, 2], axis=0), X),
    ],
    np.roll: [
        (lambda x: np.roll(x, 1), X),
        (lambda x: np.roll(x, -3, axis=1), X),
        (lambda x: np.roll(x, 2, 0), X),
    ],
    np.zeros_like: [(lambda x: x + np.zeros_like(x), X), (lambda x: np.zeros_like(x, dtype=int), X)],
    np.ones_like: [(lambda x: x * np.ones_like(x), X), (lambda x: np.ones_like(x, dtype=bool), X)],
    np.full_like: [
        (lambda x: x * np.full_like(x, 3), X),
        (lambda x: x * np.full_like(x, np.float32(1.5)), X),
        (lambda x: x * np.full_like(x, V), X),
        (lambda x, v: x * np.full_like(x, v), X, V),
        (lambda i: np.full_like(i, np.float64(1.7)), np.arange(3)),
    ],
    np.astype: [(lambda x: np.astype(x, np.float32), X), (lambda x: np.astype(x, int), X)],
    np.copy: [(np.copy, X)],
}

BY_METHOD: dict[str, list[Row]] = {
    "clip": [(lambda x: x.clip(-1, 1), X), (lambda x: x.clip(min=0.1), X), (lambda x: x.clip(max=0.1), X)],
    "round": [(lambda x: x.round(), X), (lambda x: x.round(1), X / 3)],
    "take": [(lambda x: x.take([0, 0, 2], axis=1), X), (lambda x: x.take([5, 5]), X)],
    "diagonal": [(lambda x: x.diagonal(), X), (lambda x: x.diagonal(1), X)],
    "trace": [(lambda x: x.trace(), X)],
    "dot": [(lambda x, v: x.dot(v), X, V)],
    **{
        name: [
            (operator.methodcaller(name), X),
            (operator.methodcaller(name, 0), X),
            (operator.methodcaller(name, axis=-1, keepdims=True), X),
        ]
        for name in ("sum", "mean", "max", "min", "prod", "var", "std")
    },
    "any": [(lambda x: (x > 2).any(axis=1), X)],
    "all": [(lambda x: (x > -2).all(), X)],
    "cumsum": [(lambda x: x.cumsum(), X), (lambda x: x.cumsum(axis=0), X)],
    "cumprod": [(lambda x: x.cumprod(), X), (lambda x: x.cumprod(axis=0), X)],
    "argsort": [(lambda x: x.argsort(), X), (lambda x: x.argsort(axis=0), X)],
    "searchsorted": [(lambda v: np.cumsum(v * v).searchsorted([1.0, 4.0]), V)],
    "argmax": [(lambda x: x.argmax(), X), (lambda x: x.argmax(axis=1), X)],
    "argmin": [(lambda x: x.argmin(), X), (lambda x: x.argmin(0), X)],
    "reshape": [
        (lambda x: x.reshape(-1), X),
        (lambda x: x.reshape(2, 6), X),
        (lambda x: x.reshape((4, -1)), X),
        (lambda x: x.reshape([12]), X),
    ],
    "ravel": [(lambda x: x.ravel(), X)],
    "flatten": [(lambda x: x.flatten(), X)],
    "transpose": [
        (lambda x: x.transpose(), CUBE),
        (lambda x: x.transpose(1, 0, 2), CUBE),
        (lambda x: x.transpose((2, 0, 1)), CUBE),
        (lambda x: x.transpose(None), CUBE),
    ],
    "swapaxes": [(lambda x: x.swapaxes(0, 2), CUBE)],
    "squeeze": [(lambda x: x.squeeze(), X[:1]), (lambda x: x.squeeze(0), X[:1])],
    "repeat": [(lambda x: x.repeat(2), X), (lambda x: x.repeat(2, axis=0), X)],
    "astype": [
        (lambda x: x.astype(np.float32), X),
        (lambda x: x.astype("int64"), X),
        (lambda x: x.astype(dtype=float, copy=False), X),
    ],
    "copy": [(lambda x: x.copy(), X)],
}

OPERATORS: dict[str, Row] = {
    "x + y": (lambda x, y: x + y, X, V),
    "x - y": (lambda x, y: x - y, X, V),
    "x * y": (lambda x, y: x * y, X, V),
    "x / y": (lambda x, y: x / y, X, V),
    "x // y": (lambda x, y: x // y, X, V),
    "x % y": (lambda x, y: x % y, X, V),
    "x @ y": (lambda x, y: x @ y, X, V),
    "x ** 0": (lambda x: x**0, X),
    "x ** 1": (lambda x: x**1, X),
    "x ** 2": (lambda x: x**2, X),
    "x ** 3": (lambda x: x**3, X),
    "x ** 0.5": (lambda x: x**0.5, np.abs(X)),
    "x ** -1": (lambda x: x**-1, X),
    "x ** y": (lambda x, y: x**y, np.abs(X), V),
    "integers ** 2": (lambda i: i**2, np.arange(4)),
    "2 ** x": (lambda x: 2**x, X),
    "2.5 ** x": (lambda x: 2.5**x, X),
    "array ** x": (lambda x: np.abs(V) ** x, X),
    "1 - x": (lambda x: 1 - x, X),
    "1 / x": (lambda x: 1 / x, X),
    "7 // x": (lambda x: 7 // x, V - 0.1),
    "7 % x": (lambda x: 7 % x, V - 0.1),
    "array + x": (lambda x: V + x, X),
    "array - x": (lambda x: np.ones(4) - x, X),
    "array * x": (lambda x: V * x, X),
    "array / x": (lambda x: V / x, X),
    "array // x": (lambda x: V // x, X),
    "array % x": (lambda x: V % x, X),
    "array @ x": (lambda x: np.ones((2, 3)) @ x, X),
    "list + x": (lambda x: V.tolist() + x, X),
    "number * x": (lambda x: np.float64(2) * x, X),
    "number - x": (lambda x: np.float64(2) - x, X),
    "-x": (lambda x: -x, X),
    "+x": (lambda x: +x, X),
    "abs(x)": (lambda x: abs(x), X),
    "x < y": (lambda x, y: x < y, X, V),
    "x <= y": (lambda x, y: x <= y, X, X),
    "x > 0": (lambda x: x > 0, X),
    "x >= 0.7": (lambda x: x >= 0.7, X),
    "x == y": (lambda x, y: x == y, X, X),
    "x != y": (lambda x, y: x != y, X, V),
    "array < x": (lambda x: operator.lt(V, x), X),
    "& | ^ ~": (lambda x: ((x > 0) & (x < 2)) | ~(x > -1) ^ (x == 0), X),
    "array & x": (lambda x: (V > 0) & (x > 0) | (V > 2), X),
    "transposed": (lambda x: x.T @ x, X),
    "augmented": (lambda x: _augmented(x), X),
    "iteration": (lambda x: np.stack([np.sum(row) * i for i, row in enumerate(x)]), X),
    "len": (lambda x: x * len(x), X),
    "unpacking": (lambda x: (lambda a, b, c: a * b - c)(*x), X),
    "python's sum": (lambda x: sum(x), X),
    "shape in arithmetic": (lambda x: np.sum(x) / x.shape[0] + x.size * x.ndim, X),
    "add.reduce": (lambda x: np.add.reduce(x), X),
    "maximum.reduce": (lambda x: np.maximum.reduce(x, axis=1, keepdims=True), X),
    "multiply.reduce": (lambda x: np.multiply.reduce(x, axis=None), X),
    "subtract.outer": (lambda x, v: np.subtract.outer(x, v), X, V),
    "list outer": (lambda v: np.subtract.outer([1.0, 2.0], v), V),
    "multiply.outer": (lambda v: np.multiply.outer(V, v), V),
    "softmax": (lambda x: pel.softmax(x) + pel.log_softmax(x, axis=0) + pel.logsumexp(x), X),
    "one_hot": (lambda x: x * pel.one_hot(np.array([1, 3, 3]), 4), X),
}


def _augmented(x: Any) -> Any:
    y = x
    y = y + 1.0
    y *= 2.0
    y -= x
    y /= 3.0
    return y


ROWS_ = np.array([0, 2, 2, 1])
INDICES: dict[str, Any] = {
    "int": 1,
    "negative int": -1,
    "numpy int": np.int64(-2),
    "two ints": (1, 0),
    "slice": slice(1, 3),
    "stepped": (slice(None), slice(None, None, 2)),
    "negative step": (slice(None, None, -1), slice(2, None, -2)),
    "beyond": slice(1, 100),
    "nothing": slice(2, 1),
    "repeated": ROWS_ % 2,
    "list": [1, 0, 1],
    "array of arrays": np.array([[0, 1], [1, 1]]),
    "negative array": np.array([-1, -2]),
    "mask of all": CUBE > 0.2,
    "mask of the first": np.array([True, False]),
    "mask of the last": (Ellipsis, np.array([True, False, True, True])),
    "mask and int": (1, np.array([True, False, True])),
    "new axis": (None, 1, None),
    "ellipsis": (Ellipsis, 2),
    "ellipsis alone": Ellipsis,
    "array then slice": (slice(None), ROWS_, slice(1, 3)),
    "two arrays": (slice(None), ROWS_, ROWS_ + 1),
    "arrays that broadcast": (slice(None), ROWS_[:, None], np.array([0, 3])),
    "arrays apart": (ROWS_ % 2, slice(None), ROWS_),
    "array and int apart": (0, slice(None), ROWS_),
    "int and array together": (slice(None), 1, ROWS_),
    "arrays apart by a new axis": (ROWS_ % 2, None, ROWS_),
    "zero-dimensional array": np.array(1),
    "empty array": np.array([], int),
}


def identify(table: dict[Any, list[Row]]) -> list[Any]:
    return [
        pytest.param(key, row, id=f"{getattr(key, '__name__', key)}-{i}")
        for key, rows in table.items()
        for i, row in enumerate(rows)
    ]


def check_as_numpy(f: Callable[..., Any], *args: Any) -> None:
    """Value, dtype and derivative, recorded with values and by shape."""
    by_shape = not (args and args[-1] is needs_values)
    args = args if by_shape else args[:-1]
    expected = flatten(f(*args))[0]
    graphs = [pel.record(f, *args)]
    if by_shape:
        graphs.append(pel.record(f, *(pel.Spec(np.shape(a), np.asarray(a).dtype) for a in args)))
    for graph in graphs:
        for got, want in zip(flatten(pel.run(graph, *args))[0], expected, strict=True):
            assert np.shape(got) == np.shape(want)
            assert np.asarray(got).dtype == np.asarray(want).dtype
            assert_allclose(got, want, rtol=1e-12, atol=1e-14)
    finite = all(np.all(np.isfinite(a)) for a in args)
    if finite and np.asarray(args[0]).dtype.kind == "f" and any(np.asarray(y).dtype == float for y in expected):
        pel.check_grads(f, args, order=1)


def test_every_function_and_method_has_a_row():
    assert set(API) == set(FUNCTIONS)
    assert set(BY_METHOD) == {name for name in METHODS if not name.startswith("__")}


@pytest.mark.parametrize(("function", "row"), identify(API))
def test_functions(function, row, monkeypatch):
    traced = FUNCTIONS[function]
    calls = []
    monkeypatch.setitem(FUNCTIONS, function, lambda *args, **kwargs: calls.append(1) or traced(*args, **kwargs))
    check_as_numpy(*row)
    assert calls, f"the row does not call {function.__name__} on a traced array"


@pytest.mark.parametrize(("name", "row"), identify(BY_METHOD))
def test_methods(name, row, monkeypatch):
    traced = METHODS[name]
    calls = []
    monkeypatch.setitem(METHODS, name, lambda *args, **kwargs: calls.append(1) or traced(*args, **kwargs))
    check_as_numpy(*row)
    assert calls, f"the row does not call .{name}() on a traced array"


@pytest.mark.parametrize("row", [pytest.param(row, id=name) for name, row in OPERATORS.items()])
def test_operators(row):
    check_as_numpy(*row)


@pytest.mark.parametrize("index", [pytest.param(index, id=name) for name, index in INDICES.items()])
def test_indexing(index):
    check_as_numpy(lambda x: x[index], CUBE)


@pytest.mark.parametrize("ufunc", [pytest.param(ufunc, id=ufunc.__name__) for ufunc in UFUNCS])
def test_every_ufunc_leads_to_its_primitive(ufunc):
    args = (
        [np.array([1.3, 1.6]), np.array([1.2, 1.9])] if ufunc is np.arccosh else [V[:2] / 4 + 0.4, np.array([0.8, 0.6])]
    )
    if ufunc in (np.invert, np.bitwise_and, np.bitwise_or, np.bitwise_xor):
        args = [x > 0.7 for x in args]
    args = args[: ufunc.nin]
    graph = pel.record(ufunc, *args)
    assert graph.count() == {UFUNCS[ufunc].name: 1}
    assert_allclose(pel.run(graph, *args), ufunc(*args), rtol=1e-12)


def test_scipy_function_around_a_ufunc():
    check_as_numpy(lambda x: sp.zeta(2.0, x) + sp.psi(x), np.abs(X))


def test_indexing_with_traced_integers():
    check_as_numpy(lambda x, i: x[i], X, np.array([0, 2, 2]))
    check_as_numpy(lambda x, i: x[np.arange(3), i], X, np.array([3, 0, 0]))
    check_as_numpy(lambda x, i: x[i, 1:], X, np.array(2))


def test_indexing_with_a_traced_mask_follows_the_values():
    check_as_numpy(lambda x: x[x > 0], X, needs_values)
    with pytest.raises(AbstractValueError, match=r"mask.*np\.where"):
        pel.record(lambda x: x[x > 0], pel.Spec((3,)))


# what cannot be recorded says so


def concrete(f: Callable[..., Any], *args: Any) -> None:
    pel.record(f, *args)


def abstract(f: Callable[..., Any], *args: Any) -> None:
    pel.record(f, *(pel.Spec(np.shape(a), np.asarray(a).dtype) for a in args))


both_recordings = pytest.mark.parametrize(
    "record", [pytest.param(concrete, id="concrete"), pytest.param(abstract, id="abstract")]
)


@both_recordings
@pytest.mark.parametrize(
    ("f", "option"),
    [
        pytest.param(lambda x: np.sum(x, out=np.zeros(())), "out", id="sum-out"),
        pytest.param(lambda x: np.sum(x, where=X > 0), "where", id="sum-where"),
        pytest.param(lambda x: np.sum(x, dtype=np.float32), "dtype", id="sum-dtype"),
        pytest.param(lambda x: np.sum(x, 0, np.float32), "keepdims", id="sum-dtype-by-position"),
        pytest.param(lambda x: x.mean(dtype=np.float32), "dtype", id="mean-dtype"),
        pytest.param(lambda x: np.max(x, initial=0.0), "initial", id="max-initial"),
        pytest.param(lambda x: np.exp(x, out=np.zeros((3, 4))), "out", id="exp-out"),
        pytest.param(lambda x: np.exp(x, where=X > 0), "where", id="exp-where"),
        pytest.param(lambda x: np.add(x, 1, dtype=np.float32), "dtype", id="add-dtype"),
        pytest.param(lambda x: np.add.reduce(x, dtype=np.float32), "dtype", id="reduce-dtype"),
        pytest.param(lambda x: np.reshape(x, -1, order="F"), "order", id="reshape-order"),
        pytest.param(lambda x: np.argmax(x, axis=1, keepdims=True), "keepdims", id="argmax-keepdims"),
        pytest.param(lambda x: np.pad(x, 1, mode="edge"), "edge", id="pad-mode"),
    ],
)
def test_unsupported_options_are_named(f, option, record):
    with pytest.raises(UnsupportedError, match=option):
        record(f, X)


@both_recordings
@pytest.mark.parametrize(
    ("f", "name", "near"),
    [
        pytest.param(np.fft.fft, "fft", "", id="fft"),
        pytest.param(np.linalg.svd, "svd", "", id="svd"),
        pytest.param(lambda x: np.gcd(x.astype(int), 2), "gcd", "", id="gcd"),
        pytest.param(np.nansum, "nansum", "sum", id="nansum"),
        pytest.param(np.nancumprod, "nancumprod", "cumprod", id="nancumprod"),
        pytest.param(np.linalg.qr, "qr", "", id="qr"),
        pytest.param(lambda x: np.partition(x, 2), "partition", "", id="partition"),
        pytest.param(np.nanargmax, "nanargmax", "argmax", id="nanargmax"),
        pytest.param(np.deg2rad, "deg2rad", "", id="deg2rad"),
        pytest.param(sp.j0, "j0", "", id="scipy"),
    ],
)
def test_unsupported_functions_are_named_with_a_remedy(f, name, near, record):
    with pytest.raises(UnsupportedError) as caught:
        record(f, X)
    message = str(caught.value)
    assert f"'{name}'" in message
    assert f"nearest that can is {near}" in message or not near
    assert "pellucid.primitive(" in message
    assert "custom_rule" in message


def _assign(x: Any) -> Any:
    x[0] = 1.0
    return x


def _assign_in_place(x: Any) -> Any:
    np.add(x, 1, out=x)
    return x


@both_recordings
@pytest.mark.parametrize(
    ("f", "remedy"),
    [
        pytest.param(_assign, r"x\[0\].*np\.where", id="assignment"),
        pytest.param(_assign_in_place, "out", id="out-traced"),
        pytest.param(lambda x: np.array([x, x]), r"np\.stack", id="array-of-traced"),
        pytest.param(np.asarray, "history would be lost", id="asarray"),
        pytest.param(lambda x: math.sin(x[0, 0]), r"np\.sin, not math\.sin", id="math"),
        pytest.param(lambda x: float(x[0, 0]), "numpy functions", id="float"),
        pytest.param(lambda x: x.foo, "'foo'", id="attribute"),
        pytest.param(lambda x: x.sort(), r"'sort'.*np\.sort", id="sort-in-place"),
        pytest.param(lambda x: x.tolist(), "'tolist'", id="tolist"),
        pytest.param(lambda x: np.where(x > 0), "three-argument form", id="where-of-one"),
        pytest.param(lambda x: x[x], "integers or booleans", id="float-index"),
        pytest.param(lambda x: x[True], r"x\[True\]", id="true-as-index"),
        pytest.param(lambda x: np.einsum("ii", x), "np.trace", id="einsum-diagonal"),
        pytest.param(lambda x: np.linalg.norm(x, 3), "ord=3", id="norm-of-matrices"),
        pytest.param(lambda x: np.linalg.norm(x, "fro", axis=1), "ord='fro'", id="norm-of-vectors"),
        pytest.param(lambda x: np.quantile(x, 0.5, method="lower"), "'lower'", id="quantile-method"),
        pytest.param(lambda x: np.quantile(x, x[0, 0]), "plain numbers", id="quantile-of-traced-shares"),
        pytest.param(lambda x: np.add.accumulate(x), "add.accumulate", id="accumulate"),
    ],
)
def test_impossible_operations_name_the_way_out(f, remedy, record):
    with pytest.raises(UnsupportedError, match=remedy):
        record(f, X)


@both_recordings
@pytest.mark.parametrize(
    ("f", "a", "b", "operation"),
    [
        pytest.param(lambda x, y: x + y, (3,), (4,), "add", id="add"),
        pytest.param(np.maximum, (2, 3), (2, 4), "maximum", id="maximum"),
        pytest.param(lambda x, y: x @ y, (2, 3), (4, 5), "matmul", id="matmul"),
        pytest.param(lambda x, y: x @ y, (2, 3), (4,), "matmul", id="matmul-vector"),
        pytest.param(lambda x, y: np.where(x > 0, x, y), (2, 3), (2, 4), "where", id="where"),
        pytest.param(lambda x, y: np.concatenate([x, y]), (2, 3), (2, 4), "concatenate", id="concatenate"),
        pytest.param(lambda x, y: np.average(x, weights=y), (2, 3), (2, 4), "average", id="average"),
        pytest.param(np.linalg.solve, (3, 3), (2, 2), "solve", id="solve"),
        pytest.param(np.linalg.solve, (3, 3), (2,), "solve", id="solve-vector"),
        pytest.param(lambda x, y: np.interp(0.5, x, y), (3,), (4,), "interp", id="interp"),
    ],
)
def test_shapes_that_do_not_fit(f, a, b, operation, record):
    with pytest.raises(ShapeError) as caught:
        record(f, np.ones(a), np.ones(b))
    message = str(caught.value)
    assert operation in message
    assert str(a) in message
    assert str(b) in message


@both_recordings
@pytest.mark.parametrize(
    "f",
    [
        pytest.param(lambda x: np.reshape(x, (5, 2)), id="reshape"),
        pytest.param(lambda x: np.sum(x, axis=2), id="axis"),
        pytest.param(lambda x: np.sum(x, axis=(0, 0)), id="axis-twice"),
        pytest.param(lambda x: x[3], id="index"),
        pytest.param(lambda x: x[0, 0, 0], id="too-many-indices"),
        pytest.param(lambda x: np.broadcast_to(x, (3, 5)), id="broadcast_to"),
        pytest.param(lambda x: np.transpose(x, (0, 0)), id="transpose"),
        pytest.param(lambda x: np.squeeze(x, 0), id="squeeze"),
        pytest.param(lambda x: np.split(x, 2), id="split"),
        pytest.param(lambda x: x[np.array([True, False])], id="mask"),
        pytest.param(lambda x: np.einsum("ijk->i", x), id="einsum"),
        *(
            pytest.param(f, id=f.__name__)
            for f in (np.linalg.inv, np.linalg.det, np.linalg.slogdet, np.linalg.cholesky, np.linalg.eigh)
        ),
        pytest.param(lambda x: np.linalg.inv(x[0]), id="inv-of-a-vector"),
        pytest.param(lambda x: np.linalg.norm(x[None], 2), id="norm-of-a-cube"),
        pytest.param(lambda x: np.sort(x, axis=2), id="sort"),
        pytest.param(lambda x: np.median(x, axis=2), id="median"),
        pytest.param(lambda x: np.median(x[:0]), id="median-of-nothing"),
        pytest.param(lambda x: np.cumprod(x, axis=2), id="cumprod"),
        pytest.param(lambda x: np.diff(x, n=-1), id="diff"),
        pytest.param(lambda x: np.quantile(x, 50), id="quantile"),
        pytest.param(lambda x: np.searchsorted(x, 0.5), id="searchsorted"),
    ],
)
def test_settings_that_do_not_fit(f, record):
    with pytest.raises(ShapeError):
        record(f, X)


@pytest.mark.parametrize(
    "f",
    [
        pytest.param(lambda x: x if x[0, 0] > 0 else -x, id="branch"),
        pytest.param(lambda x: range(x.shape[0]), id="open-count"),
        pytest.param(len, id="len"),
    ],
)
def test_values_are_not_known_by_shape(f):
    with pytest.raises(AbstractValueError):
        pel.record(f, pel.Spec(("n", 4)))


# properties


@st.composite
def pairs_of_arrays(draw: Any) -> tuple[Any, Any]:
    """Two arrays whose shapes broadcast, all elements of both apart from one another."""
    shapes = draw(hnp.mutually_broadcastable_shapes(num_shapes=2, max_dims=3, max_side=4)).input_shapes
    sizes = [int(np.prod(shape)) for shape in shapes]
    numbers = np.random.default_rng(draw(st.integers(0, 1000))).permutation(sum(sizes)) * 0.25 - 1.1
    return numbers[: sizes[0]].reshape(shapes[0]), numbers[sizes[0] :].reshape(shapes[1])


@pytest.mark.parametrize(
    "f",
    [pytest.param(np.add, id="add"), pytest.param(np.multiply, id="multiply"), pytest.param(np.maximum, id="maximum")],
)
@settings(max_examples=60, deadline=None, derandomize=True)
@given(pair=pairs_of_arrays())
def test_broadcasting(f, pair):
    y, pull = pel.vjp(f, *pair)
    assert_array_equal(y, f(*pair))
    rng = np.random.default_rng(0)
    u, vs = rng.normal(size=np.shape(y)), [rng.normal(size=x.shape) for x in pair]
    pulled = pull(u)
    assert [np.shape(g) for g in pulled] == [x.shape for x in pair]
    pushed = pel.jvp(f, pair, vs)[1]
    reverse = sum(np.vdot(g, v) for g, v in zip(pulled, vs, strict=True))
    assert_allclose(np.vdot(u, pushed), reverse, rtol=1e-10, atol=1e-12)
    graph = pel.record(f, *(pel.Spec(x.shape) for x in pair))
    (out,) = graph.outputs
    assert isinstance(out, int)
    assert graph.nodes[out].shape == np.shape(y)


@settings(max_examples=150, deadline=None, derandomize=True)
@given(data=st.data())
def test_basic_indexing(data):
    shape = data.draw(hnp.array_shapes(min_dims=1, max_dims=3, max_side=4))
    index = data.draw(hnp.basic_indices(shape, allow_newaxis=True, allow_ellipsis=True))
    x = np.arange(float(np.prod(shape))).reshape(shape)
    y, pull = pel.vjp(lambda x: x[index], x)
    assert_array_equal(y, x[index])
    taken = np.zeros_like(x)
    taken[index] = 1
    assert_array_equal(pull(np.ones_like(y))[0], taken)
    graph = pel.record(lambda x: x[index], pel.Spec(shape))
    assert_array_equal(pel.run(graph, x), x[index])
    (out,) = graph.outputs
    assert isinstance(out, int)
    assert graph.nodes[out].shape == np.shape(y)


@settings(max_examples=60, deadline=None, derandomize=True)
@given(data=st.data())
def test_reshape_and_transpose_there_and_back(data):
    shape = data.draw(hnp.array_shapes(min_dims=1, max_dims=4, max_side=4))
    order = tuple(data.draw(st.permutations(range(len(shape)))))
    x = np.arange(float(np.prod(shape))).reshape(shape)

    def there(x: Any) -> Any:
        return np.reshape(np.transpose(x, order), -1)

    def back(y: Any) -> Any:
        return np.transpose(np.reshape(y, tuple(shape[i] for i in order)), np.argsort(order))

    y, pull = pel.vjp(there, x)
    assert_array_equal(y, x.transpose(order).ravel())
    assert_array_equal(pull(y)[0], x)  # a permutation: its adjoint is its inverse
    assert_array_equal(pel.run(pel.record(lambda x: back(there(x)), pel.Spec(shape)), x), x)
