"""What the network is made of and how it is trained: layers, rules, schedules, penalties, averages."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from pellucid import nn, optim
from pellucid.estimators import NetworkSettings, TrainingSettings
from pellucid.train import Callback
from tests.estimators.marks import few_epochs
from tests.estimators.three_classes import X, classifier, y

pytestmark = few_epochs

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
