"""Training and prediction on the native engine: the same numbers, whole epochs at once, many models, Ctrl-C."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import pellucid as pel
from pellucid import Model, nn, optim, train
from pellucid.errors import ShapeError
from pellucid.graph.primitives.control import custom_rule

rng = np.random.default_rng(0)
X = rng.normal(size=(90, 4))
Y = (X[:, 0] * X[:, 1] > 0).astype(int)


def model(engine="native", threads=1, **network):
    net = nn.mlp((8, 6), 2, **network)
    return Model(net, "cross_entropy", optim.Adam(0.01), ["accuracy"], dtype=np.float64, engine=engine, threads=threads)


def fitted(engine="native", threads=1, network=None, **fit):
    made = model(engine, threads, **(network or {}))
    made.fit(X, Y, **{"epochs": 4, "batch_size": 16, "verbose": False, **fit})
    return made


def same(a, b, exact=True):
    for name in a.params:
        if exact:
            assert_array_equal(a.params[name], b.params[name])
        else:
            assert_allclose(a.params[name], b.params[name], rtol=1e-7, atol=1e-8)


def test_the_history_is_that_of_the_numpy_engine():
    one, two = (fitted(engine, validation=0.2) for engine in ("native", "numpy"))
    for a, b in zip(one.history.epochs, two.history.epochs, strict=True):
        assert a.keys() == b.keys()
        for name in a:
            assert_allclose(a[name], b[name], rtol=1e-9)


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_the_same_call_gives_the_same_bits(split, threads):
    network = {"dropout": 0.3, "norm": "batch"}
    one, two = (fitted(threads=threads, network=network) for _ in range(2))
    same(one, two)
    same(one, fitted("numpy", network=network), exact=False)


def test_epochs_at_once_and_one_by_one_give_the_same_bits():
    seen = []
    quiet = fitted(epochs=6)
    listened = fitted(epochs=6, callbacks=[lambda run: seen.append(run.loss)])

    class EachBatch(train.Callback):
        def on_batch_end(self, run):
            seen.append(run.loss)

    by_batch = fitted(epochs=6, callbacks=[EachBatch()])
    same(quiet, listened)
    same(quiet, by_batch)
    assert quiet.history.epochs == listened.history.epochs == by_batch.history.epochs
    assert len(seen) == 6 + 6 * 6


def test_a_run_ends_after_so_many_steps():
    made = fitted(epochs=None, steps=9)
    assert made.history.stopped == "all 9 steps done"
    same(made, fitted("numpy", epochs=None, steps=9), exact=False)


def test_the_data_and_a_failed_call_are_left_alone():
    data, labels = X.copy(), Y.copy()
    made = fitted()
    assert_array_equal(X, data)
    assert_array_equal(Y, labels)
    kept = {k: v.copy() for k, v in made.params.items()}
    with pytest.raises(ShapeError):
        made.fit(X[:, :2], Y, epochs=1, verbose=False)
    assert all(np.array_equal(kept[k], v) for k, v in made.params.items())


def test_divergence_keeps_the_last_good_parameters():
    """A rate that explodes: both engines stop at the same step with the same parameters."""

    def run(engine):
        net = nn.mlp((8,), 1)
        made = Model(net, "squared_error", optim.SGD(3e3), dtype=np.float64, engine=engine, threads=1)
        made.fit(X, X[:, 0] * 50, epochs=60, batch_size=16, verbose=False, on_divergence="stop")
        return made

    one, two = run("native"), run("numpy")
    assert "diverged" in one.history.stopped
    assert one.history.stopped.split(":")[0] == two.history.stopped.split(":")[0]
    assert all(np.isfinite(v).all() for v in one.params.values())
    for name in one.params:
        assert_allclose(one.params[name], two.params[name], rtol=1e-6)
    with pytest.raises(train.Diverged):
        Model(nn.mlp((8,), 1), "squared_error", optim.SGD(3e3), engine="native").fit(
            X, X[:, 0] * 50, epochs=60, batch_size=16, verbose=False
        )


def test_only_the_new_parameters_are_not_finite():
    """Loss and gradient are finite, the update is not: seen after the step, which is taken back."""
    labels = np.where(np.arange(90) < 85, 0.0, 1e200)

    def run(engine):
        made = Model(nn.Dense(1), "squared_error", optim.SGD(1e-2), dtype=np.float64, engine=engine, threads=1)
        made.fit(X, labels, epochs=3, batch_size=16, shuffle=False, verbose=False, on_divergence="stop")
        return made

    one, two = run("native"), run("numpy")
    assert one.history.stopped.split(":")[0] == two.history.stopped.split(":")[0]
    assert all(np.isfinite(v).all() for v in one.params.values())
    for name in one.params:
        assert_allclose(one.params[name], two.params[name], rtol=1e-9)


def test_what_cannot_be_compiled_runs_on_numpy_with_one_message():
    from pellucid.engine.native.runtime.fallback import FallbackWarning

    @custom_rule(slope=lambda d, y, x: d * 3 * x**2, shape=lambda x: x)
    def by_hand(x):
        return np.array([v**3 for v in np.ravel(x).tolist()]).reshape(np.shape(x))

    def make():
        net = nn.Sequential(nn.Dense(3), by_hand, nn.Dense(2))
        return Model(net, "cross_entropy", optim.SGD(0.01), dtype=np.float64, engine="native", threads=1)

    one = make()
    with pytest.warns(FallbackWarning, match="by_hand.*not made of operations that can be recorded") as caught:
        one.fit(X, Y, epochs=2, batch_size=16, verbose=False)
    assert len([w for w in caught if "training step" in str(w.message)]) == 1
    assert one.history.epochs[-1]["loss"] < one.history.epochs[0]["loss"]


def test_the_engine_is_chosen_by_sizes(monkeypatch):
    from pellucid.train.loop import native_steps

    used = []
    original = native_steps.NativeSteps.__init__

    def noted(self, run, threads):
        used.append(run.plan.epochs)
        original(self, run, threads)

    monkeypatch.setattr(native_steps.NativeSteps, "__init__", noted)
    fitted("auto", epochs=2)
    assert used == []
    fitted("auto", epochs=2000, callbacks=[train.EarlyStopping(monitor="loss", patience=1, min_delta=1e9)])
    assert used == [2000]


def test_wrong_engines_and_threads_are_refused(monkeypatch):
    with pytest.raises(ValueError, match="engine is one of 'numpy', 'native', 'auto', 'jax', got 'steam'"):
        Model(nn.mlp(), engine="steam")
    with pytest.raises(ValueError, match="threads is a number from 1"):
        Model(nn.mlp(), threads=0)
    monkeypatch.setenv("PELLUCID_THREADS", "many")
    with pytest.raises(ValueError, match="PELLUCID_THREADS is a number from 1, got 'many'"):
        fitted(threads=None)
    monkeypatch.setenv("PELLUCID_THREADS", "2")
    from pellucid.processors import default_threads

    assert default_threads() == 2


# prediction


@pytest.mark.parametrize("rows", [1, 2, 33, 90])
def test_predictions_are_those_of_the_numpy_engine(rows):
    made = fitted(network={"norm": "batch"})
    scores = made.net.predict(made.params, X[:rows], made.state)
    assert_allclose(made.scores(X[:rows]), scores, rtol=1e-12, atol=1e-14)
    assert_allclose(made.predict(X[:rows]), made.loss.link(scores), rtol=1e-12)
    assert made.predict(X[:rows]).shape == (rows, 2)
    assert_array_equal(made.predict_classes(X[:rows]), np.argmax(scores, axis=1))


def test_predictions_follow_the_parameters():
    made = fitted()
    first = made.predict(X)
    name = "output.bias"
    made.params[name][:] = [5.0, -5.0]  # in place
    changed = made.predict(X)
    assert not np.allclose(first, changed)
    made.params = {**made.params, name: np.zeros(2)}
    assert_allclose(made.predict(X), made.loss.link(made.net.predict(made.params, X, made.state)), rtol=1e-12)
    made.fit(X, Y, epochs=1, batch_size=16, verbose=False)
    assert_allclose(made.predict(X), made.loss.link(made.net.predict(made.params, X, made.state)), rtol=1e-12)
    result = made.predict(X[:1])
    result[:] = 0  # the caller's own
    assert made.predict(X[:1]).sum() > 0.9


def test_many_rows_and_none_are_predicted():
    made = fitted()
    many = np.tile(X, (200, 1))
    assert_array_equal(made.predict(many)[: len(X)], made.predict(many)[len(X) : 2 * len(X)])
    assert made.predict(X[:0]).shape == (0, 2)


def test_a_saved_model_predicts_the_same(tmp_path):
    made = fitted()
    made.save(tmp_path / "m.pellucid")
    again = pel.load(tmp_path / "m.pellucid")
    assert_allclose(again.predict(X), made.predict(X), rtol=1e-10)


# many models


@pytest.mark.parametrize("threads", [1, 3])
def test_many_models_are_as_if_trained_alone(threads):
    models = [model() for _ in range(5)]
    histories = pel.fit_many(models, X, Y, seeds=range(5), threads=threads, epochs=3, batch_size=16, verbose=False)
    for seed, (made, history) in enumerate(zip(models, histories, strict=True)):
        alone = fitted(epochs=3, seed=seed)
        same(made, alone)
        assert history.epochs == alone.history.epochs
        assert made.threads == 1


def test_each_model_has_rows_and_callbacks_of_its_own():
    parts = [np.arange(0, 60), np.arange(30, 90)]
    weights = rng.uniform(0.5, 2, 90)
    stops = train.EarlyStopping(monitor="loss", patience=1, min_delta=1e9)
    models = [model(), model()]
    pel.fit_many(
        models, X, Y, rows=parts, sample_weight=weights, callbacks=[stops], epochs=9, batch_size=16, verbose=False
    )
    for made, part in zip(models, parts, strict=True):
        alone = model()
        alone.fit(
            X[part],
            Y[part],
            sample_weight=weights[part],
            callbacks=[train.EarlyStopping(monitor="loss", patience=1, min_delta=1e9)],
            epochs=9,
            batch_size=16,
            verbose=False,
        )
        same(made, alone)
        assert len(made.history.epochs) < 9


def test_an_error_in_one_model_names_it_and_spares_the_others():
    models = [model(), model(), model()]
    with pytest.raises(ShapeError) as caught:
        pel.fit_many(models, X, Y, rows=[np.arange(50)] * 3, epochs=1, validation=[200], verbose=False)
    assert "in fit_many, model 0 of 3" in caught.value.__notes__
    with pytest.raises(ShapeError, match="rows has 1 entries for 3 models"):
        pel.fit_many(models, X, Y, rows=[np.arange(50)])
    with pytest.raises(ValueError, match="listed twice"):
        pel.fit_many([models[0]] * 2, X, Y)


# Ctrl-C


def test_a_resumed_run_stays_on_its_engine(tmp_path):
    """Six epochs at once, or three and then three more, though "auto" would choose otherwise for so few."""
    many = {"batch_size": 16, "verbose": False}
    whole = model("native")
    whole.fit(X, Y, epochs=6, **many)
    part = model("native")
    part.fit(X, Y, epochs=3, callbacks=[train.Checkpoint(tmp_path / "run.ckpt")], **many)
    rest = model("auto")
    rest.fit(X, Y, epochs=6, callbacks=[train.Checkpoint(tmp_path / "more.ckpt")], resume=tmp_path / "run.ckpt", **many)
    same(whole, rest)
    assert rest._compiled is not None


def test_a_resumed_run_of_arrays_without_a_length_stays_on_numpy(tmp_path):
    """Only a stream may not have gone on for long enough: arrays go on as they began."""

    def until(epoch, end):
        return lambda run: end() if run.epoch == epoch else None

    def interrupt():
        raise KeyboardInterrupt

    def fit(engine, *callbacks, **options):
        one = model(engine)
        one.fit(X, Y, max_time=600, batch_size=16, verbose=False, callbacks=callbacks, **options)
        return one

    path, enough = tmp_path / "run.ckpt", until(4, lambda: "enough")
    assert fit("auto", enough).compiled  # with no end in sight compiling pays
    whole = fit("numpy", enough)
    fit("numpy", train.Checkpoint(path), until(3, interrupt))
    rest = fit("auto", train.Checkpoint(tmp_path / "more.ckpt"), enough, resume=path)
    assert not rest.compiled
    same(whole, rest)
