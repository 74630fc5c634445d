"""check_grads: do the derivatives belong to the function?

One random direction instead of every coordinate, and three facts that must agree:

    <u, J v> by forward mode  =  <Jᵀ u, v> by reverse mode  =  <u, (f(x + hv) - f(x - hv)) / 2h>

The first equality needs no step size. Orders above one check the derivatives of the derivatives.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from pellucid.autodiff.modes import jvp, vjp
from pellucid.autodiff.numerical import directional_difference
from pellucid.errors import DifferentiationError, GradientCheckError
from pellucid.graph.core.tree import flatten, paths, unflatten


def check_grads(
    f: Callable[..., Any],
    args: Sequence[Any],
    *,
    order: int = 2,
    modes: Sequence[str] = ("forward", "reverse"),
    rtol: float = 1e-6,
    adjoint_rtol: float = 1e-10,
    step: float = 1e-3,
    seed: int = 0,
) -> None:
    """Check the derivatives of `f` at `args` (nested arrays, taken to float64) up to `order`.

    Raises `GradientCheckError`, which names the mode, the order and the argument. A difference quotient across a
    kink measures nothing: choose points away from kinks.

    >>> import numpy as np
    >>> check_grads(lambda x, y: np.sum(np.tanh(x) * y), (np.ones(3), np.arange(3.0)), order=3)
    """
    if not isinstance(args, tuple | list):
        raise TypeError(f"check_grads takes the arguments as a tuple: write (x,), got {args!r}")
    leaves, tree = flatten(tuple(args))
    points = [np.asarray(leaf) for leaf in leaves]
    fixed = [p.dtype.kind != "f" for p in points]
    if all(fixed):
        raise DifferentiationError("check_grads: there is no floating-point argument to differentiate by")
    names = [path for path, still in zip(paths(tree), fixed, strict=True) if not still]

    def flat(*xs: Any) -> Any:
        rest = iter(xs)
        outputs, _ = flatten(
            f(*unflatten(tree, [p if still else next(rest) for p, still in zip(points, fixed, strict=True)]))
        )
        parts = [np.ravel(out) for out in outputs if hasattr(out, "dtype") and out.dtype.kind == "f"]
        if not parts:
            raise DifferentiationError("check_grads: the function returned no floating-point array")
        return parts[0] if len(parts) == 1 else np.concatenate(parts)

    xs = [p.astype(np.float64)[()] for p, still in zip(points, fixed, strict=True) if not still]
    _check(flat, xs, names, order, tuple(modes), rtol, adjoint_rtol, step, np.random.default_rng(seed), "")


def _check(
    f: Callable[..., Any],
    xs: list[Any],
    names: list[str],
    order: int,
    modes: tuple[str, ...],
    rtol: float,
    adjoint_rtol: float,
    step: float,
    rng: np.random.Generator,
    where: str,
) -> None:
    y = np.asarray(f(*xs))
    vs = [rng.normal(size=np.shape(x)) for x in xs]
    u = rng.normal(size=y.shape)
    difference = np.vdot(u, directional_difference(f, xs, vs, step))

    forward = reverse = None
    if "forward" in modes:
        forward = np.vdot(u, jvp(f, xs, vs)[1])
        _compare(forward, difference, rtol, f"{where}forward mode (jvp) against differences", f, xs, names, step)
    if "reverse" in modes:
        pulled = vjp(f, *xs)[1](u)
        reverse = sum(np.vdot(g, v) for g, v in zip(pulled, vs, strict=True))
        _compare(reverse, difference, rtol, f"{where}reverse mode (vjp) against differences", f, xs, names, step)
    if forward is not None and reverse is not None:
        _compare(forward, reverse, adjoint_rtol, f"{where}forward mode against reverse mode, <u, Jv> = <J'u, v>")
    if order > 1:
        rest = (names, order - 1, modes, rtol * 10, adjoint_rtol * 10, step, rng)
        if "forward" in modes:
            _check(lambda *zs: jvp(f, zs, vs)[1], xs, *rest, f"{where}derivative of the jvp: ")
        if "reverse" in modes:
            _check(
                lambda *zs: np.concatenate([np.ravel(g) for g in vjp(f, *zs)[1](u)]),
                xs,
                *rest,
                f"{where}derivative of the vjp: ",
            )


def _compare(
    got: Any,
    expected: Any,
    rtol: float,
    what: str,
    f: Callable[..., Any] | None = None,
    xs: Sequence[Any] = (),
    names: Sequence[str] = (),
    step: float = 1e-3,
) -> None:
    scale = max(abs(float(got)), abs(float(expected)), 1e-3)
    if abs(float(got) - float(expected)) <= rtol * scale:  # False for NaN, too
        return
    report = "" if f is None else "".join(_report(f, xs, names, step))
    raise GradientCheckError(f"{what}: {float(got):.12g} is not {float(expected):.12g} (tolerance {rtol:g}){report}")


def _report(f: Callable[..., Any], xs: Sequence[Any], names: Sequence[str], step: float) -> list[str]:
    """Which argument is to blame: the same comparison for each alone."""
    lines = ["\n  argument        automatic        difference"]
    for i, name in enumerate(names):
        vs = [np.ones_like(x) if j == i else np.zeros_like(x) for j, x in enumerate(xs)]
        difference = float(np.sum(directional_difference(f, list(xs), vs, step)))
        try:
            automatic = float(np.sum(jvp(f, xs, vs)[1]))
        except DifferentiationError:  # a function with a vjp rule only
            pulled = vjp(f, *xs)[1](np.ones_like(f(*xs)))
            automatic = float(np.sum(pulled[i]))
        lines.append(f"\n  {name:<14}  {automatic:<15.9g}  {difference:.9g}")
    return lines
