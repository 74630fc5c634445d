"""Every metric with every loss: what does not go together is refused when the model is made. Targets of one class."""

import warnings
from typing import Any

import numpy as np
import pytest
from sklearn.metrics import get_scorer, log_loss, make_scorer

from pellucid import MLPClassifier, MLPRegressor, nn, train
from pellucid.train.metrics import is_classifier, metric

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 3))
LABELS = (X[:, 0] > 0).astype(int)
THREE = LABELS + (X[:, 1] > 0)
POSITIVE = np.abs(X[:, 0]) + 0.1
CLASSES = ["accuracy", "calibrated_log_loss", "balanced_accuracy", "f1", "roc_auc", "average_precision"]
NUMBERS = ["mse", "rmse", "mae", "r2"]
TABLE = [loss for name, loss in nn.LOSSES.items() if name == loss.name and "example" not in name]
TABLE += [
    nn.loss("quantile", quantiles=(0.1, 0.9)),
    nn.Summed(nn.loss("squared_error")),
    nn.Summed(nn.loss("multilabel")),
]


def target(loss):
    """(target, outputs)"""
    if loss.name in ("cross_entropy", "brier"):
        return THREE, 3
    if loss.name == "multilabel":
        return (X[:, :2] > 0).astype(int), 2
    return (LABELS if is_classifier(loss) else POSITIVE), loss.per_output


def made(loss, *metrics):
    return train.Model(nn.mlp((3,), target(loss)[1]), loss, metrics=metrics)


def unfit(name, loss):
    if name in NUMBERS:
        return loss.link_name == "softmax" or loss.per_output > 1
    if name == "calibrated_log_loss":
        return not loss.link.kind.gives_probabilities
    return not is_classifier(loss) or (name == "balanced_accuracy" and loss.name == "multilabel")


def test_the_table_is_walked():
    assert sorted(CLASSES + NUMBERS) == sorted(train.METRICS)


@pytest.mark.parametrize("loss", TABLE, ids=lambda loss: f"{type(loss).__name__}-{loss.name}-{loss.per_output}")
@pytest.mark.parametrize("name", CLASSES + NUMBERS)
def test_refused_when_the_model_is_made_or_computed(name, loss):
    y, _ = target(loss)
    if unfit(name, loss):
        with pytest.raises(
            ValueError, match=f"the metric {name} (is for classes|compares|takes one|takes prob).*{loss.name}"
        ):
            made(loss, name)
        return
    history = made(loss, name).fit(X, y, validation=(X, y), epochs=1, verbose=False)
    assert np.isfinite(history[f"val_{name}"]).all()


@pytest.mark.parametrize(
    ("scorer", "loss", "text"),
    [
        ("accuracy", "squared_error", "accuracy_score is for classes, but squared_error predicts numbers"),
        ("roc_auc", "huber", "roc_auc_score is for classes"),
        ("neg_log_loss", "poisson", "log_loss is for classes"),
        ("neg_log_loss", "hinge", "takes probabilities, but hinge gives none"),
        ("positive_likelihood_ratio", "squared_error", "is for classes"),
        ("neg_mean_squared_error", "cross_entropy", "compares numbers, but cross_entropy predicts probabilities"),
        ("r2", nn.loss("quantile", quantiles=(0.1, 0.9)), "takes one number for each target, but quantile predicts 2"),
    ],
)
def test_scorers_of_scikit_learn(scorer, loss, text):
    with pytest.raises(ValueError, match=text):
        made(nn.loss(loss), get_scorer(scorer))


def test_what_nobody_knows_is_let_through():
    def mine(y, prediction):
        return 0.0

    for loss in ("squared_error", "cross_entropy", "hinge"):
        made(nn.loss(loss), mine, train.Metric("own", mine))
        made(nn.loss(loss), make_scorer(mine))


def test_a_loss_of_ones_own_says_what_it_is_for():
    def cost(s, y):
        return np.abs(s - y)

    with pytest.raises(
        ValueError, match=r"is for classes, but cost predicts numbers: say nn\.loss\(f, like='cross_entropy'\)"
    ):
        made(nn.loss(cost), "accuracy")
    made(nn.loss(cost, like="binary_cross_entropy"), "accuracy")


def test_monitors_of_estimators_are_looked_at_ahead_of_training():
    seen: list[Any] = []
    for estimator, y in (
        (MLPRegressor(monitor="accuracy", early_stopping=True, callbacks=[seen.append]), POSITIVE),
        (MLPRegressor(monitor="roc_auc", early_stopping=True, callbacks=[seen.append]), POSITIVE),
        (MLPClassifier(monitor="r2", early_stopping=True, callbacks=[seen.append]), THREE),
    ):
        with pytest.raises(ValueError, match=r"the metric .* (is for classes|compares numbers)"):
            estimator.fit(X, y)
    assert not seen


def test_metrics_survive_a_copy():
    import pickle

    scorer = pickle.loads(pickle.dumps(metric(make_scorer(log_loss, response_method="predict_proba"))))
    with pytest.raises(ValueError, match="is for classes"):
        scorer.check(nn.loss("squared_error"))


# one class


@pytest.mark.parametrize(
    ("loss", "y", "outputs"),
    [
        ("cross_entropy", np.zeros(60, int), 3),
        ("cross_entropy", np.full(60, 2), 3),
        ("binary_cross_entropy", np.ones(60), 1),
        ("binary_cross_entropy", np.zeros((60, 1)), 1),
        ("focal", np.ones(60, int), 1),
        ("focal", np.ones(60, int), 3),
        ("hinge", -np.ones(60), 1),
    ],
)
def test_one_class_warns(loss, y, outputs):
    model = train.Model(nn.mlp((3,), outputs), loss)
    label = int(np.ravel(y)[0])
    with pytest.warns(train.DataWarning, match=f"y has one class only, {label}: every prediction will be that class"):
        model.fit(X, y, epochs=1, verbose=False)


def test_one_class_among_the_training_rows_warns():
    y = LABELS.copy()
    held = np.flatnonzero(y == 1)
    with pytest.warns(train.DataWarning, match="y has one class only, 0"):
        train.Model(nn.mlp((3,), 1), "bce").fit(X, y, validation=held, epochs=1, verbose=False)


def test_two_classes_labels_probabilities_and_numbers_do_not_warn():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for loss, y, outputs in (
            ("cross_entropy", LABELS, 2),
            ("bce", LABELS, 1),
            ("multilabel", np.zeros((60, 2)), 2),
            ("cross_entropy", np.full((60, 2), 0.5), 2),
            ("bce", np.full(60, 0.3), 1),
            ("squared_error", np.zeros(60), 1),
        ):
            train.Model(nn.mlp((3,), outputs), loss).fit(X, y, epochs=1, verbose=False)


def test_a_fit_that_goes_on_and_partial_fits_do_not_warn():
    model = train.Model(nn.mlp((3,), 1), "bce")
    model.fit(X, LABELS, epochs=1, verbose=False, continued=True)
    clf = MLPClassifier((3,), random_state=0)
    clf.partial_fit(X, LABELS, classes=[0, 1])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.fit(X[:9], np.zeros(9), epochs=1, verbose=False, continued=True)
        clf.partial_fit(X[:9], np.zeros(9, int))


@pytest.mark.filterwarnings("ignore:Stochastic Optimizer")
def test_estimators_warn_once():
    with pytest.warns(train.DataWarning) as caught:
        MLPClassifier((3,), max_iter=1).fit(X, np.zeros(60, int))
    assert len([w for w in caught if issubclass(w.category, train.DataWarning)]) == 1
