"""Callbacks: early stopping in all its endings, events, errors, loggers; divergence."""

import csv
import json

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from pellucid import nn, optim, train
from pellucid.train.loop.divergence import Trouble

rng = np.random.default_rng(0)
X = rng.normal(size=(60, 3))
R = np.sin(2 * X[:, 0]) + 0.3 * rng.normal(size=60)
HELD_ROWS = rng.normal(size=(40, 3))
HELD = (HELD_ROWS, np.sin(2 * HELD_ROWS[:, 0]))


def model(lr=0.05, **options):
    return train.Model(
        nn.mlp((32,), 1, activation="tanh", norm="batch"), "squared_error", optim.Adam(lr), ["r2"], **options
    )


def fit(m, callbacks, **options):
    return m.fit(
        X, R, **{"epochs": 40, "batch_size": 16, "validation": HELD, "verbose": False} | options, callbacks=callbacks
    )


class StopAt(train.Callback):
    def __init__(self, epoch, how):
        self.epoch, self.how = epoch, how

    def on_epoch_end(self, run):
        if run.epoch == self.epoch:
            if self.how == "interrupt":
                raise KeyboardInterrupt
            run.stop("another callback said so")


@pytest.mark.parametrize(
    ("options", "others", "reason"),
    [
        pytest.param({}, [], "val_loss has not improved for 5 epochs", id="patience"),
        pytest.param({"epochs": 12, "patience": 100}, [], "all 12 epochs done", id="last epoch"),
        pytest.param({"patience": None, "epochs": 10**6, "max_time": 1.0}, [], "the time of 1 s is over", id="time"),
        pytest.param({"patience": 100}, [StopAt(12, "interrupt")], "interrupted by the user", id="Ctrl-C"),
        pytest.param({"patience": 100}, [StopAt(12, "stop")], "another callback said so", id="another callback"),
    ],
)
def test_the_best_parameters_are_restored_however_it_ends(options, others, reason):
    options = dict(options)
    stopping = train.EarlyStopping(options.pop("patience", 5))
    m = model()
    history = fit(m, [stopping, *others], **{"epochs": 200} | options)
    assert history.stopped.startswith(reason)
    best = history.best("val_loss")
    assert stopping.best == best["val_loss"]
    assert stopping.best_epoch == best["epoch"]
    assert m.evaluate(*HELD)["loss"] == best["val_loss"]  # to the last bit
    assert m.evaluate(*HELD)["r2"] == best["val_r2"]


def test_patience_counts_epochs_without_improvement():
    stopping = train.EarlyStopping(3, monitor="val_loss")
    history = fit(model(), [stopping], epochs=500)
    assert len(history) == stopping.best_epoch + 3


def test_another_metric_and_its_direction():
    stopping = train.EarlyStopping(4, monitor="val_r2")
    history = fit(model(), [stopping], epochs=200)
    assert stopping.best == max(history["val_r2"])
    with pytest.raises(train.CallbackError, match="EarlyStopping, event epoch_end: EarlyStopping monitors 'val_auc'"):
        fit(model(), [train.EarlyStopping(monitor="val_auc")])


def test_without_restoring_the_last_parameters_stay():
    m = model()
    history = fit(m, [train.EarlyStopping(3, restore_best=False)], epochs=300)
    assert m.evaluate(*HELD)["loss"] == history["val_loss"][-1]


def test_events_come_in_order_and_the_end_is_always_reached():
    seen = []

    class All(train.Callback):
        def on_fit_begin(self, run):
            seen.append("fit_begin")

        def on_epoch_begin(self, run):
            seen.append("epoch_begin")

        def on_look(self, run, batch):
            seen.append("look")
            assert len(batch.y) == 30

        def on_forward(self, run, objective):
            seen.append("forward")
            self.objective = objective

        def on_gradients(self, run, gradients):
            seen.append("gradients")
            assert set(gradients) == set(run.now.params)

        def on_batch_end(self, run):
            seen.append("batch_end")
            assert run.objective == self.objective

        def on_epoch_end(self, run):
            seen.append("epoch_end")

        def on_fit_end(self, run):
            seen.append("fit_end")

    fit(model(), [All()], epochs=2, batch_size=30)
    step = ["look", "forward", "gradients", "batch_end"]  # the lecture's loop: sample, forward, backward, update
    epoch = ["epoch_begin", *step, *step, "epoch_end"]
    assert seen == ["fit_begin", *epoch, *epoch, "fit_end"]
    seen.clear()
    with pytest.raises(train.CallbackError):
        fit(model(), [All(), lambda run: 1 / 0], epochs=2)
    assert seen[-1] == "fit_end"


def test_watching_gradients_changes_nothing_and_changing_them_does():
    class Watch(train.Callback):
        factor = 1.0

        def on_gradients(self, run, gradients):
            return {k: g * self.factor for k, g in gradients.items()}

    class Freeze(Watch):
        factor = 0.0

    a, b, c = model(), model(), train.Model(nn.mlp((4,), 1), "squared_error", optim.SGD(0.1))
    fit(a, [], epochs=3)
    fit(b, [Watch()], epochs=3)
    assert all(np.array_equal(a.params[k], b.params[k]) for k in a.params)
    start = dict(c.initialize(3).params)
    fit(c, [Freeze()], epochs=2)
    assert all(np.array_equal(start[k], c.params[k]) for k in start)


@pytest.mark.parametrize("engine", ["numpy", "native"])
def test_watching_the_forward_pass_changes_nothing(engine):
    class Watch(train.Callback):
        def __init__(self):
            self.seen = []

        def on_forward(self, run, objective):
            self.seen.append(objective)

        def on_batch_end(self, run):
            assert self.seen[-1] == run.objective

    watch, plain, watched = Watch(), *(train.Model(nn.mlp((4,), 1), "squared_error", engine=engine) for _ in "ab")
    fit(plain, [], epochs=3)
    fit(watched, [watch], epochs=3)
    assert watch.seen[0] > watch.seen[-1] > 0
    for name, value in plain.params.items():
        np.testing.assert_allclose(watched.params[name], value, rtol=0 if engine == "numpy" else 1e-5)


def test_an_error_names_the_callback_and_the_event():
    def broken(run):
        raise KeyError("oops")

    with pytest.raises(train.CallbackError, match="callback broken, event epoch_end: 'oops'") as caught:
        fit(model(), [broken])
    assert isinstance(caught.value.__cause__, KeyError)


def test_a_function_may_stop():
    history = fit(model(), [lambda run: "enough" if run.epoch == 3 else None])
    assert history.stopped == "enough"
    assert len(history) == 3


def test_loggers(tmp_path):
    rates = train.LearningRateLogger()
    m = train.Model(nn.mlp((4,), 1), "squared_error", optim.SGD(optim.InverseTime(0.1, 0.5)))
    history = fit(
        m, [rates, train.CSVLogger(tmp_path / "log.csv"), train.TensorBoard(tmp_path / "tb", every=2)], epochs=3
    )
    assert rates.rates == [0.1 / (1 + 0.5 * t) for t in range(12)]
    rows = list(csv.DictReader((tmp_path / "log.csv").read_text().splitlines()))
    assert [float(row["val_loss"]) for row in rows] == history["val_loss"]
    assert list((tmp_path / "tb").iterdir())
    history.to_csv(tmp_path / "history.csv")
    history.to_json(tmp_path / "history.json")
    assert json.loads((tmp_path / "history.json").read_text())["epochs"] == history.epochs
    assert len(list(csv.DictReader((tmp_path / "history.csv").read_text().splitlines()))) == 3
    pytest.importorskip("matplotlib").use("Agg")
    axes = history.plot(best="val_loss")
    assert axes.get_xlabel() == "epoch"
    with pytest.raises(KeyError, match="no 'auc' in the history: there are epoch, loss"):
        history["auc"]


def test_a_plateau_lowers_the_rate():
    seen = []
    controller = optim.ReduceOnPlateau(factor=0.5, patience=2)
    fit(model(lr=0.5), [train.Plateau(controller), lambda run: seen.append(run.lr) or None], epochs=40)
    assert seen[0] == 0.5
    assert seen[-1] < 0.2


def test_progress_lines_and_silence(capsys):
    fit(model(), [], epochs=2, verbose="lines")
    assert "val_loss" in capsys.readouterr().out
    fit(model(), [], epochs=2, verbose=False)
    assert capsys.readouterr().out == ""


# divergence


def exploding():
    return train.Model(nn.mlp((8,), 1, activation="squared_relu"), "squared_error", optim.SGD(1e6), dtype="float32")


def test_divergence_is_located_and_the_last_good_parameters_are_kept():
    m = exploding()
    good = []

    class Keep(train.Callback):
        def on_fit_begin(self, run):
            self.first = dict(run.now.params)

        def on_batch_end(self, run):
            good.append({k: v.copy() for k, v in run.now.params.items()})

    keep = Keep()

    with pytest.raises(
        train.Diverged, match=r"training diverged at step \d+.*not finite is the result of \w+ in \w+"
    ) as caught:
        m.fit(X, R, epochs=50, verbose=False, callbacks=[keep])
    assert "smaller learning rate" in str(caught.value)
    trouble = caught.value.trouble
    assert isinstance(trouble, Trouble)
    assert trouble.layer
    assert trouble.sizes
    assert trouble.step == len(good)
    with np.errstate(all="ignore"):  # finite weights that predict nothing
        assert not np.all(np.isfinite(m.net.predict(good[-1], X.astype("float32"))))
    for k, v in m.params.items():
        assert_array_equal(v, keep.first[k])
    assert np.all(np.isfinite(m.predict(X)))


def test_divergence_as_a_reason_to_stop():
    m = exploding()
    history = m.fit(X, R, epochs=50, verbose=False, on_divergence="stop")
    assert history.stopped.startswith("training diverged at step")
    assert all(np.all(np.isfinite(v)) for v in m.params.values())
