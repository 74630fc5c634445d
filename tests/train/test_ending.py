"""How a run ended: the kind and the words, in the run, the history and the files."""

import numpy as np
import pytest

import pellucid as pel
from pellucid import nn, optim, train
from pellucid.train.files.container import read, write
from pellucid.train.loop.ending import Ending, EndingKind, ending_of_text

X = np.random.default_rng(0).normal(size=(40, 2)).astype(np.float32)
R = X[:, 0] * X[:, 1]


def fit(callbacks=(), lr=0.01, **options):
    model = train.Model(nn.mlp((4,), 1, activation="squared_relu"), "squared_error", optim.SGD(lr))
    model.fit(X, R, **{"epochs": 4, "batch_size": 10, "verbose": False, "callbacks": callbacks} | options)
    return model


def interrupt(run):
    raise KeyboardInterrupt


@pytest.mark.parametrize("engine", ["numpy", "native"])
@pytest.mark.parametrize(
    ("options", "kind"),
    [
        ({}, EndingKind.EPOCHS),
        ({"steps": 5}, EndingKind.STEPS),
        ({"max_time": 0.0}, EndingKind.TIME),
        ({"callbacks": [lambda run: "all epochs done that I wanted"]}, EndingKind.CALLBACK),
        ({"callbacks": [lambda run: "training diverged, says a callback"]}, EndingKind.CALLBACK),
        ({"callbacks": [interrupt]}, EndingKind.INTERRUPTED),
        ({"lr": 1e9, "on_divergence": "stop"}, EndingKind.DIVERGED),
    ],
    ids=lambda value: value.name if isinstance(value, EndingKind) else None,
)
def test_the_kind_of_an_ending(options, kind, engine):
    options = dict(options)
    model = train.Model(
        nn.mlp((4,), 1, activation="squared_relu"), "squared_error", optim.SGD(options.pop("lr", 0.01)), engine=engine
    )
    history = model.fit(X, R, **{"epochs": 4, "batch_size": 10, "verbose": False} | options)
    assert history.ending.kind is kind
    assert history.stopped == history.ending.text != ""


def test_an_error_is_a_failure():
    model = train.Model(nn.mlp((4,), 1), "squared_error")
    with pytest.raises(train.CallbackError):
        model.fit(X, R, verbose=False, callbacks=[lambda run: 1 / 0])
    assert model.history.ending.kind is EndingKind.FAILED


def test_an_empty_reason_is_none():
    assert fit([lambda run: ""]).history.ending.kind is EndingKind.EPOCHS


@pytest.mark.parametrize(("limit", "kind"), [(200, EndingKind.CONVERGED), (1, EndingKind.STEPS)])
def test_lbfgs(limit, kind):
    model = train.Model(nn.mlp((), 1), "squared_error", dtype="float64")
    history = train.fit_lbfgs(model, X, X[:, 0], max_iter=limit)
    assert history.ending.kind is kind
    assert ending_of_text(history.stopped).kind is kind  # as a file of an older version is read
    assert history.converged is (kind is EndingKind.CONVERGED)


def test_a_model_file_holds_the_kind(tmp_path):
    model = fit([lambda run: "the time has come"])
    model.save(tmp_path / "model.pel")
    assert pel.load(tmp_path / "model.pel").history.ending == Ending(EndingKind.CALLBACK, "the time has come")
    arrays, data = read(tmp_path / "model.pel", "model")
    del data["history"]["ending"]  # as older versions wrote it
    write(tmp_path / "old.pel", arrays, data, "model")
    assert pel.load(tmp_path / "old.pel").history.ending.kind is EndingKind.TIME


def test_a_resumed_run_goes_beyond_limits_and_not_beyond_callbacks(tmp_path):
    path = tmp_path / "run.ckpt"
    fit([train.Checkpoint(path)], steps=8)
    assert len(fit([train.Checkpoint(path)], steps=16, resume=path).history) == 4
    fit([lambda run: "all that I wanted" if run.epoch == 2 else None, train.Checkpoint(path)])
    again = fit([train.Checkpoint(path)], resume=path)
    assert len(again.history) == 2
    assert again.history.ending == Ending(EndingKind.CALLBACK, "all that I wanted")


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("all 3 epochs done", EndingKind.EPOCHS),
        ("all 3 steps done", EndingKind.STEPS),
        ("the time of 3 s is over", EndingKind.TIME),
        ("interrupted by the user (Ctrl-C)", EndingKind.INTERRUPTED),
        ("training diverged at step 3: ...", EndingKind.DIVERGED),
        ("an error: ...", EndingKind.FAILED),
        ("enough", EndingKind.CALLBACK),
    ],
)
def test_words_alone(text, kind):
    assert train.History([], text).ending == Ending(kind, text)


def test_no_words():
    assert train.History([], "").ending is None
    assert train.History().stopped == ""
