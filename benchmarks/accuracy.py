"""How good the defaults are on tables: `python -m benchmarks.accuracy --data DIR [--seeds 5] [NAME ...]`.

Accuracy, or RMSE over the target's deviation, on a fifth of the rows that nobody has seen; mean and deviation over
seeds (each with a split of its own) and the median time of a fit. Everyone gets the same rows, without tuning:

- tables:  TabularMLPClassifier / TabularMLPRegressor on the frame as it is
- mlp:     our MLPClassifier / MLPRegressor behind imputation, standard scaling and one-hot encoding
- sklearn: scikit-learn's MLP behind the same
- trees:   HistGradientBoosting on ordinal categories
- linear:  logistic regression / ridge behind the same preprocessing as the MLPs

DIR has index.json, which names files, targets and categorical columns, and the tables as CSV. Writes
benchmarks/results/accuracy.json and accuracy.md, and the record of the day anew.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from rich.console import Console
from rich.progress import Progress
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import train_test_split
from sklearn.neural_network import MLPClassifier as TheirClassifier
from sklearn.neural_network import MLPRegressor as TheirRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from benchmarks import report
from pellucid.estimators import MLPClassifier, MLPRegressor, TabularMLPClassifier, TabularMLPRegressor

RESULTS = Path(__file__).parent / "results"
TABLES = (
    "penguins", "titanic", "german_credit", "churn", "phoneme", "satellite", "bank_marketing", "adult",
    "auto_mpg", "insurance", "concrete", "abalone", "wine_quality", "kin8nm", "california_housing", "diamonds",
)  # fmt: skip
MOST = 5_000
"""Rows of a table at most; larger ones are sampled."""


def read(folder: Path, name: str, seed: int) -> tuple[Any, Any, bool]:
    """(frame, target, are there classes?); identifiers and the like left out."""
    entries = {entry["name"]: entry for entry in json.loads((folder / "index.json").read_text())["datasets"]}
    info = entries[name]
    frame = pd.read_csv(folder / info["file"], low_memory=False)
    if len(frame) > MOST:
        frame = frame.sample(MOST, random_state=seed)
    target = info["target"] if isinstance(info["target"], str) else info["target"][0]
    left_out = [target, *info.get("ignore", [])]
    X = frame.drop(columns=[c for c in left_out if c in frame])
    for column in info["categorical"]:
        if column in X:
            X[column] = (
                X[column].astype(object).where(X[column].notna(), None).map(lambda v: None if v is None else str(v))
            )
            X[column] = X[column].astype("category")
    classes = "regression" not in info["task"]
    y = frame[target].astype(str).to_numpy() if classes else frame[target].to_numpy(float)
    return X.reset_index(drop=True), y, classes


def prepared(model: Any) -> Any:
    numbers = make_pipeline(SimpleImputer(strategy="median"), StandardScaler())
    names = make_pipeline(SimpleImputer(strategy="most_frequent"), OneHotEncoder(handle_unknown="ignore"))
    return make_pipeline(
        make_column_transformer(
            (names, make_column_selector(dtype_include=["category", object, "string", bool])),
            remainder=numbers,
            sparse_threshold=0.0,
        ),
        model,
    )


def contestants(classes: bool, seed: int) -> dict[str, Callable[[], Any]]:
    trees = HistGradientBoostingClassifier if classes else HistGradientBoostingRegressor
    linear = LogisticRegression(max_iter=1000) if classes else Ridge()
    return {
        "tables": lambda: (TabularMLPClassifier if classes else TabularMLPRegressor)(random_state=seed),
        "mlp": lambda: prepared((MLPClassifier if classes else MLPRegressor)(random_state=seed)),
        "sklearn": lambda: prepared((TheirClassifier if classes else TheirRegressor)(random_state=seed)),
        "trees": lambda: trees(categorical_features="from_dtype", random_state=seed),
        "linear": lambda: prepared(linear),
    }


def score(model: Any, X: Any, y: Any, classes: bool) -> float:
    """Accuracy, or RMSE over the deviation of the target."""
    found = np.asarray(model.predict(X))
    return float(np.mean(found == y)) if classes else float(np.sqrt(np.mean((found - y) ** 2)) / np.std(y))


def measure(folder: Path, name: str, seeds: int, tick: Callable[[], None]) -> dict[str, Any]:
    scores: dict[str, list[float]] = {}
    times: dict[str, list[float]] = {}
    classes = True
    for seed in range(seeds):
        X, y, classes = read(folder, name, seed)
        split = train_test_split(X, y, test_size=0.2, random_state=seed, stratify=y if classes else None)
        for who, make in contestants(classes, seed).items():
            model, begin = make(), time.perf_counter()
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                model.fit(split[0], split[2])
            times.setdefault(who, []).append(time.perf_counter() - begin)
            scores.setdefault(who, []).append(score(model, split[1], split[3], classes))
            tick()
    return {"name": name, "rows": min(len(X), MOST), "classes": classes, "scores": scores, "times": times}


def page(rows: list[dict[str, Any]]) -> str:
    """The table as Markdown, the best of each line in bold."""
    who = list(rows[0]["scores"])
    lines = [f"| table | rows | measure | {' | '.join(who)} |", "| --- | ---: | --- |" + " ---: |" * len(who)]
    for row in rows:
        means = {peer: statistics.mean(values) for peer, values in row["scores"].items()}
        best = (max if row["classes"] else min)(means.values())
        cells = []
        for peer, values in row["scores"].items():
            text = f"{means[peer]:.4f} ± {statistics.pstdev(values):.4f}"
            text = f"**{text}**" if means[peer] == best else text
            cells.append(f"{text}, {statistics.median(row['times'][peer]):.2g} s")
        measure = "accuracy" if row["classes"] else "RMSE / sd"
        lines.append(f"| {row['name']} | {row['rows']:,} | {measure} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.accuracy", description=__doc__)
    parser.add_argument("names", nargs="*", help=f"tables; by default {', '.join(TABLES)}")
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--seeds", type=int, default=5)
    options = parser.parse_args()
    names, rows = options.names or list(TABLES), []
    with Progress() as bar:
        task = bar.add_task("fits", total=len(names) * options.seeds * len(contestants(True, 0)))
        for name in names:
            bar.update(task, description=name)
            rows.append(measure(options.data, name, options.seeds, lambda: bar.advance(task)))
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / "accuracy.json").write_text(json.dumps(rows, indent=1) + "\n")
    (RESULTS / "accuracy.md").write_text(f"Measured {time.strftime('%Y-%m-%d %H:%M')}.\n\n{page(rows)}")
    report.write(RESULTS)
    Console(width=220).print(page(rows))


if __name__ == "__main__":
    main()
