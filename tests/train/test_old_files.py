"""Files of the version before: they load, predict the same, and a run goes on from them."""

import shutil
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import pellucid as pel
from pellucid import train
from tests.fixtures.schema1 import make

FOLDER = Path(__file__).parents[1] / "fixtures" / "schema1"


NORMALISED_AWAY = ("hidden1.bias",)
"""Batch normalisation takes this bias away again: its gradient is rounding alone, which Adam makes steps of. They
differ from one processor to the next, and change no prediction."""


@pytest.fixture(scope="module")
def expected():
    return np.load(FOLDER / "expected.npz")


def close(a, b):
    """As near as other processors come."""
    assert_allclose(a, b, rtol=1e-4, atol=1e-5)


def test_a_model(expected):
    model = pel.load(FOLDER / "model.pel")
    close(model.predict(make.data()[0]), expected["model"])
    assert_array_equal(model.history["loss"], expected["history loss"])  # the penalty is inside, and no column says so
    assert "penalty" not in model.history.epochs[0]
    assert (model.history.rows, model.history.batch_size) == (None, None)
    assert model.history.best("val_accuracy")["val_accuracy"] == max(expected["history val_accuracy"])


@pytest.mark.parametrize("name", ["classifier", "regressor", "table", "bagged"])
def test_an_estimator(name, expected, tmp_path):
    rows = make.table() if name == "table" else make.data()[0]
    estimator = pel.load(FOLDER / f"{name}.pel")
    answers = estimator.predict(rows)
    (assert_array_equal if answers.dtype.kind == "U" else close)(answers, expected[name])
    assert answers.dtype == expected[name].dtype
    estimator.save(tmp_path / "new.pel")
    assert_array_equal(pel.load(tmp_path / "new.pel").predict(rows), answers)


@pytest.mark.parametrize("name", ["epoch", "middle"])
def test_a_run_goes_on_from_a_checkpoint(name, expected, tmp_path):
    """To the same end as the run that was never interrupted."""
    path = tmp_path / "run.ckpt"
    shutil.copy(FOLDER / f"{name}.ckpt", path)
    model = make.model()
    checkpoint = train.Checkpoint(path, every_steps=1 if name == "middle" else None)
    history = make.fit(model, checkpoint, resume=path)
    for key, array in model.params.items():
        if key not in NORMALISED_AWAY:
            close(array, expected[f"param {key}"])
    close(history["val_loss"], expected["history val_loss"])
    close(history["objective"], expected["history loss"])  # that is what the column was
    seen = np.isfinite(history["loss"])
    assert seen.tolist() == [False, False, name == "epoch", True, True, True]  # what nobody noted is not made up
    assert_allclose(
        np.array(history["loss"])[seen] + np.array(history["penalty"])[seen], np.array(history["objective"])[seen]
    )
    assert history.best("loss")["epoch"] > 2
    again = make.model()
    resumed = make.fit(again, train.Checkpoint(path, every_steps=checkpoint.every_steps), resume=path)
    assert len(resumed) == 6
    assert all(np.array_equal(model.params[key], again.params[key]) for key in model.params)


def test_an_old_checkpoint_knows_at_least_whether_it_was_validated(tmp_path):
    X, y = make.data()
    callbacks = [train.EarlyStopping(50), train.LearningRateLogger(), train.Checkpoint(tmp_path / "new.ckpt")]
    with pytest.raises(train.CheckpointError, match=r"had validation data, this call has none.*without resume"):
        make.model().fit(
            X[:40],
            y[:40],
            epochs=6,
            batch_size=8,
            callbacks=callbacks,
            seed=3,
            verbose=False,
            resume=FOLDER / "epoch.ckpt",
        )
