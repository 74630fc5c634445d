"""What files say about themselves, without their arrays."""

import json
import tracemalloc
from pathlib import Path

import numpy as np
import pytest

import pellucid as pel
from pellucid import nn, train
from pellucid.errors import PellucidError
from pellucid.train.files.container import look, read, write

FIXTURES = Path(__file__).parents[2] / "fixtures"
CASES = {
    "model": ("Model", [], 60, 3),
    "classifier": ("MLPClassifier", ["high", "low", "mid"], 81, 5),
    "regressor": ("MLPRegressor", [], 90, 5),
    "table_classes": ("TabularMLPClassifier", ["high", "low", "mid"], 72, 4),
    "table_numbers": ("TabularMLPRegressor", [], 72, 4),
    "bagged": ("BaggedMLPClassifier", ["high", "low", "mid"], 90, 3),
}


@pytest.mark.parametrize("name", CASES)
def test_a_summary(name, tmp_path):
    estimator = pel.load(FIXTURES / "summaries" / f"{name}.pel")
    estimator.save(tmp_path / "a.pel")
    about = pel.describe(tmp_path / "a.pel")
    summary = about.summary
    assert (summary.made_by, summary.classes, summary.rows) == CASES[name][:3]
    assert summary.epochs == CASES[name][3]
    assert summary.seconds > 0
    assert summary.parameters > 0
    assert summary.scores
    assert about.versions == {"pellucid": pel.__version__, "numpy": np.__version__} | {
        "python": about.versions["python"]
    }
    assert about.size == (tmp_path / "a.pel").stat().st_size
    shown = str(about)
    assert CASES[name][0] in shown
    assert f"{summary.rows} rows" in shown
    json.dumps(about.to_dict(), allow_nan=False)


def test_columns_of_a_table():
    columns = pel.describe(FIXTURES / "summaries" / "table_classes.pel").summary.columns
    assert columns == [
        {"name": "a", "kind": "numeric"},
        {"name": "b", "kind": "numeric"},
        {"name": "town", "kind": "category", "categories": 2},
        {"name": "day", "kind": "datetime"},
        {"name": "many", "kind": "category", "categories": 11},
        {"name": "up", "kind": "boolean", "categories": 2},
    ]


@pytest.mark.parametrize("path", sorted(FIXTURES.rglob("*.pel")) + sorted(FIXTURES.rglob("*.ckpt")), ids=str)
def test_every_kept_file_has_a_description(path):
    about = pel.describe(path)
    assert about.kind == ("checkpoint" if path.suffix == ".ckpt" else "model" if path.stem == "model" else "estimator")
    assert about.kind == "checkpoint" or about.summary.made_by
    assert str(about)


def test_it_takes_little_memory(tmp_path):
    model = pel.Model(nn.mlp((1000, 1000), 1)).initialize(1000)
    model.save(tmp_path / "large.pel")
    tracemalloc.start()
    try:
        about = pel.describe(tmp_path / "large.pel")
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert about.size > 8e6
    assert peak < 4e6


def test_a_damaged_array_is_told(tmp_path):
    path = tmp_path / "a.pel"
    raw = bytearray((FIXTURES / "summaries" / "model.pel").read_bytes())
    raw[-3] ^= 1
    path.write_bytes(raw)
    with pytest.raises(train.CheckpointError, match=r"a\.pel is damaged.*copy it again"):
        pel.describe(path)


@pytest.mark.parametrize(
    "summary",
    [{"rows": -1}, {"columns": 3}, {"classes": [[]]}, {"scores": {"a": "b"}}, {"seconds": "long"}, {"made_by": None}],
)
def test_a_forged_summary(summary, tmp_path):
    source = FIXTURES / "summaries" / "model.pel"
    arrays, metadata = read(source, "model")
    write(tmp_path / "a.pel", arrays, metadata, "model", look(source).summary | summary)
    with pytest.raises(PellucidError, match="not what pellucid writes"):
        pel.describe(tmp_path / "a.pel")
    assert pel.load(tmp_path / "a.pel").params  # what is not needed to predict is not looked at


def test_the_time_of_a_training(tmp_path):
    X = np.linspace(-1, 1, 20)[:, None]
    model = pel.Model(nn.mlp((2,), 1), engine="numpy")
    assert model.history.seconds is None
    history = model.fit(X, X, epochs=2, verbose=False)
    assert history.seconds > 0
    model.save(tmp_path / "a.pel")
    assert pel.load(tmp_path / "a.pel").history.seconds == history.seconds
