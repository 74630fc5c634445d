"""What our estimators offer beyond scikit-learn's."""

from __future__ import annotations

import time
import tracemalloc
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import make_classification
from sklearn.metrics import d2_pinball_score, log_loss, make_scorer, mean_pinball_loss, roc_auc_score

from pellucid import nn, optim
from pellucid.estimators import MLPClassifier, MLPRegressor, NetworkSettings, TrainingSettings
from pellucid.estimators.uncertainty import has_noise
from pellucid.train import Callback

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
rng = np.random.default_rng(0)
X, y = make_classification(200, 6, n_informative=4, n_classes=3, random_state=0)
numbers = X[:, 0] + np.sin(2 * X[:, 1])


def classifier(**more: Any) -> MLPClassifier:
    return MLPClassifier(**{"hidden_layer_sizes": (12, 8), "max_iter": 4, "random_state": 0, "batch_size": 50, **more})


def regressor(**more: Any) -> MLPRegressor:
    settings = {"hidden_layer_sizes": (16,), "max_iter": 60, "random_state": 0, "batch_size": 50}
    return MLPRegressor(**{**settings, "learning_rate_init": 0.01, **more})


# the network


def test_an_activation_for_each_layer_and_ones_own() -> None:
    def bump(x: Any) -> Any:
        return np.exp(-x * x)

    clf = classifier(activation=["tanh", bump]).fit(X, y)
    first = np.tanh(X @ clf.coefs_[0] + clf.intercepts_[0])
    second = bump(first @ clf.coefs_[1] + clf.intercepts_[1])
    found = clf.activations(X)
    assert list(found) == ["hidden1", "hidden2", "output"]
    assert_allclose(found["hidden1"], first, rtol=1e-10)
    assert_allclose(found["hidden2"], second, rtol=1e-10)
    assert_allclose(clf.transform(X), second, rtol=1e-10)
    assert_allclose(found["output"], clf.logits(X), rtol=1e-10)
    assert classifier(activation="gelu").fit(X, y).activations(X)["hidden2"].min() < 0


def test_dropout_of_inputs_and_layers() -> None:
    clf = classifier(dropout=[0.1, 0.5], network=NetworkSettings(input_dropout=0.2)).fit(X, y)
    rates = {name: layer.rate for name, layer in clf.model_.net.children if isinstance(layer, nn.Dropout)}
    assert rates == {"input.dropout": 0.2, "hidden1.dropout": 0.1, "hidden2.dropout": 0.5}
    assert not np.array_equal(clf.coefs_[0], classifier().fit(X, y).coefs_[0])
    assert_array_equal(clf.predict_proba(X), clf.predict_proba(X))  # predictions do not drop


@pytest.mark.parametrize("place", ["before", "after"])
@pytest.mark.parametrize("norm", ["batch", "layer", "rms", nn.BatchNorm()])
def test_normalisation(norm: Any, place: str) -> None:
    clf = classifier(norm=norm, network=NetworkSettings(norm_place=place)).fit(X, y)
    names = [name for name, _ in clf.model_.net.children]
    before = names.index("hidden1.norm") < names.index("hidden1.activation")
    assert before == (place == "before")
    assert clf.predict(X).shape == y.shape


def test_initialisers() -> None:
    still: dict[str, Any] = {"solver": "sgd", "learning_rate_init": 1e-12, "max_iter": 1}
    clf = classifier(network=NetworkSettings(init="orthogonal", output_init="zeros", bias=0.5), **still).fit(X, y)
    assert_allclose(clf.coefs_[1].T @ clf.coefs_[1] / (clf.coefs_[1].T @ clf.coefs_[1])[0, 0], np.eye(8), atol=1e-6)
    assert_allclose(clf.coefs_[2], 0, atol=1e-9)
    assert_allclose(clf.intercepts_[0], 0.5, atol=1e-9)
    several = classifier(network=NetworkSettings(init=["he", "zeros"]), **still).fit(X, y)
    assert np.abs(several.coefs_[0]).max() > 0.1
    assert np.abs(several.coefs_[1]).max() < 1e-6
    like_theirs = classifier(activation="gelu", network=NetworkSettings(init="sklearn"), **still).fit(X, y)
    assert_allclose(like_theirs.coefs_[0], classifier(**still).fit(X, y).coefs_[0], atol=1e-6)


def test_no_hidden_layer_and_scaled_inputs() -> None:
    clf = classifier(hidden_layer_sizes=(), network=NetworkSettings(input_scale=True)).fit(X, y)
    assert clf.n_layers_ == 2
    assert len(clf.coefs_) == 1
    assert "input.scale.scale" in " ".join(clf.model_.params)
    assert_allclose(clf.transform(X), X)


# training


@pytest.mark.parametrize("rule", [*optim.RULES])
def test_any_rule_by_name(rule: str) -> None:
    clf = classifier(optimizer=rule, learning_rate_init=0.01, max_iter=2).fit(X, y)
    assert np.isfinite(clf.loss_)


def test_rules_and_chains_by_object() -> None:
    a = classifier(optimizer=optim.RMSprop(0.01)).fit(X, y)
    b = classifier(optimizer=optim.chain(optim.ClipNorm(0.01), optim.RMSprop(0.01))).fit(X, y)
    assert not np.array_equal(a.coefs_[0], b.coefs_[0])
    c = classifier(optimizer=optim.RMSprop(0.01), training=TrainingSettings(clip_norm=0.01)).fit(X, y)
    for mine, other in zip(b.coefs_, c.coefs_, strict=True):
        assert_array_equal(mine, other)
    d = classifier(optimizer=optim.SGD(0.01), training=TrainingSettings(clip_value=1e-5, weight_decay=0.1)).fit(X, y)
    assert np.abs(d.coefs_[0]).sum() < np.abs(classifier(optimizer=optim.SGD(0.01)).fit(X, y).coefs_[0]).sum()


def test_schedules() -> None:
    rates: list[float] = []
    watch = lambda run: rates.append(run.lr)
    classifier(training=TrainingSettings(schedule="cosine"), callbacks=[watch], learning_rate_init=0.1).fit(X, y)
    assert len(rates) == 4
    assert rates[0] > rates[1] > rates[2] > rates[3]
    assert rates[0] < 0.1
    rates.clear()
    halves = optim.Step(0.1, factor=0.5, every=4)
    classifier(training=TrainingSettings(schedule=halves), callbacks=[watch]).fit(X, y)
    assert_allclose(rates, [0.1, 0.05, 0.025, 0.0125])


def test_penalties_on_chosen_layers() -> None:
    settings: dict[str, Any] = {"max_iter": 40, "learning_rate_init": 0.01}
    plain = classifier(alpha=0, **settings).fit(X, y)
    first = classifier(penalty=nn.L1(0.05, on="hidden1.weight"), **settings).fit(X, y)
    shrunk = [np.abs(a).sum() / np.abs(b).sum() for a, b in zip(first.coefs_, plain.coefs_, strict=True)]
    assert shrunk[0] < 0.5 < shrunk[2]
    both = classifier(penalty=nn.ElasticNet(0.02, 0.02) + nn.L2(0.5, on="output.*"), **settings).fit(X, y)
    assert np.abs(both.coefs_[2]).sum() < 0.7 * np.abs(plain.coefs_[2]).sum()


def test_averaged_parameters_predict() -> None:
    class Last(Callback):
        def on_epoch_end(self, run: Any) -> None:
            self.params = run.now.params

    last = Last()
    clf = classifier(training=TrainingSettings(ema=0.9), callbacks=[last], learning_rate_init=0.05).fit(X, y)
    assert not np.array_equal(clf.coefs_[0], last.params["hidden1.weight"])
    assert_array_equal(classifier(callbacks=[last]).fit(X, y).coefs_[0], last.params["hidden1.weight"])


# losses


@pytest.mark.parametrize("loss", ["absolute_error", "huber", "squared_error", "quantile", nn.loss("huber", delta=0.5)])
def test_losses_of_numbers(loss: Any) -> None:
    noisy = numbers.copy()
    noisy[::20] += 30.0  # outliers
    reg = regressor(loss=loss).fit(X, noisy)
    error = float(np.median(np.abs(reg.predict(X) - numbers)))
    assert error < (3.0 if loss == "squared_error" else 0.5)


def test_losses_of_positive_numbers() -> None:
    mean = np.exp(0.5 * X[:, 0])
    for loss, target in (("poisson", rng.poisson(mean)), ("gamma", mean * rng.gamma(5, 0.2, len(X)))):
        reg = regressor(loss=loss).fit(X, target)
        assert reg.out_activation_ == "exp"
        assert reg.predict(X).min() > 0
        assert np.corrcoef(reg.predict(X), mean)[0, 1] > 0.8
        assert_allclose(np.exp(reg.logits(X)[:, 0]), reg.predict(X), rtol=1e-6)


def test_quantiles_are_sorted_and_right() -> None:
    A = rng.uniform(-1, 1, (800, 1))
    target = A[:, 0] + (0.2 + np.abs(A[:, 0])) * rng.normal(size=800)
    reg = regressor(loss=nn.loss("quantile", quantiles=(0.1, 0.5, 0.9)), max_iter=150).fit(A, target)
    found = reg.predict(A)
    assert found.shape == (800, 3)
    assert np.all(np.diff(found, axis=1) >= 0)
    assert_allclose((target[:, None] < found).mean(axis=0), [0.1, 0.5, 0.9], atol=0.06)
    explained = [d2_pinball_score(target, found[:, i], alpha=q) for i, q in enumerate((0.1, 0.5, 0.9))]
    assert reg.score(A, target) == pytest.approx(np.mean(explained))
    single = regressor(loss=nn.loss("quantile", quantiles=0.9), max_iter=150).fit(A, target)
    assert mean_pinball_loss(target, single.predict(A), alpha=0.9) < mean_pinball_loss(target, found[:, 1], alpha=0.9)


def test_a_loss_of_ones_own() -> None:
    def log_cosh(s: Any, y: Any) -> Any:
        return np.log(np.cosh(s - y))

    assert regressor(loss=log_cosh).fit(X, numbers).score(X, numbers) > 0.5

    def focal(s: Any, y: Any) -> Any:
        return nn.loss("cross_entropy").each(s, y) * 2.0

    assert classifier(loss=focal, max_iter=60, learning_rate_init=0.01).fit(X, y).score(X, y) > 0.6


@pytest.mark.parametrize("loss", ["focal", nn.loss("focal", gamma=3.0), "log_loss"])
@pytest.mark.parametrize("classes", [2, 3])
def test_losses_of_classes(loss: Any, classes: int) -> None:
    target = np.minimum(y, classes - 1)
    clf = classifier(loss=loss, max_iter=60, learning_rate_init=0.01).fit(X, target)
    assert clf.score(X, target) > 0.7
    assert_allclose(clf.predict_proba(X).sum(axis=1), 1.0, rtol=1e-6)


def test_margins_have_no_probabilities() -> None:
    clf = classifier(loss="hinge", max_iter=60, learning_rate_init=0.01).fit(X, y == 0)
    assert clf.score(X, y == 0) > 0.8
    assert not hasattr(clf, "predict_proba")
    assert_array_equal(clf.decision_function(X) > 0, clf.predict(X))


def test_label_smoothing_keeps_probabilities_from_the_ends() -> None:
    settings: dict[str, Any] = {"max_iter": 150, "learning_rate_init": 0.01, "n_iter_no_change": 1000}
    plain, smooth = (classifier(label_smoothing=e, **settings).fit(X, y).predict_proba(X).max() for e in (0.0, 0.2))
    assert plain > 0.999
    assert smooth < 0.99


# validation


def test_ones_own_validation_data() -> None:
    train, held = np.arange(150), np.arange(150, 200)
    a = classifier(early_stopping=True, max_iter=8).fit(X[train], y[train], X_val=X[held], y_val=y[held])
    b = classifier(early_stopping=True, max_iter=8).fit(X, y, val_rows=held)
    mask = np.isin(np.arange(200), held)
    c = classifier(early_stopping=True, max_iter=8).fit(X, y, val_rows=mask)
    for other in (b, c):
        assert a.validation_scores_ == other.validation_scores_
        assert len(a.validation_scores_) == 8
        assert a.validation_loss_curve_ == other.validation_loss_curve_
    assert a.best_validation_score_ == max(a.validation_scores_) == a.score(X[held], y[held])
    watched = classifier(max_iter=8).fit(X[train], y[train], X_val=X[held], y_val=y[held])
    plain = classifier(max_iter=8).fit(X[train], y[train])
    assert_array_equal(watched.coefs_[0], plain.coefs_[0])  # without early stopping they are only looked at
    assert len(watched.validation_loss_curve_) == 8
    assert plain.validation_loss_curve_ is None
    assert watched.validation_loss_curve_[-1] == pytest.approx(log_loss(y[held], watched.predict_proba(X[held])))
    assert watched.validation_scores_[-1] == watched.score(X[held], y[held])


def own_score(truth: Any, prediction: Any) -> float:
    return -log_loss(truth, prediction)


@pytest.mark.parametrize(
    "monitor",
    [
        "loss",
        "accuracy",
        "neg_log_loss",
        "roc_auc",
        "roc_auc_ovr",
        "balanced_accuracy",
        "f1_macro",
        own_score,
        make_scorer(log_loss, greater_is_better=False, response_method="predict_proba"),
    ],
)
@pytest.mark.parametrize("classes", [2, 3])
def test_what_is_monitored(monitor: Any, classes: int) -> None:
    target = np.minimum(y, classes - 1)
    if monitor == "roc_auc_ovr" and classes == 2:
        pytest.skip("a scorer for several classes")
    clf = classifier(early_stopping=True, monitor=monitor, max_iter=10).fit(X, target, val_rows=np.arange(60))
    scores = clf.validation_scores_
    best = min(scores) if monitor == "loss" else max(scores)
    assert clf.best_validation_score_ == best == scores[clf.best_iter_ - 1]
    p = clf.predict_proba(X[:60])
    if monitor == "loss":
        assert best == pytest.approx(log_loss(target[:60], p))
    elif monitor in ("neg_log_loss", own_score):
        assert best == pytest.approx(-log_loss(target[:60], p))
    elif monitor == "roc_auc":
        truth = roc_auc_score(target[:60], p[:, 1] if classes == 2 else p, multi_class="ovr")
        assert best == pytest.approx(truth)


def test_a_class_may_be_absent_from_the_validation_rows() -> None:
    some = np.flatnonzero(y < 2)[:40]
    for monitor in ("neg_log_loss", "accuracy", "loss", "f1_macro"):
        clf = classifier(early_stopping=True, monitor=monitor).fit(X, y, val_rows=some)
        assert np.isfinite(clf.validation_scores_).all()
    best = classifier(early_stopping=True, monitor="neg_log_loss").fit(X, y, val_rows=some)
    loss = log_loss(y[some], best.predict_proba(X[some]), labels=[0, 1, 2])
    assert best.best_validation_score_ == pytest.approx(-loss)


@pytest.mark.parametrize(
    "monitor", ["r2", "mae", "rmse", "loss", "neg_mean_absolute_error", "neg_median_absolute_error"]
)
def test_what_is_monitored_of_numbers(monitor: str) -> None:
    reg = regressor(early_stopping=True, monitor=monitor, max_iter=10).fit(X, numbers)
    smaller = monitor in ("mae", "rmse", "loss")
    assert reg.best_validation_score_ == (min if smaller else max)(reg.validation_scores_)
    assert reg.validation_scores_[reg.best_iter_ - 1] == reg.best_validation_score_


class Spoil(Callback):
    """After some epochs training does harm."""

    def __init__(self, ending: str, epoch: int = 6) -> None:
        self.ending, self.epoch = ending, epoch

    def on_epoch_end(self, run: Any) -> None:
        if run.epoch >= self.epoch:
            run.now = type(run.now)({k: -v for k, v in run.now.params.items()}, run.now.state, run.now.rule)
        if run.epoch < self.epoch + 2:
            return
        if self.ending == "callback":
            run.stop("enough")
        elif self.ending == "Ctrl-C":
            raise KeyboardInterrupt
        elif self.ending == "time":
            run.plan.max_time = run.elapsed / 2  # it is later than anybody thought


@pytest.mark.filterwarnings("ignore:Training interrupted by user")
@pytest.mark.parametrize("engine", ["numpy", "native"])
@pytest.mark.parametrize("ending", ["patience", "max_iter", "time", "callback", "Ctrl-C"])
def test_the_best_parameters_are_kept_however_training_ends(ending: str, engine: str) -> None:
    settings: dict[str, Any] = {"max_iter": 12, "n_iter_no_change": 3 if ending == "patience" else 1000}
    settings |= {"max_time": 1e6 if ending == "time" else None, "engine": engine, "learning_rate_init": 0.02}
    clf = classifier(early_stopping=True, callbacks=[Spoil(ending)], **settings)
    clf.fit(X, y, val_rows=np.arange(60))
    assert clf.n_iter_ == (12 if ending == "max_iter" else len(clf.validation_scores_))
    assert clf.n_iter_ >= 7
    assert ending == "max_iter" or clf.n_iter_ < 12
    assert clf.best_iter_ <= 7
    assert clf.validation_scores_[-1] < clf.best_validation_score_
    assert clf.score(X[:60], y[:60]) == clf.best_validation_score_


# running


def test_callbacks_and_time() -> None:
    seen: list[int] = []
    clf = classifier(callbacks=[lambda run: seen.append(run.epoch), lambda run: "enough" if run.epoch == 3 else None])
    clf.set_params(max_iter=10).fit(X, y)
    assert seen == [1, 2, 3]
    assert clf.n_iter_ == 3
    slow = classifier(max_iter=1000, max_time=0.2, callbacks=[lambda run: time.sleep(0.05)], tol=0.0).fit(X, y)
    assert 1 <= slow.n_iter_ < 1000


def test_a_progress_bar(capsys: Any) -> None:
    classifier(verbose="bar").fit(X, y)
    shown = capsys.readouterr()
    assert "loss" in shown.out + shown.err
    classifier(verbose=True, early_stopping=True).fit(X, y)
    assert "Iteration 4, loss" in (text := capsys.readouterr().out)
    assert "Validation score" in text
    classifier().fit(X, y)
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize("engine", ["numpy", "native"])
@pytest.mark.parametrize(
    "more",
    [
        {"early_stopping": True},
        {"solver": "sgd", "learning_rate": "adaptive", "tol": 0.1, "n_iter_no_change": 2, "learning_rate_init": 0.3},
        {"solver": "sgd", "learning_rate": "invscaling", "learning_rate_init": 0.5},
    ],
)
def test_a_resumed_fit_is_the_whole_fit(more: dict[str, Any], engine: str, tmp_path: Any) -> None:
    settings = {"dropout": 0.2, "engine": engine, **more}
    whole = classifier(max_iter=9, **settings).fit(X, y)
    path = tmp_path / "run.ckpt"

    def power_cut(run: Any) -> None:
        if run.epoch == 5:
            raise RuntimeError("no power")

    with pytest.raises(RuntimeError, match="no power"):
        classifier(max_iter=9, training=TrainingSettings(checkpoint=path), callbacks=[power_cut], **settings).fit(X, y)
    resumed = classifier(max_iter=9, training=TrainingSettings(checkpoint=path, resume=path), **settings).fit(X, y)
    for mine, other in zip(whole.coefs_ + whole.intercepts_, resumed.coefs_ + resumed.intercepts_, strict=True):
        assert_array_equal(mine, other)
    assert whole.loss_curve_ == resumed.loss_curve_
    assert whole.n_iter_ == resumed.n_iter_
    assert whole.validation_scores_ == resumed.validation_scores_
    assert whole.best_iter_ == resumed.best_iter_


# predictions and how sure they are


def test_log_probabilities_are_never_minus_infinity() -> None:
    clf = classifier(max_iter=2).fit(X, y)
    clf.coefs_ = [1000 * w for w in clf.coefs_]
    found = clf.predict_log_proba(X)
    assert np.isfinite(found).all()
    assert clf.predict_proba(X).min() == 0


def test_networks_drawn_by_dropout() -> None:
    clf = classifier(dropout=0.3, max_iter=30, learning_rate_init=0.01).fit(X, y)
    mean, deviation = clf.predict_proba(X, return_std=True, n_draws=40)
    assert mean.shape == deviation.shape == (200, 3)
    assert deviation.max() > 0.01
    assert_allclose(mean.sum(axis=1), 1.0, rtol=1e-6)
    assert np.abs(mean - clf.predict_proba(X)).mean() < 0.1
    assert_array_equal(mean, clf.predict_proba(X, return_std=True, n_draws=40)[0])
    A = rng.uniform(-1, 1, (200, 1))
    reg = regressor(dropout=0.1, max_iter=100).fit(A, np.sin(3 * A[:, 0]))
    far, near = (reg.predict(x, return_std=True)[1].mean() for x in (A * 6, A))
    assert far > near  # less sure where nothing was seen


def noisy_line(count: int) -> tuple[Any, Any]:
    A = rng.uniform(-1, 1, (count, 2))
    return A, A[:, 0] + 0.3 * rng.normal(size=count)


@pytest.mark.parametrize("coverage", [0.5, 0.9])
@pytest.mark.parametrize("loss", ["squared_error", nn.loss("quantile", quantiles=(0.2, 0.5, 0.8))])
def test_intervals_hold_the_truth(loss: Any, coverage: float) -> None:
    reg = regressor(loss=loss, early_stopping=True, validation_fraction=0.4).fit(*noisy_line(4000))
    A, truth = noisy_line(4000)
    low, high = reg.predict_interval(A, coverage)
    assert np.mean((low <= truth) & (truth <= high)) == pytest.approx(coverage, abs=0.06)


def test_intervals_from_other_rows() -> None:
    reg = regressor().fit(*noisy_line(300))
    with pytest.raises(ValueError, match="rows that were not trained on"):
        reg.predict_interval(X[:5, :2])
    low, high = reg.calibrate(*noisy_line(500)).predict_interval(noisy_line(10)[0])
    assert 0.6 < float(np.mean(high - low)) < 1.6  # ± 1.645 * 0.3 is 0.99
    reg.calibrate(*noisy_line(5))
    with pytest.raises(ValueError, match="too few"):
        reg.predict_interval(X[:5, :2])


def test_a_temperature_makes_probabilities_honest() -> None:
    A, b = make_classification(600, 6, n_informative=4, flip_y=0.3, random_state=1)
    settings: dict[str, Any] = {"max_iter": 200, "n_iter_no_change": 1000, "learning_rate_init": 0.02, "alpha": 0.0}
    clf = classifier(**settings).fit(A[:200], b[:200])
    before = log_loss(b[400:], clf.predict_proba(A[400:]))
    classes = clf.predict(A)
    clf.calibrate(A[200:400], b[200:400])
    assert clf.temperature_ > 1.5
    assert log_loss(b[400:], clf.predict_proba(A[400:])) < 0.8 * before
    assert_array_equal(classes, clf.predict(A))
    again = classifier(training=TrainingSettings(calibrate=True), **settings)
    again.fit(A[:200], b[:200], X_val=A[200:400], y_val=b[200:400])
    assert again.temperature_ == pytest.approx(clf.temperature_, rel=1e-3)
    clf.fit(A[:200], b[:200])
    assert clf.temperature_ == 1.0  # learned anew


def test_prediction_takes_little_memory() -> None:
    clf = classifier(hidden_layer_sizes=(1000,), engine="numpy", max_iter=1).fit(X, y)
    many = np.zeros((100_000, 6))
    tracemalloc.start()
    clf.predict_proba(many)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 300e6  # the hidden layer of all rows would be 800e6


def test_noise_is_found_inside() -> None:
    assert has_noise(nn.Sequential(nn.Dense(2), nn.Sequential(nn.Dropout(0.1))))
    assert not has_noise(nn.mlp((3,), 1))
