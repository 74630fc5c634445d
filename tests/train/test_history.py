"""What a history holds: loss and penalty apart, the size of what was learned from, and columns before any epoch."""

import csv
import json
import math
from dataclasses import dataclass

import numpy as np
import pytest
from numpy.testing import assert_allclose

import pellucid as pel
from pellucid import nn, optim, train
from pellucid.estimators import MLPClassifier, MLPRegressor
from tests.both_engines import each_engine

rng = np.random.default_rng(0)
X = rng.normal(size=(70, 3))
Y = X[:, 0] - X[:, 1] ** 2
WEIGHTS = rng.uniform(0.5, 2.0, size=70)


@dataclass(frozen=True)
class Flat(nn.Penalty):
    """A penalty that no parameter changes."""

    value: float | int = 2.0

    def __call__(self, params):
        return self.value


@dataclass(frozen=True)
class Positive(nn.Penalty):
    """A penalty that counts."""

    def __call__(self, params):
        return np.sum(params["output.weight"] > 0)


PENALTIES = {
    "L2": nn.L2(0.1),
    "several": nn.L1(0.01) + nn.L2(0.1, on="output.*"),
    "by rows": nn.PerRow(nn.L2(0.5)),
    "zero": nn.L2(0.0),
    "none in it": nn.Penalties(()),
    "a number": Flat(),
    "a whole number": Flat(3),
    "a number by rows": nn.PerRow(Flat()),
    "a count": Positive(),
}


def model(penalty=None, engine="numpy", lr=0.0, **more):
    rule = optim.SGD(optim.Constant(lr)) if lr == 0.0 else optim.Adam(lr)
    return train.Model(nn.mlp((6,), 1), "squared_error", rule, penalty=penalty, engine=engine, dtype="float64", **more)


def fit(one, **more):
    return one.fit(X, Y, **({"epochs": 3, "batch_size": 16, "verbose": False} | more))


@each_engine
@pytest.mark.parametrize("penalty", PENALTIES.values(), ids=PENALTIES)
def test_the_loss_is_that_of_the_data_and_the_penalty_stands_beside_it(penalty, engine):
    """With a rate of (almost) 0 nothing changes in an epoch, so its mean is what `evaluate` gives."""
    one = model(penalty, engine, lr=1e-300)
    history = fit(one, validation=(X, Y), epochs=2)
    assert_allclose(history["loss"], history["val_loss"], rtol=1e-12)
    rows = len(X)
    if isinstance(penalty, nn.PerRow):  # the mean over batches of 16 rows and one of 6, each by its rows
        expected = float(penalty.of(one.params)) * 5 / rows
    else:
        expected = float(penalty(one.params))
    assert_allclose(history["penalty"], [expected] * 2, rtol=1e-9, atol=1e-15)
    assert_allclose(history["objective"], np.add(history["loss"], history["penalty"]), rtol=1e-12)
    assert [*history.epochs[0]] == ["epoch", "step", "loss", "penalty", "objective", "lr", "val_loss"]


@each_engine
def test_a_model_without_a_penalty_has_no_column_for_it(engine):
    history = fit(model(engine=engine, lr=0.01))
    assert [*history.epochs[0]] == ["epoch", "step", "loss", "lr"]
    with pytest.raises(KeyError, match="there is no 'penalty'"):
        history["penalty"]


@each_engine
@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["rows", "weighted"])
@pytest.mark.parametrize("how", ["whole epochs", "epochs", "batches", "gradients"])
def test_the_means_do_not_depend_on_who_listens(how, weights, engine):
    seen = []

    class Listener(train.Callback):
        def handles(self, event):
            return {"epochs": "epoch_end", "batches": "batch_end", "gradients": "gradients"}.get(how) == event

        def on_epoch_end(self, run):
            pass

        def on_gradients(self, run, gradients):
            pass

        def on_batch_end(self, run):
            seen.append((run.loss, run.objective))

    one = model(nn.L2(0.1), engine, lr=0.01)
    expected = fit(model(nn.L2(0.1), engine, lr=0.01), sample_weight=weights)
    history = fit(one, sample_weight=weights, callbacks=[Listener()])
    for name in ("loss", "penalty", "objective"):
        assert_allclose(history[name], expected[name], rtol=1e-9)
    assert len(seen) == (15 if how == "batches" else 0)
    assert all(loss < objective for loss, objective in seen)


@each_engine
def test_many_models(engine):
    models = [model(nn.L2(strength), engine, lr=0.01) for strength in (0.0, 0.5)]
    histories = train.fit_many(models, X, Y, epochs=2, batch_size=16, verbose=False)
    for one, history in zip(models, histories, strict=True):
        assert_allclose(history["objective"], np.add(history["loss"], history["penalty"]), rtol=1e-12)
        assert history.epochs == one.history.epochs
    assert histories[0]["penalty"] == [0.0, 0.0] < histories[1]["penalty"]


@pytest.mark.parametrize("penalty", [None, nn.L2(0.05), nn.PerRow(nn.L2(0.5))])
def test_lbfgs(penalty):
    one = model(penalty)
    history = train.fit_lbfgs(one, X, Y, max_iter=15)
    assert_allclose(history["loss"][-1], one.evaluate(X, Y)["loss"], rtol=1e-12)
    assert (history.rows, history.batch_size) == (70, 70)
    if penalty is None:
        assert [*history.epochs[0]] == ["epoch", "loss"]
        return
    value = penalty.for_rows(70)(one.params) if isinstance(penalty, nn.PerRow) else penalty(one.params)
    assert_allclose(history["penalty"][-1], value, rtol=1e-12)
    assert_allclose(history["objective"], np.add(history["loss"], history["penalty"]), rtol=1e-12)
    assert all(np.diff(history["objective"]) <= 0)


@pytest.mark.parametrize("solver", ["adam", "sgd", "lbfgs"])
def test_estimators_show_what_is_minimised(solver):
    """scikit-learn's loss has the penalty inside; the model's history has both."""
    clf = MLPClassifier((5,), solver=solver, alpha=3.0, max_iter=8, random_state=0, tol=0.0)
    with pytest.warns(UserWarning, match="converge"):
        clf.fit(X, Y > 0)
    history = clf.model_.history
    assert clf.loss_curve_ == history["objective"]
    assert clf.loss_ == history["objective"][-1]
    assert clf.best_loss_ == min(history["objective"])
    assert_allclose(history["objective"], np.add(history["loss"], history["penalty"]), rtol=1e-9)
    assert min(history["penalty"]) > 0


def test_what_is_watched_by_default_is_what_is_minimised():
    stopping = train.EarlyStopping(50)
    history = fit(model(nn.L2(0.5), lr=0.05), callbacks=[stopping], epochs=8)
    assert stopping.best == min(history["objective"])
    by_loss = train.EarlyStopping(50, monitor="loss")
    history = fit(model(nn.L2(0.5), lr=0.05), callbacks=[by_loss], epochs=8)
    assert by_loss.best == min(history["loss"])
    plain = train.EarlyStopping(50)
    assert plain.reset() is None
    history = fit(model(lr=0.05), callbacks=[plain], epochs=8)
    assert plain.best == min(history["loss"])


@each_engine
def test_a_penalty_that_is_not_finite_is_a_divergence(engine):
    @dataclass(frozen=True)
    class Steep(nn.Penalty):
        def __call__(self, params):
            return np.exp(1e6 * np.sum(params["output.weight"] ** 2))

    with pytest.raises(train.Diverged):
        fit(model(Steep(), engine, lr=0.01))


# size of the data


def test_batch_size_and_rows(tmp_path):
    history = fit(model(), validation=0.2)
    assert (history.batch_size, history.rows) == (16, 56)
    one = model(nn.L2(0.1), lr=0.01)
    history = fit(one, callbacks=[train.Checkpoint(tmp_path / "a.ckpt")])
    history.to_json(tmp_path / "a.json")
    data = json.loads((tmp_path / "a.json").read_text())
    assert (data["batch_size"], data["rows"]) == (16, 70)
    assert data["epochs"] == history.epochs
    one.save(tmp_path / "a.pel")
    assert pel.load(tmp_path / "a.pel").history == history
    again = fit(model(nn.L2(0.1), lr=0.01), resume=tmp_path / "a.ckpt", callbacks=[train.Checkpoint(tmp_path / "b")])
    assert again == history
    batches = [(X[:10], Y[:10]), (X[10:30], Y[10:30])]
    history = model().initialize(3).fit(batches, epochs=1, verbose=False)
    assert (history.batch_size, history.rows) == (None, None)  # each batch has its own


def test_a_loaded_history_knows_what_is_better(tmp_path):
    one = model(lr=0.05, metrics=["r2"])
    fit(one, validation=(X, Y), epochs=5)
    one.save(tmp_path / "a.pel")
    history = pel.load(tmp_path / "a.pel").history
    assert history.best("val_r2")["val_r2"] == max(history["val_r2"])


def test_convergence_is_saved(tmp_path):
    reg = MLPRegressor(hidden_layer_sizes=(2,), solver="lbfgs", random_state=0, max_iter=500).fit(X, Y * 0.1)
    reg.save(tmp_path / "a.pel")
    assert reg.model_.history.converged is True
    assert pel.load(tmp_path / "a.pel").model_.history == reg.model_.history


# before the first epoch


class AtOnce(train.Callback):
    def on_fit_begin(self, run):
        run.stop("at once")


def test_an_empty_history_has_its_columns(tmp_path):
    assert model().history["loss"] == []
    assert model(nn.L2(0.1)).history["penalty"] == []
    one = model(nn.L2(0.1), metrics=["mae"])
    history = fit(one, validation=0.2, callbacks=[AtOnce()])
    names = ["epoch", "step", "loss", "penalty", "objective", "lr", "val_loss", "val_mae"]
    for name in names:
        assert history[name] == []
    with pytest.raises(KeyError, match=r"no 'val_r2'.*there are .*val_mae"):
        history["val_r2"]
    with pytest.raises(KeyError, match="no 'val_loss'"):
        fit(model(), callbacks=[AtOnce()])["val_loss"]
    with pytest.raises(ValueError, match=r"no epoch .*'loss'.*0 epochs"):
        history.best("loss")
    with pytest.raises(ValueError, match="nothing to draw"):
        history.plot()
    history.to_csv(tmp_path / "a.csv")
    assert (tmp_path / "a.csv").read_text().strip().split(",") == names
    history.to_json(tmp_path / "a.json")
    assert json.loads((tmp_path / "a.json").read_text())["columns"] == names
    one.save(tmp_path / "a.pel")
    assert pel.load(tmp_path / "a.pel").history["val_mae"] == []
    assert train.History()["loss"] == []


def test_the_columns_are_those_that_come():
    history = fit(model(nn.L2(0.1), metrics=["mae"]), validation=0.2)
    assert [*history.epochs[0]] == list(history.columns)
    assert [*train.fit_lbfgs(one := model(nn.L2(0.1)), X, Y, max_iter=2).epochs[0]] == list(one.history.columns)


def test_the_best_is_never_nan():
    history = train.History([{"loss": math.nan}, {"loss": 2.0}, {"loss": 1.0}, {"loss": None}])
    assert history.best("loss") == {"loss": 1.0}
    assert history.best("loss", "max") == {"loss": 2.0}


def test_a_log_has_the_columns(tmp_path):
    fit(model(nn.L2(0.1), lr=0.01), callbacks=[train.CSVLogger(tmp_path / "a.csv")])
    with open(tmp_path / "a.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [*rows[0]] == ["epoch", "step", "loss", "penalty", "objective", "lr"]
