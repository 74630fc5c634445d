"""The demo does what it shows: the model it leaves behind is the one it has scored."""

import io
import re

import numpy as np
import pytest
from rich.console import Console
from sklearn.metrics import accuracy_score
from sklearn.model_selection import train_test_split

import pellucid
from pellucid import datasets
from pellucid.cli import main
from pellucid.demo.table import SEED, TESTED, _chosen, show_table_model


@pytest.fixture(scope="module", params=[80, 120])
def shown(request, tmp_path_factory):
    out = tmp_path_factory.mktemp("demo") / "new"
    console = Console(record=True, width=request.param, file=io.StringIO())
    show_table_model(console, out)
    text = console.export_text()
    return text, out / "adult.pel"


@pytest.fixture(scope="module")
def tested():
    X, y = datasets.load("adult")
    return train_test_split(X, y, test_size=TESTED, random_state=SEED, stratify=y)[1::2]


def test_it_fits_on_a_screen(shown):
    lines = shown[0].splitlines()
    assert max(map(len, lines)) <= 100
    assert not any("…" in line for line in lines)  # nothing is cut off
    assert len(lines) <= 40


def test_models_are_compared(shown):
    rows = dict(re.findall(r"^ (\S.*?)  +(\d+\.\d)% .* s *$", shown[0], flags=re.M))
    assert len(rows) == 5
    baseline = float(rows.pop("always the larger class"))
    assert all(float(accuracy) > baseline + 5 for accuracy in rows.values())
    assert float(rows["TabularMLPClassifier (Pellucid)"]) > max(map(float, rows.values())) - 2


def test_the_saved_model_is_the_one_that_was_scored(shown, tested):
    text, path = shown
    X, y = tested
    assert "the same predictions ✓" in text
    accuracy = accuracy_score(y, pellucid.load(path).predict(X))
    assert re.search(rf"TabularMLPClassifier \(Pellucid\) +{accuracy:.1%}", text)


def test_three_rows_are_predicted(shown, tested):
    text, path = shown
    X, truth = _chosen(*tested)
    assert len(X) == 3
    assert set(truth) == set(tested[1])
    chances = pellucid.load(path).predict_proba(X)[:, 1]
    table = text[text.index("Three of the rows") :]
    assert "missing" in table
    for age, chance, label in zip(X["age"], chances, truth, strict=True):
        assert re.search(rf"^ {age} .* {chance:.1%} .* {re.escape(label)} [✓✗]", table, flags=re.M)
    assert np.isfinite(chances).all()


def test_the_lecture_is_one_word_away(capsys):
    main(["demo", "--lecture"])
    assert "Automatic differentiation" in capsys.readouterr().out
