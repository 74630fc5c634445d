"""A checkpoint is gone on from by the same call alone: other validation data, metrics or callbacks are refused."""

import numpy as np
import pytest

from pellucid import nn, optim, train
from pellucid.estimators import MLPClassifier, TrainingSettings, tune

rng = np.random.default_rng(0)
X, Y = rng.normal(size=(80, 3)), rng.normal(size=80)
HELD, OTHER = (X[60:], Y[60:]), (X[40:60], Y[40:60])
WEIGHTS = rng.uniform(0.5, 2.0, size=20)


def fit(path, resume=None, validation=HELD, metrics=("mae",), callbacks=None, epochs=4, **more):
    model = train.Model(nn.mlp((4,), 1), "squared_error", optim.Adam(0.01), metrics, engine="numpy")
    callbacks = [train.EarlyStopping(20)] if callbacks is None else callbacks
    options = {"batch_size": 16, "seed": 1, "verbose": False} | more
    model.fit(
        X[:40],
        Y[:40],
        epochs=epochs,
        validation=validation,
        callbacks=[*callbacks, train.Checkpoint(path)],
        resume=resume,
        **options,
    )
    return model


def refused(tmp_path, text, first=None, **second):
    """The second call is refused with this text, and leaves the checkpoint as it was."""
    path = tmp_path / "a.ckpt"
    fit(path, epochs=2, **(first or {}))
    before = path.read_bytes()
    with pytest.raises(train.CheckpointError, match=text) as caught:
        fit(path, path, **second)
    assert path.read_bytes() == before
    assert "without resume" in str(caught.value)
    assert str(path) in str(caught.value)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (HELD, OTHER),
        (HELD, None),
        (None, HELD),
        (HELD, (HELD[0], HELD[1] + 1)),
        (HELD, (HELD[0] * 2, HELD[1])),
        (HELD, (*HELD, WEIGHTS)),
        ((*HELD, WEIGHTS), HELD),
        ((*HELD, WEIGHTS), (*HELD, WEIGHTS[::-1])),
        (HELD, (HELD[0][::-1], HELD[1][::-1])),
        (HELD, (HELD[0][:10], HELD[1][:10])),
    ],
    ids=["other", "none", "some", "targets", "inputs", "weights", "no weights", "other weights", "order", "fewer"],
)
@pytest.mark.parametrize("callbacks", [[], None], ids=["alone", "early stopping"])
def test_other_validation_data(first, second, callbacks, tmp_path):
    refused(
        tmp_path,
        r"validation.*Give the validation data of the first call",
        {"validation": first, "callbacks": callbacks, "metrics": ()},
        validation=second,
        callbacks=callbacks,
        metrics=(),
    )


def test_the_same_validation_data_in_another_form(tmp_path):
    """Lists, or another precision of the same numbers: what is compared is what is computed with."""
    path = tmp_path / "a.ckpt"
    whole = fit(tmp_path / "b.ckpt")
    fit(path, epochs=2)
    again = fit(path, path, validation=(HELD[0].astype(np.float32).tolist(), HELD[1].tolist()))
    assert again.history == whole.history
    assert all(np.array_equal(whole.params[key], again.params[key]) for key in whole.params)


def test_another_share_of_the_rows(tmp_path):
    path = tmp_path / "a.ckpt"
    fit(path, validation=0.2, epochs=2)
    for other in (0.25, None, np.arange(8)):
        with pytest.raises(train.CheckpointError, match=r"data|validation"):
            fit(path, path, validation=other)
    assert len(fit(path, path, validation=0.2).history) == 4


@pytest.mark.parametrize("metrics", [(), ("r2",), ("mae", "r2"), [train.Metric("mae", lambda y, p: 0.0, mode="max")]])
def test_other_metrics(metrics, tmp_path):
    refused(tmp_path, r"metrics.*Give the metrics of the first call", metrics=metrics)


def test_metrics_that_nobody_computes_may_change(tmp_path):
    path = tmp_path / "a.ckpt"
    fit(path, validation=None, epochs=2)
    assert len(fit(path, path, validation=None, metrics=()).history) == 4


STOP, PLATEAU = train.EarlyStopping, train.Plateau


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (lambda: STOP(20), lambda: STOP(20, monitor="loss")),
        (lambda: STOP(20, monitor="val_mae"), lambda: STOP(20, monitor="val_loss")),
        (lambda: STOP(20, mode="min"), lambda: STOP(20, mode="max")),
        (lambda: STOP(20, restore_best=False), lambda: STOP(20)),
        (lambda: PLATEAU(optim.ReduceOnPlateau()), lambda: PLATEAU(optim.ReduceOnPlateau(), monitor="loss")),
        (lambda: PLATEAU(optim.ReduceOnPlateau(0.5)), lambda: PLATEAU(optim.ReduceOnPlateau(0.1))),
        (lambda: PLATEAU(optim.ReduceOnPlateau()), lambda: PLATEAU(optim.ReduceOnPlateau(mode="max"))),
        (lambda: PLATEAU(optim.ReduceOnPlateau()), lambda: PLATEAU(optim.Adaptive())),
        (lambda: train.Checkpoint("x", best=True), lambda: train.Checkpoint("x", best=True, monitor="loss")),
    ],
)
def test_callbacks_that_remember_something_else(first, second, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    refused(tmp_path, "Give it the same settings", {"callbacks": [first()]}, callbacks=[second()])


@pytest.mark.parametrize("second", [STOP(30), STOP(1), STOP(None), STOP(20, min_delta=0.1)])
def test_limits_may_change(second, tmp_path):
    path = tmp_path / "a.ckpt"
    fit(path, epochs=2)
    assert len(fit(path, path, callbacks=[second]).history) > 2


def test_a_callback_of_ones_own_says_what_must_be_the_same(tmp_path):
    class Own(train.Callback):
        def __init__(self, share):
            self.share = share

        def meaning(self):
            return {"share": self.share}

        def state(self):
            return {"seen": 1}

    refused(
        tmp_path,
        r"Own was made with share=0\.1, this call has share=0\.2",
        {"callbacks": [Own(0.1)]},
        callbacks=[Own(0.2)],
    )


# estimators


def classifier(path, resume=None, **more):
    training = TrainingSettings(checkpoint=path, resume=resume)
    options = {"max_iter": 4, "random_state": 0, "tol": 0.0, "n_iter_no_change": 50, "engine": "numpy"} | more
    return MLPClassifier((4,), training=training, **options)


@pytest.mark.filterwarnings("ignore:Stochastic Optimizer")
@pytest.mark.parametrize("early", [True, False])
def test_an_estimator_with_other_validation_data(early, tmp_path):
    path, labels = tmp_path / "a.ckpt", Y > 0
    data, held = (X[:40], labels[:40]), {"X_val": X[40:60], "y_val": labels[40:60]}
    classifier(path, max_iter=2, early_stopping=early).fit(*data, **held)
    for other in (
        {"X_val": X[60:], "y_val": labels[60:]},
        {"X_val": X[40:60], "y_val": ~labels[40:60]},
        held | {"sample_weight_val": WEIGHTS},
        {},
    ):
        with pytest.raises(train.CheckpointError, match=r"validation|seed"):  # a random split draws first
            classifier(path, path, early_stopping=early).fit(*data, **other)
    with pytest.raises(train.CheckpointError, match="metrics"):
        classifier(path, path, early_stopping=early, monitor="f1").fit(*data, **held)
    with pytest.raises(train.CheckpointError, match="early"):
        classifier(path, path, early_stopping=not early).fit(*data, **held)
    whole = classifier(tmp_path / "b.ckpt", early_stopping=early).fit(*data, **held)
    resumed = classifier(path, path, early_stopping=early).fit(*data, **held)
    assert resumed.validation_scores_ == whole.validation_scores_
    assert resumed.loss_curve_ == whole.loss_curve_


def test_trials_of_a_search_cannot_share_a_checkpoint(tmp_path):
    pytest.importorskip("optuna")
    for more in ({"path": tmp_path / "a.ckpt"}, {"path": None, "resume": tmp_path / "a.ckpt"}):
        with pytest.raises(ValueError, match="share a checkpoint"):
            tune(X, Y > 0, trials=2, estimator=classifier(**more), verbose=False)
