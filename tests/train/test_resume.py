"""Checkpoints: a resumed run equals an uninterrupted one, bit for bit, however it was interrupted."""

import random

import numpy as np
import pytest

from pellucid import nn, optim, train
from pellucid.train.files.container import read
from soak.kills import contents, differences, train_and_kill, train_to_the_end

rng = np.random.default_rng(0)
X, HELD = rng.normal(size=(90, 4)), rng.normal(size=(30, 4))
Y, HELD_Y = (X[:, 0] > 0).astype(int), (HELD[:, 0] > 0).astype(int)


def model():
    net = nn.mlp((12, 8), 1, norm="batch", dropout=0.3, activation="gelu", input_dropout=0.1)
    rule = optim.chain(optim.ClipNorm(1.0), optim.Adam(optim.Cosine(0.02)), optim.WeightDecay(0.01), optim.EMA(0.95))
    return train.Model(net, "binary_cross_entropy", rule, ["accuracy"], penalty=nn.L2(1e-4))


def fit(m, path=None, stop_at=None, resume=None, every_steps=None):
    callbacks = [train.EarlyStopping(50), train.LearningRateLogger()]
    if path is not None:
        callbacks.insert(0, train.Checkpoint(path, every_steps=every_steps))
    return m.fit(
        X,
        Y,
        epochs=10,
        batch_size=16,
        validation=(HELD, HELD_Y),
        callbacks=[*callbacks, Killed(stop_at)],
        verbose=False,
        seed=3,
        resume=resume,
    )


class Killed(train.Callback):
    def __init__(self, step):
        self.at = step

    def on_batch_end(self, run):
        if run.step == self.at:
            raise SystemExit


@pytest.mark.parametrize("stop_at", [2, 9, 24, 25, 26, 55])
def test_interrupted_and_resumed_equals_uninterrupted(tmp_path, stop_at):
    whole = model()
    history = fit(whole, tmp_path / "whole.ckpt", every_steps=1)
    with pytest.raises(SystemExit):
        fit(model(), tmp_path / "run.ckpt", stop_at=stop_at, every_steps=1)
    again = model()
    resumed = fit(again, tmp_path / "run.ckpt", resume=tmp_path / "run.ckpt", every_steps=1)
    assert resumed.epochs == history.epochs
    assert all(np.array_equal(whole.params[k], again.params[k]) for k in whole.params)
    assert all(np.array_equal(whole.state[k], again.state[k]) for k in whole.state)
    (a, da), (b, db) = contents(tmp_path / "whole.ckpt"), contents(tmp_path / "run.ckpt")
    assert da == db
    assert a.keys() == b.keys()
    assert all(np.array_equal(a[k], b[k]) and a[k].dtype == b[k].dtype for k in a)


@pytest.mark.parametrize("name", [*optim.RULES])
def test_every_rule_is_resumed(tmp_path, name):
    def run(path, stop_at=None, resume=None):
        made = train.Model(nn.mlp((5, 4), 1), "binary_cross_entropy", optim.optimizer(name, lr=optim.Cosine(0.02)))
        callbacks = [train.Checkpoint(path, every_steps=1), Killed(stop_at)]
        made.fit(X, Y, epochs=3, batch_size=30, callbacks=callbacks, verbose=False, resume=resume)
        return made

    whole, path = run(tmp_path / "whole.ckpt"), tmp_path / "run.ckpt"
    with pytest.raises(SystemExit):
        run(path, stop_at=4)
    again = run(path, resume=path)
    assert all(np.array_equal(whole.params[k], again.params[k]) for k in whole.params)
    (arrays, data), (others, other_data) = contents(tmp_path / "whole.ckpt"), contents(path)
    assert data == other_data
    assert arrays.keys() == others.keys()
    assert all(np.array_equal(arrays[k], others[k]) and arrays[k].dtype == others[k].dtype for k in arrays)


@pytest.mark.parametrize("seed", range(3))
def test_really_killed_at_random_moments(tmp_path, seed):
    """SIGKILL again and again, also while a checkpoint is being written (one is written every step)."""
    whole, run = tmp_path / "whole.ckpt", tmp_path / "run.ckpt"
    train_to_the_end(whole, "numpy")
    assert train_and_kill(run, "numpy", random.Random(seed), attempts=12) >= 5
    assert differences(whole, run) == []


def test_only_the_best_and_every_so_many(tmp_path):
    m = model()
    best = train.Checkpoint(tmp_path / "best.ckpt", best=True)
    some = train.Checkpoint(tmp_path / "epoch{epoch}.ckpt", every=4)
    history = m.fit(X, Y, epochs=10, batch_size=16, validation=(HELD, HELD_Y), callbacks=[best, some], verbose=False)
    assert read(tmp_path / "best.ckpt", "checkpoint")[1]["epoch"] == history.best("val_loss")["epoch"]
    assert sorted(p.name for p in tmp_path.glob("epoch*")) == ["epoch4.ckpt", "epoch8.ckpt"]


def test_what_does_not_fit_is_refused_and_nothing_is_changed(tmp_path):
    m = model()
    fit(m, tmp_path / "a.ckpt")
    other = train.Model(nn.mlp((5,), 1), "binary_cross_entropy", optim.Adam(0.1))
    other.initialize(4)
    before = dict(other.params)
    with pytest.raises(train.CheckpointError, match="a checkpoint of another network"):
        other.fit(X, Y, resume=tmp_path / "a.ckpt", verbose=False, epochs=1)
    assert all(np.array_equal(before[k], other.params[k]) for k in before)
    with pytest.raises(train.CheckpointError, match="seed=3, this call has seed=0"):
        model().fit(X, Y, batch_size=16, resume=tmp_path / "a.ckpt", verbose=False, epochs=10)
    with pytest.raises(train.CheckpointError, match=r"another optimizer.*same length"):  # a cosine over one epoch
        model().fit(X, Y, batch_size=16, seed=3, resume=tmp_path / "a.ckpt", verbose=False, epochs=1)
    with pytest.raises(train.CheckpointError, match="give the same ones"):
        model().fit(X, Y, batch_size=16, seed=3, resume=tmp_path / "a.ckpt", verbose=False, epochs=10)
    m.save(tmp_path / "model.pel")
    with pytest.raises(train.CheckpointError, match="checkpoint"):
        fit(model(), resume=tmp_path / "model.pel")
    with pytest.raises(train.CheckpointError):
        fit(model(), resume=tmp_path / "nothing.ckpt")
    (tmp_path / "torn.ckpt").write_bytes((tmp_path / "a.ckpt").read_bytes()[:-100])
    with pytest.raises(train.CheckpointError):
        fit(model(), resume=tmp_path / "torn.ckpt")
