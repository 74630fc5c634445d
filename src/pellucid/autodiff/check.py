"""check_grads: do the derivatives belong to the function?

One random direction instead of every coordinate, and three facts that must agree:

    <u, J v> by forward mode  =  <Jᵀ u, v> by reverse mode  =  <u, (f(x + hv) - f(x - hv)) / 2h>

The first equality needs no step size. Orders above one check the derivatives of the derivatives. A quotient that
straddles a kink measures nothing: then smaller steps are taken, and at a kink itself a point nearby (see `kinks`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from pellucid.autodiff.kinks import Comparison, Verdict, compare, moved
from pellucid.autodiff.modes import jvp, vjp
from pellucid.errors import DifferentiationError, GradientCheckError
from pellucid.graph.core.tree import flatten, paths, unflatten

NEARBY = (1e-6, 1e-4, 1e-3, 1e-2)
"""How far away a point is looked for where there is a kink, in sizes of the point (at least 1)."""


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

    Raises `GradientCheckError`, which names the mode, the order and the argument; `gradient_report` tells of every
    argument. Kinks, such as that of ReLU, are no errors: near one the steps become smaller, and at one the derivative
    is checked at a point nearby (forward against reverse mode also at the point itself).

    Parameters
    ----------
    f : Callable
        a function of arrays, or of nests of them
    args : sequence
        the arguments to check at, nested arrays; they are taken to float64
    order : int
        the highest order that is checked
    modes : Sequence[str]
        which modes: "forward", "reverse"
    rtol : float
        how far derivatives and differences may be apart, as a share
    adjoint_rtol : float
        how far forward and reverse mode may be apart, as a share
    step : float
        the first step of the differences
    seed : int
        of the random directions

    Examples
    --------
    >>> import numpy as np
    >>> check_grads(lambda x, y: np.sum(np.tanh(x) * y), (np.ones(3), np.arange(3.0)), order=3)
    """
    if not isinstance(args, tuple | list):
        raise TypeError(f"check_grads takes the arguments as a tuple: write (x,), got {args!r}")
    flat, names, xs = flattened(f, args, "check_grads")
    _check(flat, xs, names, order, tuple(modes), rtol, adjoint_rtol, step, np.random.default_rng(seed), "")


def flattened(f: Callable[..., Any], args: Sequence[Any], who: str) -> tuple[Callable[..., Any], list[str], list[Any]]:
    """A function of the floating-point leaves alone with one flat result; the names of the leaves, and their values."""
    leaves, tree = flatten(tuple(args))
    points = [np.asarray(leaf) for leaf in leaves]
    fixed = [p.dtype.kind != "f" for p in points]
    if all(fixed):
        raise DifferentiationError(f"{who}: there is no floating-point argument to differentiate by")
    names = [path for path, still in zip(paths(tree), fixed, strict=True) if not still]

    def flat(*xs: Any) -> Any:
        rest = iter(xs)
        outputs, _ = flatten(
            f(*unflatten(tree, [p if still else next(rest) for p, still in zip(points, fixed, strict=True)]))
        )
        parts = [np.ravel(out) for out in outputs if hasattr(out, "dtype") and out.dtype.kind == "f"]
        if not parts:
            raise DifferentiationError(f"{who}: the function returned no floating-point array")
        return parts[0] if len(parts) == 1 else np.concatenate(parts)

    return flat, names, [p.astype(np.float64)[()] for p, still in zip(points, fixed, strict=True) if not still]


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
    slopes: dict[str, float] = {}
    for mode, rule in (("forward", "jvp"), ("reverse", "vjp")):
        if mode in modes:
            slopes[mode] = along(f, xs, vs, u, mode)
            comparison = beside_kinks(f, xs, vs, u, mode, rtol, step, slopes[mode])
            if comparison.verdict is not Verdict.AGREES:
                raise GradientCheckError(
                    f"{where}{mode} mode ({rule}) against differences: {_numbers(comparison)} (tolerance {rtol:g})"
                    + _blame(f, xs, names, mode, rtol, step, rng)
                )
    if len(slopes) == 2:
        forward, reverse = slopes["forward"], slopes["reverse"]
        apart = Comparison(Verdict.DIFFERS, forward, reverse, 0.0)
        if not apart.error <= adjoint_rtol:  # NaN is not right, either
            raise GradientCheckError(
                f"{where}forward mode against reverse mode, <u, Jv> = <J'u, v>: {_numbers(apart)} "
                f"(tolerance {adjoint_rtol:g})"
            )
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


def along(f: Callable[..., Any], xs: list[Any], vs: list[Any], u: Any, mode: str) -> float:
    """<u, J v>, by one of the modes."""
    if mode == "forward":
        return float(np.vdot(u, jvp(f, xs, vs)[1]))
    return float(sum(np.vdot(g, v) for g, v in zip(vjp(f, *xs)[1](u), vs, strict=True)))


def beside_kinks(
    f: Callable[..., Any],
    xs: list[Any],
    vs: list[Any],
    u: Any,
    mode: str,
    rtol: float,
    step: float,
    automatic: float | None = None,
) -> Comparison:
    """A derivative against differences: at the point itself, or where that is a kink at points nearby."""
    here = compare(f, xs, vs, u, along(f, xs, vs, u, mode) if automatic is None else automatic, rtol, step)
    rng = np.random.default_rng(0)
    for size in NEARBY:
        if here.verdict is not Verdict.KINK:
            break
        near = moved(xs, size, rng)
        here = compare(f, near, vs, u, along(f, near, vs, u, mode), rtol, step)
    return here


def _numbers(comparison: Comparison) -> str:
    return f"{comparison.automatic:.12g} is not {comparison.difference:.12g}"


def arguments(
    f: Callable[..., Any],
    xs: list[Any],
    names: list[str],
    mode: str,
    rtol: float,
    step: float,
    rng: np.random.Generator | None = None,
) -> list[tuple[str, Comparison]]:
    """The same comparison for each argument alone; for all its entries together, or in a random direction."""
    y = np.asarray(f(*xs))
    results = []
    for i, name in enumerate(names):
        vs = [np.zeros_like(x) for x in xs]
        vs[i] = np.ones_like(xs[i]) if rng is None else rng.normal(size=np.shape(xs[i]))
        u = np.ones_like(y) if rng is None else rng.normal(size=y.shape)
        results.append((name, beside_kinks(f, xs, vs, u, mode, rtol, step)))
    return results


def _blame(
    f: Callable[..., Any],
    xs: list[Any],
    names: list[str],
    mode: str,
    rtol: float,
    step: float,
    rng: np.random.Generator,
) -> str:
    """Which argument is to blame: all entries of one together, and where that tells nothing a random direction."""
    rows = arguments(f, xs, names, mode, rtol, step)
    if all(row.verdict is Verdict.AGREES for _, row in rows):
        rows = arguments(f, xs, names, mode, rtol, step, rng)
    lines = ["\n  argument        automatic        difference       error"]
    for name, row in rows:
        note = "" if row.verdict is Verdict.AGREES else f"  <- {row.verdict.value}"
        lines.append(f"\n  {name:<14}  {row.automatic:<15.9g}  {row.difference:<15.9g}  {row.error:.1e}{note}")
    return "".join(lines)
