"""From a table to predictions: train, compare, save, load, predict. The main job, on one screen."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from rich import box
from rich.console import Console
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from pellucid.datasets import Info, load
from pellucid.demo.rivals import Score, rivals, scored, settled_fit, timed_fit

SEED = 0
TESTED = 0.25
"""Share of the rows that no model sees before it is scored."""
EPOCHS = 32
"""A quarter of what "auto" takes for these rows, so that it is soon done, on busy machines too."""
WIDTH = 100
INDENT = "  "
ROUNDING = 1e-5
"""Probabilities in single precision that differ by less are the same."""
SHOWN = ("age", "education", "occupation", "hours_per_week", "marital_status")
"""Columns of the three rows; the last one needs a screen of full width."""


def show_table_model(console: Console, out: Path | None = None) -> None:
    """Train a model of the census table, compare it, save it to `out` (or a folder that goes away), use it."""
    from sklearn.model_selection import train_test_split

    console.width = min(console.width, WIDTH)
    table = load("adult")
    split = train_test_split(table.X, table.y, test_size=TESTED, random_state=SEED, stratify=table.y)
    X_train, X_test, y_train, y_test = split
    console.print(_opening(table.info, table.X, len(X_train), len(X_test)))
    model, ours, first = _trained(X_train, y_train, X_test, y_test)
    with console.status("the others"):
        scores = [
            scored(name, other, settled_fit(other, X_train, y_train), X_test, y_test)
            for name, other in rivals(SEED).items()
        ]
    console.print(*_comparison([*scores, ours], len(X_test)), sep="\n")
    if first is not None:
        kernels, seconds = first
        text = f"{INDENT}The first fit took {seconds:.1f} s: {kernels} kernels were compiled here, once."
        console.print(Text(text, "dim"))
    with tempfile.TemporaryDirectory() as folder:
        loaded = _through_a_file(console, model, (out or Path(folder)) / "adult.pel", X_test)
    names = SHOWN if console.width >= WIDTH else SHOWN[:-1]
    console.print(*_predictions(loaded, *_chosen(X_test, y_test), names), sep="\n")
    if out is not None:
        console.print(Text(f"\n{INDENT}The model is in {out / 'adult.pel'}", "dim"), soft_wrap=True)


def _trained(X: Any, y: Any, X_test: Any, y_test: Any) -> tuple[Any, Score, tuple[int, float] | None]:
    """(model, its score, (kernels compiled, seconds of the first fit) if there were any)"""
    from sklearn.base import clone

    from pellucid.engine.native import cache
    from pellucid.estimators.tables.tabular import TabularMLPClassifier

    before = cache.compilations
    model = TabularMLPClassifier(max_iter=EPOCHS, calibrated=True, random_state=SEED, verbose="auto")
    seconds = timed_fit(model, X, y)
    compiled = cache.compilations - before
    first = (compiled, seconds) if compiled else None
    if first is not None:  # what a fit takes from now on
        seconds = timed_fit(clone(model).set_params(verbose=False), X, y)
    return model, scored("TabularMLPClassifier (Pellucid)", model, seconds, X_test, y_test), first


def _opening(info: Info, X: Any, learned: int, tested: int) -> Panel:
    categories = sum(str(kind) == "category" for kind in X.dtypes)
    text = Text()
    text.append(f"{info.title}\n", "bold")
    text.append(
        f"{learned:,} people to learn from, {tested:,} to test; {X.shape[1] - categories} numbers and {categories} "
        f"categories of each, {int(X.isna().to_numpy().sum()):,} missing.\n"
    )
    text.append(f"{info.citation} ({info.licence})\n\n", "dim")
    text.append(f"model = TabularMLPClassifier(max_iter={EPOCHS}, calibrated=True).fit(X, y)", "cyan")
    return Panel(text, title="[bold]Pellucid[/]: a table, a model, a prediction", box=box.ROUNDED, padding=(0, 1))


def _heading(text: str, remark: str = "") -> Text:
    return Text.assemble("\n", (text, "bold"), (f"  {remark}", "dim"))


def _grid() -> Table:
    return Table(box=box.SIMPLE_HEAD, show_edge=False, collapse_padding=True)


def _comparison(scores: list[Score], rows: int) -> tuple[Text, Table]:
    table = _grid()
    table.add_column("model", min_width=31)
    for name in ("accuracy", "ROC AUC", "log loss", "epochs", "fit"):
        table.add_column(name, justify="right", no_wrap=True)
    best = (max(s.accuracy for s in scores), max(s.auc for s in scores), min(s.log_loss for s in scores))
    for score in scores:
        numbers = zip((score.accuracy, score.auc, score.log_loss), best, (".1%", ".3f", ".3f"), strict=True)
        cells = [f"[bold green]{v:{form}}[/]" if v == b else f"{v:{form}}" for v, b, form in numbers]
        epochs = "" if score.epochs is None else str(score.epochs)
        style = "bold" if score is scores[-1] else ""
        table.add_row(Text(score.name, style), *cells, epochs, f"{score.seconds:.1f} s")
    chance = float(np.sqrt(best[0] * (1 - best[0]) / rows))
    return _heading("The test", f"standard error of an accuracy on {rows:,} rows: {chance:.1%}"), table


def _through_a_file(console: Console, model: Any, path: Path, X: Any) -> Any:
    """Save, load, and see that nothing has changed."""
    from pellucid import load as load_model

    path.parent.mkdir(parents=True, exist_ok=True)
    model.save(path)
    loaded = load_model(path)
    apart = float(np.abs(model.predict_proba(X) - loaded.predict_proba(X)).max())
    size = f"{path.stat().st_size / 1024:,.0f} KB, preprocessing included"
    verdict = ("the same predictions ✓", "green") if apart < ROUNDING else ("other predictions ✗", "red")
    console.print(_heading("A file"))
    console.print(Text.assemble((f'{INDENT}model.save("{path.name}")             ', "cyan"), size))
    console.print(Text.assemble((f'{INDENT}model = pellucid.load("{path.name}")  ', "cyan"), verdict))
    return loaded


def _chosen(X: Any, y: Any) -> tuple[Any, Any]:
    """Three rows: one with a missing cell, then the first of each class without."""
    gaps = X[["occupation"]].isna().any(axis=1).to_numpy()
    truth = y.to_numpy()
    rows = [int(np.flatnonzero(gaps)[0])]
    rows += [int(np.flatnonzero(~gaps & (truth == label))[0]) for label in np.unique(truth)]
    return X.iloc[rows], truth[rows]


def _predictions(model: Any, X: Any, truth: Any, names: tuple[str, ...]) -> tuple[Text, Table]:
    chances, answers = model.predict_proba(X), model.predict(X)
    table = _grid()
    for name in names:
        table.add_column(name.removesuffix("_per_week").replace("_", " "), no_wrap=True)
    for name in (f"P({model.classes_[1]})", "predicted"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("truth", no_wrap=True)
    for (_, row), chance, answer, label in zip(X.iterrows(), chances[:, 1], answers, truth, strict=True):
        cells = ["[dim italic]missing[/]" if row[name] != row[name] else str(row[name]) for name in names]
        mark = "[green]✓[/]" if answer == label else "[red]✗[/]"
        table.add_row(*cells, f"[bold cyan]{chance:.1%}[/]", str(answer), f"{label} {mark}")
    return _heading("Three of the rows"), table
