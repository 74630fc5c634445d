"""Watching a whole training: the same bits, the same looks on both engines, kept in files."""

from __future__ import annotations

import numpy as np
import pytest

import pellucid as pel
from pellucid import Model, inspect, nn, optim, train

rng = np.random.default_rng(0)
X = rng.normal(size=(400, 6))
y = (X[:, 0] * X[:, 1] > 0).astype(int)


def model(engine="numpy", **settings):
    net = nn.mlp((12, 8), 2, norm="batch", dropout=0.2)
    return Model(net, "cross_entropy", optim.Adam(0.01), engine=engine, penalty=nn.L2(1e-3), **settings)


def fit(engine="numpy", callbacks=(), epochs=4, **settings):
    watched = model(engine)
    watched.fit(X, y, epochs=epochs, batch_size=32, callbacks=callbacks, verbose=False, seed=5, **settings)
    return watched


def equal(a, b):
    return all(np.array_equal(a.params[name], b.params[name]) for name in a.params) and all(
        np.array_equal(a.state[name], b.state[name]) for name in a.state
    )


@pytest.mark.parametrize("engine", ["numpy", "native"])
@pytest.mark.parametrize("every", [1, 7, 1000])
def test_a_watched_training_has_the_same_bits(engine, every):
    watch = inspect.Watch(every=every)
    watched, alone = fit(engine, [watch]), fit(engine)
    assert equal(watched, alone)
    assert watched.history["loss"] == alone.history["loss"]
    steps = 4 * 13
    assert watch.looks.steps.tolist() == [*range(0, steps, every), steps]


def test_both_engines_see_the_same():
    seen = []
    for engine in ("numpy", "native"):
        watch = inspect.Watch(every=10)
        fit(engine, [watch])
        seen.append(watch.looks)
    for ours, theirs in zip(*seen, strict=True):
        assert ours.loss == pytest.approx(theirs.loss, rel=1e-3)
        for a, b in zip(ours.layers, theirs.layers, strict=True):
            for name in ("z", "a", "dz", "weight", "dweight", "update"):
                assert getattr(a, name).std == pytest.approx(getattr(b, name).std, rel=1e-2), (ours.step, a.name, name)
                assert sum(getattr(a, name).counts) == getattr(a, name).count
            assert a.rank == pytest.approx(b.rank, rel=1e-2)


def test_the_update_is_the_one_that_is_made():
    """The look ahead of step 9 shows the change of the weights by that step, rule state, dropout and all."""
    watch = inspect.Watch(every=9)
    seen = {}

    class Remember(train.Callback):
        def on_batch_end(self, run):
            seen[run.step] = {name: array.copy() for name, array in run.now.params.items()}

    fit("native", [watch, Remember()], epochs=2)
    look = watch.looks[1]
    assert look.step == 9
    for layer in look.layers:
        change = seen[10][f"{layer.name}.weight"].astype(float) - seen[9][f"{layer.name}.weight"]
        assert layer.update.std == pytest.approx(change.std(), rel=1e-3)
        assert layer.weight.std == pytest.approx(seen[9][f"{layer.name}.weight"].std(), rel=1e-4)


def test_memory_is_limited_by_thinning():
    watch = inspect.Watch(every=1, most=8)
    fit(callbacks=[watch])
    assert len(watch.looks) <= 9
    assert len(set(np.diff(watch.looks.steps[:-1]))) == 1


def test_looks_are_kept_in_histories_and_models(tmp_path):
    watch = inspect.Watch(every=20)
    watched = fit(callbacks=[watch])
    path = tmp_path / "model.pel"
    watched.save(path)
    for history in (watched.history, pel.load(path).history):
        looks = inspect.looks(history)
        assert looks.steps.tolist() == watch.looks.steps.tolist()
        assert looks[1]["hidden2"].dz == watch.looks[1]["hidden2"].dz
        assert np.array_equal(looks[-1]["hidden1"].unit_open, watch.looks[-1]["hidden1"].unit_open)
    watched.history.to_json(tmp_path / "history.json")
    assert "hidden1/dz" in (tmp_path / "history.json").read_text()
    assert len(inspect.looks(fit().history)) == 0


@pytest.mark.parametrize("engine", ["numpy", "native"])
def test_looks_are_kept_in_checkpoints(tmp_path, engine):
    whole, part = inspect.Watch(every=6), inspect.Watch(every=6)
    fit(engine, [whole])
    path = tmp_path / "run.ckpt"
    fit(engine, [part, train.Checkpoint(path)], epochs=2)
    resumed = inspect.Watch(every=6)
    fit(engine, [resumed, train.Checkpoint(path)], resume=path)
    steps = whole.looks.steps.tolist()
    assert resumed.looks.steps.tolist() == steps
    for ours, theirs in zip(resumed.looks, whole.looks, strict=True):
        assert ours["hidden1"].a == theirs["hidden1"].a
        assert ours["output"].dweight == theirs["output"].dweight


def test_streams_weights_and_failures():
    def batches():
        for first in range(0, 400, 40):
            yield X[first : first + 40], y[first : first + 40], np.ones(40)

    class Source:
        def __iter__(self):
            return batches()

    for engine in ("numpy", "native"):
        watch = inspect.Watch(every=4)
        Model(nn.mlp((5,), 2), "cross_entropy", engine=engine).fit(Source(), epochs=2, callbacks=[watch], verbose=False)
        assert watch.looks.steps.tolist() == [0, 4, 8, 12, 16, 20]
    watch = inspect.Watch(every=1)
    broken = Model(nn.mlp((5,), 2, activation="relu"), "cross_entropy", optim.SGD(1e30))
    with np.errstate(all="ignore"):
        broken.fit(1e6 * X, y, epochs=2, callbacks=[watch], verbose=False, on_divergence="stop")
    assert len(watch.looks) >= 1


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_estimators_are_watched_too():
    watch = inspect.Watch(every=5)
    pel.MLPClassifier((7,), max_iter=10, callbacks=[watch], batch_size=100, random_state=0).fit(X, y)
    assert [layer.name for layer in watch.looks[0].layers] == ["hidden1", "output"]
    table = inspect.Watch(every=5)
    pel.TabularMLPClassifier(folds=1, max_iter=4, callbacks=[table], random_state=0).fit(X, y)
    assert len(table.looks) > 1


def test_settings_are_checked():
    for wrong in ({"every": 0}, {"every": 1.5}, {"most": 1}):
        with pytest.raises((ValueError, TypeError)):
            inspect.Watch(**wrong)
