"""gradient_report: every argument of a function, its gradient against differences, entry by entry."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pellucid.amounts import check_whole
from pellucid.autodiff.check import flattened
from pellucid.autodiff.kinks import Comparison, Verdict, compare
from pellucid.autodiff.modes import vjp
from pellucid.markup import page, plural


@dataclass(frozen=True)
class ArgumentReport:
    """One argument: how many of its entries were looked at, how many lie at a kink, and the worst of the others."""

    name: str
    shape: tuple[int, ...]
    entries: int
    kinks: int
    worst: Comparison | None  # None where all entries lie at kinks
    where: tuple[int, ...]

    @property
    def agrees(self) -> bool:
        return self.worst is None or self.worst.verdict is Verdict.AGREES

    @property
    def error(self) -> float:
        """The largest relative error."""
        return 0.0 if self.worst is None else self.worst.error


@dataclass(frozen=True, repr=False)
class GradientReport:
    """What `gradient_report` found. Print it for the table."""

    arguments: tuple[ArgumentReport, ...]

    @property
    def agrees(self) -> bool:
        """Is every gradient right, as far as differences can tell?"""
        return all(argument.agrees for argument in self.arguments)

    def __getitem__(self, name: str) -> ArgumentReport:
        for argument in self.arguments:
            if argument.name == name:
                return argument
        raise KeyError(f"there is no argument {name!r}: there are {', '.join(a.name for a in self.arguments)}")

    def __str__(self) -> str:
        width = max(8, *(len(argument.name) for argument in self.arguments))
        head = f"{'argument':<{width}}  {'shape':<10}  {'entries':>7}  {'kinks':>5}  {'error':>8}"
        lines = [head, "─" * (len(head) + 14)]
        for one in self.arguments:
            shape = "×".join(map(str, one.shape)) or "1"
            error = "" if one.worst is None else f"{one.error:.1e}"
            counts = f"{one.entries:>7}  {one.kinks or '':>5}  {error:>8}"
            lines.append(f"{one.name:<{width}}  {shape:<10}  {counts}  {_verdict(one)}")
        return "\n".join(lines)

    def __repr__(self) -> str:
        wrong = [argument.name for argument in self.arguments if not argument.agrees]
        verdict = f"wrong: {', '.join(wrong)}" if wrong else "all right"
        return f"<GradientReport of {plural(len(self.arguments), 'argument')}: {verdict}; print it for the table>"

    def _repr_html_(self) -> str:
        return page(str(self))


def _verdict(one: ArgumentReport) -> str:
    if one.worst is None:
        return "at kinks, nothing to compare with"
    if one.agrees:
        return "right"
    return f"WRONG at {list(one.where)}: {one.worst.automatic:.6g} is not {one.worst.difference:.6g}"


def gradient_report(
    f: Callable[..., Any],
    args: Sequence[Any],
    *,
    entries: int = 20,
    rtol: float = 1e-6,
    step: float = 1e-3,
    seed: int = 0,
) -> GradientReport:
    """Gradients by reverse mode against difference quotients, argument by argument.

    Near a kink the steps become smaller; an entry at a kink has no derivative to compare with: it is counted and
    left out. A function that returns an array is looked at in a random direction of its results.

    Parameters
    ----------
    f : Callable
        a function of arrays, or of nests of them
    args : sequence
        the arguments to look at, nested arrays; they are taken to float64
    entries : int
        entries of each argument that are looked at, at most
    rtol : float
        how far derivatives and differences may be apart, as a share
    step : float
        the first step of the differences
    seed : int
        draws the entries and the direction

    Returns
    -------
    GradientReport
        print it; `agrees`, and a row for each argument by its name

    Examples
    --------
    >>> import numpy as np
    >>> report = gradient_report(lambda w, b: np.sum(np.maximum(w + b, 0)), (np.array([1.0, -2.0, -0.5]), 0.5))
    >>> report.agrees, report["[0]"].kinks, report["[1]"].kinks
    (True, 1, 1)
    """
    if not isinstance(args, tuple | list):
        raise TypeError(f"gradient_report takes the arguments as a tuple: write (x,), got {args!r}")
    check_whole(entries=entries)
    flat, names, xs = flattened(f, args, "gradient_report")
    rng = np.random.default_rng(seed)
    y = np.asarray(flat(*xs))
    u = np.ones_like(y) if y.size == 1 else rng.normal(size=y.shape)
    gradients = vjp(flat, *xs)[1](u)
    reports = []
    for i, name in enumerate(names):
        places = list(np.ndindex(np.shape(xs[i])))
        drawn = sorted(rng.choice(len(places), min(entries, len(places)), replace=False).tolist())
        comparisons = []
        for place in (places[number] for number in drawn):
            vs = [np.zeros_like(x) for x in xs]
            vs[i] = np.zeros(np.shape(xs[i]))
            vs[i][place] = 1.0
            comparisons.append((compare(flat, xs, vs, u, float(np.asarray(gradients[i])[place]), rtol, step), place))
        reports.append(_summed_up(name, np.shape(xs[i]), comparisons))
    return GradientReport(tuple(reports))


def _summed_up(
    name: str, shape: tuple[int, ...], comparisons: list[tuple[Comparison, tuple[int, ...]]]
) -> ArgumentReport:
    measured = [(one, place) for one, place in comparisons if one.verdict is not Verdict.KINK]
    if not measured:
        return ArgumentReport(name, shape, len(comparisons), len(comparisons), None, ())
    worst, where = max(measured, key=lambda pair: (pair[0].verdict is Verdict.DIFFERS, np.nan_to_num(pair[0].error)))
    return ArgumentReport(name, shape, len(comparisons), len(comparisons) - len(measured), worst, where)
