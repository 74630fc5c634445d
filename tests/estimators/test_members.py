"""Estimators whose network is many networks in one."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone

import pellucid as pel
from pellucid import nn
from pellucid.estimators import (
    BaggedMLPClassifier,
    MLPClassifier,
    MLPRegressor,
    NetworkSettings,
)
from pellucid.estimators.class_target import class_target
from pellucid.estimators.mlp_parameters import COMPAT
from pellucid.inspect import run as look_at
from pellucid.train.temperature import BELIEF

rng = np.random.default_rng(0)
X = rng.normal(size=(120, 4))
SUM = X[:, 0] + X[:, 1]
TARGETS = {
    "two": np.where(SUM > 0, "yes", "no"),
    "three": np.digitize(SUM, [-0.7, 0.7]),
    "labels": (X[:, :3] > 0).astype(int),
}
K = 3


def classifier(**more):
    settings = {"max_iter": 20, "learning_rate_init": 0.02, "tol": 0.0, "random_state": 0, "batch_size": 20}
    settings |= {"network": NetworkSettings(members=K)}
    return MLPClassifier((16, 8), **(settings | more))


def regressor(**more):
    settings = {"hidden_layer_sizes": (16, 8), "max_iter": 20, "learning_rate_init": 0.02, "random_state": 0}
    settings |= {"batch_size": 20}
    return MLPRegressor(**(settings | {"tol": 0.0, "network": NetworkSettings(members=K)} | more))


pytestmark = pytest.mark.filterwarnings("ignore:Stochastic Optimizer", "ignore:lbfgs failed")


@pytest.mark.parametrize("kind", TARGETS)
def test_classifiers_answer_by_the_mean_of_the_members_probabilities(kind, tmp_path):
    y = TARGETS[kind]
    model = classifier().fit(X, y)
    outputs = model.n_outputs_
    assert model.score(X, y) > 0.7
    assert isinstance(model.model_.loss, nn.EachMember)
    scores, link = model.model_.scores(X), model.fitted.target.link
    assert scores.shape == (120, K * outputs)
    likely = np.mean([link.probabilities(s) for s in np.split(scores, K, axis=1)], axis=0)
    assert_allclose(model.predict_proba(X), likely, rtol=1e-10)
    assert_allclose(model.predict_log_proba(X), np.log(likely), rtol=1e-8, atol=1e-12)
    decided = likely > 0.5 if kind == "labels" else model.classes_[likely.argmax(axis=1)]
    assert_array_equal(model.predict(X), decided)
    assert model.decision_function(X).shape == ((120,) if kind == "two" else (120, 3))
    assert model.logits(X).shape == (120, outputs)
    assert [w.shape for w in model.coefs_] == [(4, 16), (16, 8), (K, 8, outputs)]
    assert [b.shape for b in model.intercepts_] == [(16,), (8,), (K, outputs)]
    shapes = {name: array.shape for name, array in model.activations(X).items()}
    assert shapes == {"hidden1": (120, 16), "hidden2": (120, 8), "output": (120, outputs)}
    assert model.transform(X).shape == (120, len(model.get_feature_names_out()))
    model.save(tmp_path / "m.pel")
    assert_array_equal(pel.load(tmp_path / "m.pel").predict_proba(X), model.predict_proba(X))
    assert clone(model).get_params()["network__members"] == K
    look_at(model, X, y)
    model.diagnose()


def test_the_temperature_divides_the_joined_scores():
    model = classifier(max_iter=60).fit(X[:60], TARGETS["three"][:60]).calibrate(X[60:], TARGETS["three"][60:])
    T, doubt, link = model.temperature_, model.fitted.calibration.doubt, model.fitted.target.link
    assert T != 1.0
    assert doubt == pytest.approx(1 / 61)  # of 60 rows that were not trained on
    likely = np.mean([link.probabilities(s) for s in np.split(model.model_.scores(X), K, axis=1)], axis=0)
    joined = np.log(likely)
    assert_allclose(model.predict_proba(X), (1 - doubt) * link.probabilities(joined / T) + doubt / 3, rtol=1e-8)
    assert_array_equal(model.predict(X), model.classes_[model.predict_proba(X).argmax(axis=1)])

    def cost(t):
        logs = link.log_probabilities(joined[60:] / t)
        return BELIEF * (1 / t + np.log(t)) - np.sum(logs[np.arange(60), TARGETS["three"][60:]])

    assert cost(T) <= min(cost(0.98 * T), cost(1.02 * T), cost(1.0))  # the loss of all together is what it makes small


@pytest.mark.parametrize("loss", ["squared_error", "poisson", nn.loss("quantile", quantiles=(0.1, 0.5, 0.9))])
def test_regressors_answer_by_the_mean_of_the_members_numbers(loss, tmp_path):
    y = np.exp(0.3 * SUM)
    model = regressor(loss=loss, early_stopping=True).fit(X, y)
    parts = [model.fitted.target.loss.link(s) for s in np.split(model.model_.scores(X), K, axis=1)]
    assert_allclose(model.predict(X).reshape(120, -1), np.mean(parts, axis=0), rtol=1e-10)
    low, high = model.predict_interval(X)
    assert low.shape == (120,)
    assert (low <= high).all()
    assert model.score(X, y) > 0.2
    model.save(tmp_path / "m.pel")
    assert_array_equal(pel.load(tmp_path / "m.pel").predict(X), model.predict(X))
    model.diagnose()


def test_one_member_is_the_plain_network():
    one = classifier(network=NetworkSettings(members=1)).fit(X, TARGETS["two"])
    assert_array_equal(one.predict_proba(X), classifier(network=None).fit(X, TARGETS["two"]).predict_proba(X))


def test_other_ways_to_train():
    several = np.stack([SUM, X[:, 2] ** 2], axis=1)
    assert regressor(solver="lbfgs", max_iter=60).fit(X, several).score(X, several) > 0.8
    weights = np.where(SUM > 0, 1.0, 0.0)
    weighted = regressor().fit(X, SUM, sample_weight=weights)
    assert weighted.score(X[SUM > 0], SUM[SUM > 0]) > 0.5
    more = classifier(warm_start=True).fit(X, TARGETS["two"])
    before = more.coefs_[-1].copy()
    assert not np.array_equal(more.fit(X, TARGETS["two"]).coefs_[-1], before)
    with pytest.raises(ValueError, match="a warm start goes on with the same layers"):
        more.set_params(network__members=5).fit(X, TARGETS["two"])
    noisy = classifier(dropout=0.2).fit(X, TARGETS["two"])
    mean, deviation = noisy.predict_proba(X, return_std=True, n_draws=4)
    assert mean.shape == deviation.shape == (120, 2)
    bagged = BaggedMLPClassifier(classifier(), n_estimators=2, method="seeds", random_state=0).fit(X, TARGETS["three"])
    assert bagged.predict_proba(X).shape == (120, 3)
    other = classifier(random_state=1).fit(X, TARGETS["two"]).model_.params["input.members.scale"]
    assert not np.array_equal(np.sign(other), np.sign(more.model_.params["input.members.scale"]))


def test_columns_beside_numbers_come_ahead_of_members():
    """What the recipe of tables is made of, with members."""
    target = class_target(TARGETS["three"], "log_loss", 0.1, COMPAT[None])
    settings = {"scaling": "ntk", "input_scale": True, "periodic": 4, "output_init": 0.0}
    usual = classifier(network=NetworkSettings(**settings), label_smoothing=0.1).fit(X, TARGETS["three"]).model_
    assert usual.loss == target.loss
    model = classifier(network=NetworkSettings(**settings, members=K), label_smoothing=0.1, max_iter=1, batch_size=120)
    model.fit(X, TARGETS["three"])
    assert model.model_.loss == nn.EachMember(target.loss, K)
    assert model.model_.outputs == 3 * K
    names = list(dict(model.model_.net.children))
    assert names[:3] == ["input.periodic", "input.scale", "input.members"]
    first = model.model_.net.initialize(4, dtype="float32", seed=0)[0]
    assert not first["output.weight"].any()  # as the settings have it
