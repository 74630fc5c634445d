"""What easily goes wrong: callbacks used twice, directions of metrics, lengths of schedules, finished runs."""

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

from pellucid import nn, optim, train
from pellucid.train.files.container import read

rng = np.random.default_rng(0)
X = rng.normal(size=(120, 4))
R = X @ [1.0, -2.0, 0.5, 0.0]
Y = (X[:, 0] > 0).astype(int)


def model(rule=None, metrics=(), loss="squared_error", **options):
    return train.Model(nn.mlp((8,), 1), loss, rule or optim.Adam(0.02), metrics, **options)


def fit(m, *args, **options):
    return m.fit(*args, **{"epochs": 4, "batch_size": 16, "verbose": False} | options)


def same(a, b):
    return all(np.array_equal(a.params[k], b.params[k]) for k in a.params)


def test_callbacks_forget_between_runs(tmp_path):
    def make() -> list[Any]:
        return [
            train.EarlyStopping(3),
            train.Plateau(optim.ReduceOnPlateau(factor=0.1, patience=1)),
            train.LearningRateLogger(),
            train.Checkpoint(tmp_path / "best.ckpt", best=True),
        ]

    used = make()
    fit(model(optim.Adam(0.5)), X, R, callbacks=used, epochs=12)
    a, b = model(), model()
    fit(a, X, -R, callbacks=used)
    fit(b, X, -R, callbacks=make())
    assert same(a, b)
    assert a.history.epochs == b.history.epochs
    assert len(used[2].rates) == 32


def test_cross_validation_shares_no_callback_state():
    noise = rng.normal(size=120)
    options = {"folds": 3, "epochs": 30, "verbose": False}
    stopping = [train.EarlyStopping(100, monitor="loss")]
    with_it = train.cross_validate(lambda: model(), X, noise, callbacks=stopping, **options)
    assert min(row["loss"] for row in with_it.rows) > 0.3  # nobody can predict noise on rows not seen


def test_larger_is_better_for_scorers_and_own_metrics():
    from sklearn.metrics import get_scorer

    metrics = [get_scorer("neg_mean_squared_error"), train.Metric("mine", lambda y, p: -float(np.mean((y - p) ** 2)))]
    for name in ("val_mean_squared_error", "val_mine"):
        stopping = train.EarlyStopping(50, monitor=name)
        m = model(metrics=metrics)
        history = fit(m, X, R, validation=0.2, callbacks=[stopping], epochs=15)
        assert stopping.best == max(history[name])
        assert history.best(name)[name] == max(history[name])
    unknown = model(metrics=[lambda y, p: 0.0])
    with pytest.raises(train.CallbackError, match=r"Say mode='max' or mode='min'"):
        fit(unknown, X, R, validation=0.2, callbacks=[train.EarlyStopping(monitor="val_lambda")])


def test_metric_names_must_differ():
    with pytest.raises(ValueError, match="names of their own"):
        model(metrics=[lambda y, p: 0.0, lambda y, p: 1.0])
    with pytest.raises(TypeError, match=r"metrics is a list: write \['r2'\]"):
        model(metrics="r2")
    with pytest.raises(ValueError, match="is for classes, but squared_error predicts numbers"):
        model(metrics=["accuracy"])


def test_metrics_count_weights():
    m = model(metrics=["accuracy", "roc_auc", "f1"], loss="binary_cross_entropy")
    fit(m, X, Y, epochs=2)
    w = (np.arange(120) < 50).astype(float)
    assert m.evaluate(X, Y, w) == pytest.approx(m.evaluate(X[:50], Y[:50]))
    own = model(metrics=[lambda y, p: 0.0])
    fit(own, X, R, epochs=1)
    with pytest.raises(ValueError, match="takes no sample_weight"):
        own.evaluate(X, R, w)


def test_schedules_need_a_length():
    class Source:
        def __iter__(self):
            return iter([(X[:60], R[:60]), (X[60:], R[60:])])

    cosine = lambda: model(optim.Adam(optim.Cosine(0.02)))
    for options in ({"epochs": None, "max_time": 0.1}, {}):
        data = (X, R) if options else (Source(),)
        with pytest.raises(ValueError, match="the run has no known length: give epochs or steps"):
            fit(cosine().initialize(4), *data, **options)
    seen = []
    fit(cosine(), X, R, epochs=3, steps=10_000, callbacks=[lambda run: seen.append(run.lr) or None])
    assert seen[-1] < 0.001  # fitted to the 24 steps that are made
    fit(model().initialize(4), Source())


def test_a_finished_run_is_finished(tmp_path):
    path = tmp_path / "run.ckpt"
    callbacks = lambda: [lambda run: "enough" if run.epoch == 2 else None, train.Checkpoint(path)]
    a, b = model(), model()
    fit(a, X, R, callbacks=callbacks())
    history = fit(b, X, R, callbacks=callbacks(), resume=path)
    assert same(a, b)
    assert len(history) == 2
    assert history.stopped == "enough"
    c, d, e = model(), model(), model()
    fit(c, X, R, epochs=None, steps=8, callbacks=[train.Checkpoint(path)])
    fit(d, X, R, epochs=None, steps=8, callbacks=[train.Checkpoint(path)], resume=path)
    assert same(c, d)
    fit(e, X, R, epochs=None, steps=16, callbacks=[train.Checkpoint(path)], resume=path)  # a raised limit goes on
    assert not same(c, e)


def test_two_checkpoints_know_each_other(tmp_path):
    values = iter([5.0, 4.0, 1.0, 3.0, 2.0, 2.5, 2.4])
    metric = train.Metric("value", lambda y, p: next(values), mode="min")
    best = lambda: train.Checkpoint(tmp_path / "best.ckpt", best=True, monitor="val_value")
    every = lambda: train.Checkpoint(tmp_path / "run.ckpt")
    fit(model(metrics=[metric]), X, R, validation=0.2, callbacks=[every(), best()])
    fit(
        model(metrics=[metric]),
        X,
        R,
        validation=0.2,
        callbacks=[every(), best()],
        resume=tmp_path / "run.ckpt",
        epochs=6,
    )
    assert read(tmp_path / "best.ckpt", "checkpoint")[1]["epoch"] == 3


@pytest.mark.parametrize(
    ("change", "key"),
    [
        ({"data": (X[:100], R[:100])}, "data"),
        ({"data": (X, -R)}, "data"),
        ({"shuffle": False}, "shuffle"),
        ({"model": lambda: model(loss="huber")}, "loss"),
        ({"model": lambda: model(optim.SklearnAdam(0.02))}, "optimizer"),
        ({"model": lambda: model(dtype="float64")}, "dtype"),
        ({"batch_size": 8}, "batch_size"),
    ],
)
def test_another_task_is_not_resumed(tmp_path, change, key):
    fit(model(), X, R, callbacks=[train.Checkpoint(tmp_path / "a.ckpt")])
    other = change.pop("model", model)()
    with pytest.raises(train.CheckpointError, match=key):
        fit(
            other,
            *change.pop("data", (X, R)),
            callbacks=[train.Checkpoint(tmp_path / "b.ckpt")],
            resume=tmp_path / "a.ckpt",
            **change,
        )
    assert other.params == {}  # a call that fails its checks leaves nothing behind


def test_the_newest_checkpoint_of_a_folder(tmp_path):
    a, b = model(), model()
    fit(a, X, R, callbacks=[train.Checkpoint(tmp_path / "{epoch}.ckpt")])
    (tmp_path / "9.ckpt").write_bytes(b"torn")
    with pytest.warns(UserWarning, match=r"9\.ckpt"):
        fit(b, X, R, callbacks=[train.Checkpoint(tmp_path / "{epoch}.ckpt")], resume=tmp_path)
    assert same(a, b)


def test_an_update_that_is_not_finite_is_not_taken():
    for rate in (1e38, 1e39):
        m = model(optim.SGD(rate))
        with pytest.raises(train.Diverged, match=r"the update made parameters that are not|not finite"):
            fit(m, X, R)
        assert all(np.isfinite(v).all() for v in m.params.values())
    ignoring = fit(model(optim.SGD(1e39)), X, R, on_divergence="ignore", callbacks=[train.StopOnNaN()])
    assert ignoring.stopped.startswith("the loss became")


def test_class_weights_come_from_the_training_rows_alone():
    held = np.arange(100, 120)
    flipped = np.where(np.isin(np.arange(120), held), 1 - Y, Y)
    a, b = (model(loss="binary_cross_entropy") for _ in range(2))
    fit(a, X, Y, validation=held, class_weight="balanced")
    fit(b, X, flipped, validation=held, class_weight="balanced")
    assert same(a, b)
    assert a.history["val_loss"][-1] == a.evaluate(X[held], Y[held])["loss"]


def test_lbfgs_with_batch_norm_and_streams():
    m = train.Model(nn.mlp((6,), 1, norm="batch", activation="tanh"), "squared_error", dtype="float64")
    history = train.fit_lbfgs(m, X, R, max_iter=200)
    assert_allclose(m.evaluate(X, R)["loss"], history["loss"][-1], rtol=0.2, atol=0.01)
    with pytest.raises(TypeError, match="needs all rows at once"):
        train.fit_lbfgs(model(), [(X, R)], None)


def test_rate_finder_with_negative_losses():
    counts = rng.poisson(50, 120)
    curve = train.find_rate(train.Model(nn.mlp((8,), 1), "poisson"), X, counts, steps=60)
    assert len(curve.rates) > 30


def test_settings_are_checked():
    with pytest.raises(ValueError, match=r"no number called 'hidden9\.dropout\.rate'"):
        model(settings={"hidden9.dropout.rate": 0.5})
    settings: Any = {"hidden1.dropout.rate": 0.0, "loss.delta": 0.5}
    m = train.Model(nn.mlp((8,), 1, dropout=0.5), "huber", settings=settings)
    fit(m, X, R, epochs=1)


def test_the_end_is_told_to_all():
    class Broken(train.Callback):
        def on_fit_end(self, run):
            raise OSError("disk")

    stopping = train.EarlyStopping(50)
    m = model(optim.Adam(0.3))
    with pytest.raises(train.CallbackError, match="Broken, event fit_end: disk"):
        fit(m, X, R, validation=(X[:40], R[:40]), callbacks=[Broken(), stopping], epochs=10)
    assert m.evaluate(X[:40], R[:40])["loss"] == stopping.best


def test_empty_and_unusual_data():
    empty = type("Empty", (), {"__iter__": lambda self: iter(())})()
    m = model().initialize(4)
    with pytest.raises(Exception, match="had no batches"):
        fit(m, empty, epochs=None, steps=5)
    with pytest.raises(Exception, match="too large for float32"):
        fit(model(), X * 1e300, R)
    for wrong, message in (
        ([X, R], "a tuple: write"),
        (np.arange(120), "all rows"),
        (np.ones(3, bool), "a mask has 120 entries"),
    ):
        with pytest.raises(Exception, match=message):
            fit(model(), X, R, validation=wrong)
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"a": X[:, 0], "b": X[:, 0] > 0, "c": np.arange(120), "d": X[:, 3]})
    fit(model(), frame, R, epochs=1)


def test_prediction_reads_a_file_part_by_part(tmp_path):
    import tracemalloc

    m = model()
    fit(m, X, R, epochs=1)
    data = np.memmap(tmp_path / "X.bin", np.float32, "w+", shape=(400_000, 4))
    tracemalloc.start()
    m.predict(data)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < data.nbytes  # the answers and a chunk, never the whole in another form


def test_own_metrics_come_back_by_name(tmp_path):
    def spread(y, p):
        return float(np.std(p))

    m = model(metrics=[spread])
    fit(m, X, R)
    m.save(tmp_path / "m.pel")
    with pytest.warns(UserWarning, match=r"the metrics \['spread'\] are functions"):
        train.load(tmp_path / "m.pel")
    assert train.load(tmp_path / "m.pel", {"spread": spread}).score(X, R) == m.score(X, R)
