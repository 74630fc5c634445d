"""Remedies help: what is repaired and trained again is healthy, and predicts better where training was at fault."""

from __future__ import annotations

from tests.inspect.zoo import BROKEN
from tests.inspect.zoo.evaluation import share
from tests.inspect.zoo.remedies import failure, settings


def test_settings_are_read_from_a_remedy():
    remedy = 'model.fit(X, y, epochs=40, batch_size=16, class_weight="balanced", callbacks=[train.EarlyStopping(10)])'
    assert settings(remedy) == {"epochs": 40, "batch_size": 16, "patience": 10, "class_weight": "balanced"}
    assert settings("optim.SGD(0.1)   # instead of 1e-06") == {}


def test_remedies_bring_quantities_back_and_better_predictions():
    """Of every other fault, where it is named (docs/make_diagnosis_figures.py tries all); one worker trains them."""
    failures = {case.name: failure(case) for case in BROKEN[::2]}
    tried = {name: words for name, words in failures.items() if words is not None}
    told = "\n".join(f"{name}: {words}" for name, words in tried.items() if words)
    assert share([not words for words in tried.values()]) >= 0.9, told
