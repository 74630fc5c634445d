"""A run that diverged ends with parameters that predict: on both engines, however it was seen."""

from dataclasses import dataclass

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.exceptions import ConvergenceWarning

from pellucid import MLPRegressor, nn, optim, train
from pellucid.estimators.training import NON_FINITE
from pellucid.optim import Schedule
from pellucid.train.loop.divergence import ValidationTrouble
from tests.both_engines import X as ROWS
from tests.both_engines import both, each_engine

RNG = np.random.default_rng(0)
X = RNG.normal(size=(90, 3)).astype(np.float32)
Y = X[:, 0] * 3
FAR = (X[:20] * 1e18, Y[:20])  # rows on which the network overflows long before it does on the others
HELD = (X[:20], Y[:20])


def model(engine="numpy", rule=None, activation="squared_relu", **settings):
    net = nn.mlp((8, 8), 1, activation=activation)
    return train.Model(net, "squared_error", rule or optim.SGD(1e-3), engine=engine, threads=1, **settings)


class Grow(train.Callback):
    """Learn quietly for some epochs, then with a rate that explodes."""

    def __init__(self, epoch, by):
        self.epoch, self.by = epoch, by

    def on_epoch_end(self, run):
        run.factor = self.by if run.epoch >= self.epoch else 1.0


class Watch(train.Callback):
    """Reads the state after every step, as a diagnosis does."""

    def on_batch_end(self, run):
        self.last = run.now.params


class Ends(train.Callback):
    def __init__(self):
        self.states = []

    def on_epoch_end(self, run):
        self.states.append({name: np.array(value) for name, value in run.now.params.items()})


def finite(made, *tables):
    return all(np.isfinite(made.predict(table)).all() and np.isfinite(made.scores(table)).all() for table in tables)


@each_engine
@pytest.mark.parametrize("by", [1e2, 1e4, 1e6, 1e8, 1e12, 1e20, 1e30])
@pytest.mark.parametrize("watching", [False, True])
@pytest.mark.parametrize("policy", ["stop", "raise"])
def test_what_is_kept_predicts(engine, by, watching, policy):
    ends = Ends()
    callbacks = [Grow(3, by), ends, *([Watch()] if watching else [])]
    made = model(engine)
    settings = {"epochs": 30, "batch_size": 30, "validation": HELD, "callbacks": callbacks, "verbose": False}
    if policy == "raise":
        with pytest.raises(train.Diverged, match=r"training diverged (at step|in epoch) \d+.*kept") as caught:
            made.fit(X, Y, on_divergence="raise", **settings)
        assert str(caught.value) == made.history.stopped
    else:
        made.fit(X, Y, on_divergence="stop", **settings)
    assert made.history.stopped.startswith("training diverged")
    assert finite(made, X)
    assert len(made.history) >= 3
    if "after epoch" in made.history.stopped:
        epoch = int(made.history.stopped.split("those after epoch ")[1].split()[0])
        for name, value in made.params.items():
            assert_array_equal(value, ends.states[epoch - 1][name])


@pytest.mark.parametrize("by", [1e4, 1e8, 1e20])
@pytest.mark.parametrize("rule", [optim.SGD(1e-3), optim.chain(optim.Momentum(1e-3), optim.EMA(0.9)), optim.Adam(1e-3)])
def test_both_engines_go_back_to_the_same_place(by, rule):
    def fitted(engine):
        made = model(engine, rule)
        made.fit(X, Y, epochs=30, batch_size=16, callbacks=[Grow(3, by)], verbose=False, on_divergence="stop")
        return made

    one, two = fitted("native"), fitted("numpy")
    assert one.history.stopped.rpartition("inputs and")[2] == two.history.stopped.rpartition("inputs and")[2]
    for name in one.params:
        assert_allclose(one.params[name], two.params[name], rtol=1e-3, atol=1e-6)
    assert finite(one, X)


def test_epochs_that_nobody_watches_are_found_again():
    """The native engine runs several epochs at once, and finds the beginning of one of them by repeating them."""

    def fitted(engine):
        made = model(engine, optim.SGD(optim.Piecewise((1e-3, 1e9), at=(23,))))
        made.fit(X, Y, epochs=200, batch_size=16, verbose=False, on_divergence="stop")
        return made

    one, two = fitted("native"), fitted("numpy")
    assert "after epoch 3 are kept" in one.history.stopped
    assert "after epoch 3 are kept" in two.history.stopped
    assert len(one.history) == len(two.history) == 4  # the last step of the fourth broke the parameters
    for name in one.params:
        assert_allclose(one.params[name], two.params[name], rtol=1e-3, atol=1e-6)
    assert one.evaluate(X, Y)["loss"] < one.history["loss"][0]


@each_engine
@pytest.mark.parametrize("policy", ["stop", "raise"])
@pytest.mark.parametrize("metrics", [[], ["r2", "mae"]])
def test_a_validation_loss_that_is_not_finite_is_a_divergence(engine, policy, metrics):
    made, ends = model(engine, metrics=metrics), Ends()
    settings = {"epochs": 9, "batch_size": 30, "validation": FAR, "callbacks": [ends], "verbose": False}
    said = r"training diverged in epoch 1: val_loss is (inf|nan)"
    if policy == "raise":
        with pytest.raises(train.Diverged, match=said) as caught:
            made.fit(X, Y, **settings)
        trouble = caught.value.trouble
        assert isinstance(trouble, ValidationTrouble)
        assert trouble.epoch == 1
    else:
        made.fit(X, Y, on_divergence="stop", **settings)
    assert not np.isfinite(made.history["val_loss"][0])
    assert len(made.history) == 1
    assert made.history.stopped.startswith("training diverged in epoch 1: val_loss is ")
    assert not ends.states  # nobody keeps a bad epoch


@each_engine
def test_a_validation_loss_that_breaks_later_goes_back_one_epoch(engine):
    made, ends = model(engine), Ends()
    wide = (X[:20] * 1e3, Y[:20])
    callbacks = [Grow(2, 1e5), ends]
    made.fit(X, Y, epochs=9, batch_size=90, validation=wide, callbacks=callbacks, verbose=False, on_divergence="stop")
    assert "val_loss is" in made.history.stopped
    assert finite(made, X, wide[0])
    assert np.isfinite(made.evaluate(*wide)["loss"])
    for name, value in made.params.items():
        assert_array_equal(value, ends.states[-1][name])


@each_engine
def test_it_can_be_ignored(engine):
    made = model(engine, metrics=["r2"])
    made.fit(X, Y, epochs=3, validation=FAR, verbose=False, on_divergence="ignore")
    assert len(made.history) == 3
    assert not np.isfinite(made.history["val_loss"]).any()
    assert np.isnan(made.history["val_r2"]).all()


@each_engine
def test_the_best_parameters_win_if_they_predict(engine):
    made, best = model(engine), train.EarlyStopping(patience=50)
    made.fit(
        X,
        Y,
        epochs=30,
        batch_size=30,
        validation=HELD,
        callbacks=[Grow(4, 1e9), best],
        verbose=False,
        on_divergence="stop",
    )
    assert made.history.stopped.startswith("training diverged")
    assert made.evaluate(*HELD)["loss"] == pytest.approx(best.best, rel=1e-5)
    assert finite(made, X, HELD[0])


@each_engine
def test_a_target_out_of_reach_does_not_undo_what_was_learned(engine):
    """The loss of one row is infinite with any parameters: those of the last step predict, and stay."""
    y = Y.astype(np.float64)
    y[80] = 1e200
    made = train.Model(nn.mlp((4,), 1), "squared_error", optim.SGD(1e-2), dtype="float64", engine=engine)
    made.initialize(3)
    before = dict(made.params)
    made.fit(X, y, epochs=3, batch_size=10, shuffle=False, verbose=False, on_divergence="stop")
    assert "The last good parameters are kept" in made.history.stopped
    assert any(not np.array_equal(made.params[name], before[name]) for name in before)
    assert finite(made, X)


def test_parameters_that_never_predicted_are_said_to_be_so():
    made = model().initialize(3)
    made.params = {name: value * np.float32(1e30) for name, value in made.params.items()}
    with pytest.raises(train.Diverged, match="No parameters of this run give finite predictions"):
        made.fit(X, Y, epochs=2, verbose=False)


@each_engine
def test_a_fit_that_goes_on_after_a_divergence(engine):
    """What is kept is a whole state: a continued fit begins there, step and epoch numbers included."""
    made = model(engine, optim.Adam(1e-3))
    made.fit(
        X, Y, epochs=9, batch_size=30, callbacks=[Grow(3, 1e25)], verbose=False, on_divergence="stop", continued=True
    )
    assert "those after epoch 3 are kept" in made.history.stopped
    assert made.progress is not None
    assert (made.progress.epoch, made.progress.step) == (3, 9)
    history = made.fit(X, Y, epochs=2, batch_size=30, verbose=False, continued=True)
    straight = model(engine, optim.Adam(1e-3))
    straight.fit(X, Y, epochs=5, batch_size=30, verbose=False)
    assert history["epoch"] == [4, 5]
    for name in made.params:
        assert_allclose(made.params[name], straight.params[name], rtol=1e-5, atol=1e-7)


class Anew:
    """Batches that can be read again."""

    def __iter__(self):
        for first in range(0, 90, 30):
            yield X[first : first + 30], Y[first : first + 30]


@pytest.mark.parametrize("source", [Anew(), list(Anew())])
def test_batches_from_outside(source):
    made = model().initialize(3)
    made.fit(source, epochs=30, callbacks=[Grow(3, 1e9)], verbose=False, on_divergence="stop")
    assert "those after epoch 3 are kept" in made.history.stopped
    assert finite(made, X)


def test_batches_that_are_read_once_are_not_read_again():
    made = model(rule=optim.SGD(1e9)).initialize(3)
    made.fit(iter(Anew()), epochs=1, verbose=False, on_divergence="stop")
    assert "ahead of the first step are kept" in made.history.stopped
    assert finite(made, X)


def test_a_resumed_run_goes_back_no_further_than_its_checkpoint(tmp_path):
    path = tmp_path / "run.ckpt"
    made = model()
    made.fit(X, Y, epochs=2, batch_size=30, callbacks=[train.Checkpoint(path)], verbose=False)
    saved = dict(made.params)
    again = model(rule=optim.SGD(1e-3))
    again.fit(
        X,
        Y,
        epochs=9,
        batch_size=30,
        resume=path,
        callbacks=[train.Checkpoint(tmp_path / "other.ckpt"), Blow()],
        verbose=False,
        on_divergence="stop",
    )
    assert again.history.stopped.startswith("training diverged")
    for name in saved:
        assert_array_equal(again.params[name], saved[name])


class Blow(train.Callback):
    def on_epoch_begin(self, run):
        run.factor = 1e9


def estimator(**settings):
    common = {"hidden_layer_sizes": (8,), "activation": "squared_relu", "max_iter": 9, "random_state": 0}
    return MLPRegressor(dtype="float32", **common, **settings)


@pytest.mark.parametrize("solver", ["adam", "sgd"])
@pytest.mark.parametrize("early", [False, True])
def test_estimators_raise_where_nothing_was_good(solver, early):
    with pytest.raises(ValueError, match=rf"{NON_FINITE[:30]}.*training diverged in epoch 1: val_loss is"):
        estimator(solver=solver, early_stopping=early).fit(X, Y, X_val=FAR[0], y_val=FAR[1])


def test_estimators_keep_the_best_epoch_of_a_run_that_diverged():
    reg = estimator(solver="sgd", early_stopping=True, callbacks=[Grow(3, 1e7)])
    with pytest.warns(ConvergenceWarning, match="training diverged"):
        reg.fit(X, Y, X_val=X[:20] * 10, y_val=Y[:20])
    assert reg.best_iter_ <= 3
    assert np.isfinite(reg.predict(X)).all()


def test_lbfgs_raises_and_leaves_the_model_as_it_was():
    made = train.Model(nn.mlp((4,), 1, activation="squared_relu"), "squared_error", dtype="float64")
    with pytest.raises(train.Diverged, match="The model has the parameters that it had before"):
        train.fit_lbfgs(made, X.astype(float) * 1e160, Y)
    assert not made.params


# steps of both engines


def test_divergence_can_be_ignored():
    native, numpy = both(rule=optim.SGD(1e6), y=ROWS[:, 0] * 100, dtype=np.float32, epochs=5, on_divergence="ignore")
    assert native.history.stopped == numpy.history.stopped
    assert len(native.history.epochs) == len(numpy.history.epochs) == 5
    for name in native.params:
        assert_array_equal(np.isfinite(native.params[name]), np.isfinite(numpy.params[name]))


@dataclass(frozen=True)
class Jump(Schedule):
    """A rate that float32 cannot hold, after some steps."""

    at: int = 8

    def __call__(self, t):
        return 1e39 if t >= self.at else 0.05

    def fit(self, total_steps, steps_per_epoch):
        return self


class Alternate(train.Callback):
    """A rate that is changed in the midst of an epoch."""

    def on_batch_end(self, run):
        run.factor = 0.5 if run.step % 2 else 1.0


@pytest.mark.parametrize("at", [3, 8, 12])
def test_a_step_taken_back_repeats_the_factors_of_the_batches(at):
    native, numpy = both(
        rule=optim.SGD(Jump(at)),
        dtype=np.float32,
        epochs=30,
        batch_size=16,
        on_divergence="stop",
        callbacks=[Alternate()],
    )
    assert "diverged" in native.history.stopped
    assert native.history.stopped.split(":")[0] == numpy.history.stopped.split(":")[0]
    for name in native.params:
        assert_allclose(native.params[name], numpy.params[name], rtol=1e-4, atol=1e-6)
