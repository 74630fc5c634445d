"""The tables: which took part in choosing settings, which only judge them, and how each is read and split."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.model_selection import train_test_split

CHOOSING = (
    "penguins", "auto_mpg", "titanic", "german_credit", "concrete", "insurance", "abalone", "churn", "phoneme",
    "satellite", "wine_quality", "kin8nm", "california_housing", "bank_marketing", "adult", "diamonds",
)  # fmt: skip
"""Settings were chosen on these."""

JUDGING = (
    "iris", "wine", "sonar", "diabetes_progression", "breast_cancer", "pima_diabetes", "energy_efficiency",
    "digits8x8", "ames_housing", "spambase", "higgs_small", "mushroom", "cpu_act", "power_plant", "bike_sharing",
    "magic_gamma", "letter", "electricity", "shuttle",
)  # fmt: skip
"""Nothing was chosen on these."""

LARGE = ("skin_segmentation", "nycflights13", "kddcup99_10pct")
"""Whole, with one seed."""

MOST = 20_000
"""Rows of the others at most; larger ones are sampled."""


@dataclass(frozen=True)
class Task:
    """A table, divided; `classes` are those of all its rows, None where the target holds numbers."""

    name: str
    train: tuple[Any, Any]
    test: tuple[Any, Any]
    classes: list[str] | None


def task(folder: Path, name: str, seed: int) -> Task:
    """Four fifths to train on and a fifth to test; each seed has rows and a split of its own."""
    X, y, are_classes = _read(folder, name)
    if len(X) > MOST and name not in LARGE:
        rows = np.random.default_rng(seed).choice(len(X), MOST, replace=False)
        X, y = X.iloc[rows], y[rows]
    if are_classes:  # a class of one row can not be on both sides
        counts = pd.Series(y).value_counts()
        often = np.isin(y, counts.index[counts >= 5])
        X, y = X[often], y[often]
    stratify = y if are_classes else None
    split = train_test_split(X, y, test_size=0.2, random_state=seed, stratify=stratify)
    frames = [frame.reset_index(drop=True) for frame in split[:2]]
    labels = sorted(set(y.tolist())) if are_classes else None
    return Task(name, (frames[0], split[2]), (frames[1], split[3]), labels)


def rows_of(folder: Path) -> dict[str, int]:
    """How many rows the tables have."""
    entries = json.loads((folder / "index.json").read_text())["datasets"]
    return {entry["name"]: entry["rows"] for entry in entries if isinstance(entry["rows"], int)}


@lru_cache(maxsize=2)
def _read(folder: Path, name: str) -> tuple[Any, Any, bool]:
    """(frame, target, are there classes?); identifiers and the like left out, categories declared."""
    entries = {entry["name"]: entry for entry in json.loads((folder / "index.json").read_text())["datasets"]}
    info = entries[name]
    frame = pd.read_csv(folder / info["file"], low_memory=False)
    target = info["target"] if isinstance(info["target"], str) else info["target"][0]
    others = [] if isinstance(info["target"], str) else info["target"][1:]
    left_out = {target, *others, *info.get("ignore", [])}
    X = frame.drop(columns=[column for column in frame if column in left_out])
    for column in info["categorical"]:
        if column in X:
            texts = X[column].map(str).where(X[column].notna(), None)
            X[column] = texts.astype("category")
    classes = "regression" not in info["task"]
    y = frame[target].astype(str).to_numpy() if classes else frame[target].to_numpy(float)
    return X, np.asarray(y), classes
