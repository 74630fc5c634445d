"""What is in the data: columns, their kinds, holes and histograms, and the target."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from pellucid.markup import plural
from pellucid.report.numbers.bins import histogram
from pellucid.report.rows import Sample, column, missing, numeric, word

COLUMNS = 30
"""Columns described one by one."""

BINS = 24

TOP = 12
"""Categories or classes with bars of their own."""

TARGETS = 3
"""Columns of a target that are described."""


@dataclass(frozen=True, eq=False)
class Bars:
    """Counts: of bins between edges, or of named values (`labels`), most frequent first."""

    counts: Any
    edges: Any = None
    labels: tuple[str, ...] = ()
    others: int = 0  # rows of values that are not named


@dataclass(frozen=True, eq=False)
class Column:
    """One column in numbers; mean and the like are NaN for categories."""

    name: str
    kind: str
    missing: float
    distinct: int
    bars: Bars
    mean: float = math.nan
    std: float = math.nan
    low: float = math.nan
    high: float = math.nan


@dataclass(frozen=True, eq=False)
class Data:
    """The rows: how many (`counted`, in words), the first columns, the target."""

    rows: int
    counted: str
    shape: tuple[int, ...]  # of one row
    kind: str  # "table", "array", "sparse matrix"
    columns: tuple[Column, ...]
    more: int
    missing: float
    target: tuple[Column, ...]

    @property
    def caption(self) -> str:
        """What to notice."""
        words = []
        scales = np.array([c.std for c in self.columns if np.isfinite(c.std) and c.std > 0])
        if len(scales) > 1 and scales.max() > 100 * scales.min():
            factor = float(f"{scales.max() / scales.min():.2g}")
            widest = max((c for c in self.columns if np.isfinite(c.std)), key=lambda c: c.std)
            words.append(
                f"Scales differ by a factor of {factor:,.0f} (“{widest.name}” is widest); a TabularMLP evens them out, "
                "other networks need a StandardScaler."
            )
        holes = [c for c in self.columns if c.missing > 0]
        if holes:
            worst = max(holes, key=lambda c: c.missing)
            words.append(
                f"{plural(len(holes), 'column')} with holes, “{worst.name}” most of all ({worst.missing:.1%} missing)."
            )
        fixed = [c.name for c in self.columns if c.distinct == 1]
        if fixed:
            words.append(f"Always the same: {', '.join(f'“{name}”' for name in fixed[:4])}.")
        return " ".join(words)


def data(rows: Sample, *, classes: bool, outputs: Sequence[str] = ()) -> Data:
    """Rows and target, described.   outputs: names of several targets"""
    X, names = rows.X, rows.columns
    shape = tuple(int(size) for size in X.shape[1:])
    if rows.sparse or not names:
        gone = 0.0 if rows.sparse else float(np.mean(~np.isfinite(np.asarray(X, float))))
        kind = f"sparse matrix, {X.nnz / max(np.prod(X.shape), 1):.2%} filled" if rows.sparse else "array"
        return Data(
            len(rows), rows.counted, shape, kind, (), int(np.prod(shape)), gone, _target(rows.y, classes, outputs)
        )
    shown = tuple(describe(name, column(X, j)) for j, name in enumerate(names[:COLUMNS]))
    kind = "table" if isinstance(X, pd.DataFrame) else "array"
    gone = float(np.mean(missing(X)))
    return Data(
        len(rows),
        rows.counted,
        shape,
        kind,
        shown,
        max(len(names) - COLUMNS, 0),
        gone,
        _target(rows.y, classes, outputs),
    )


def _target(y: Any, classes: bool, outputs: Sequence[str]) -> tuple[Column, ...]:
    if y.ndim == 2 and classes:
        counts = np.asarray(y).astype(bool).sum(axis=0)
        labels = (tuple(outputs) or tuple(f"label {j}" for j in range(len(counts))))[:TOP]
        bars = Bars(counts[:TOP], None, labels, 0)
        return (Column("labels of a row", "labels", 0.0, len(counts), bars),)
    if y.ndim == 2:
        names = tuple(outputs) or tuple(f"target {j}" for j in range(y.shape[1]))
        return tuple(describe(names[j], y[:, j]) for j in range(min(y.shape[1], TARGETS)))
    return (describe("target", y, named=classes),)


def describe(name: str, values: Any, *, named: bool = False) -> Column:
    """One column; `named`: its values are labels, whatever they look like."""
    gone = missing(values)
    present = values[~gone]
    share = float(np.mean(gone)) if len(values) else 0.0
    if not named and numeric(present):
        return _of_numbers(name, np.asarray(present, float), share)
    kind = "classes" if named else {"b": "yes or no", "M": "date"}.get(present.dtype.kind, "category")
    if kind == "date":
        seconds = present.astype("datetime64[s]").astype(np.int64)
        counts = histogram(seconds, BINS)[0] if len(seconds) else np.zeros(1)
        return Column(name, kind, share, len(np.unique(seconds)), Bars(counts))
    texts, counts = np.unique([word(value) for value in present.tolist()], return_counts=True)
    order = np.arange(len(texts)) if named and len(texts) <= TOP else np.argsort(-counts, kind="stable")
    top = order[:TOP]
    bars = Bars(counts[top], None, tuple(str(texts[k]) for k in top), int(counts.sum() - counts[top].sum()))
    return Column(name, kind, share, len(texts), bars)


def _of_numbers(name: str, present: Any, share: float) -> Column:
    fine = present[np.isfinite(present)]
    if not len(fine):
        return Column(name, "number", share, 0, Bars(np.zeros(1)))
    counts, edges = histogram(fine, BINS)
    return Column(
        name,
        "number",
        share,
        len(np.unique(fine)),
        Bars(counts, edges),
        float(fine.mean()),
        float(fine.std()),
        float(fine.min()),
        float(fine.max()),
    )
