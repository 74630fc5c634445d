"""The numbers behind the charts."""

import numpy as np
import pandas as pd
import pytest
from sklearn import metrics
from sklearn.preprocessing import StandardScaler

import pellucid as pel
from pellucid import nn, optim
from pellucid.report.numbers.confusion import confusion
from pellucid.report.numbers.data import data
from pellucid.report.numbers.influence import dependence, importance
from pellucid.report.numbers.layers import inside
from pellucid.report.numbers.ranking import POINTS, ranking
from pellucid.report.numbers.regions import regions
from pellucid.report.numbers.reliability import reliability
from pellucid.report.numbers.residuals import residuals
from pellucid.report.numbers.scores import scores
from pellucid.report.numbers.training import learning_curves
from pellucid.report.plain import block, plain
from pellucid.report.predictor import predictor
from pellucid.report.rows import sample
from pellucid.train import History
from tests.report.cases import look_of, quiet, two_moons


@pytest.fixture(scope="module")
def moons():
    return two_moons()


@pytest.fixture(scope="module")
def three():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3))
    y = np.array(["low", "middle", "high"])[np.digitize(X[:, 0] + 0.3 * rng.normal(size=300), [-0.5, 0.5])]
    return quiet(pel.MLPClassifier((16,), learning_rate_init=0.02, max_iter=30, random_state=0), X, y), X, y


def test_classes_are_counted_as_scikit_learn_counts_them(three):
    clf, X, y = three
    record = confusion(predictor(clf, y), sample(X, y))
    assert record.labels == ("high", "low", "middle")
    np.testing.assert_array_equal(record.matrix, metrics.confusion_matrix(y, clf.predict(X)))
    np.testing.assert_allclose(record.recall, metrics.recall_score(y, clf.predict(X), average=None))
    assert record.shares.sum(axis=1) == pytest.approx(1.0)
    assert f"{np.trace(record.matrix)} of 300" in record.caption


def test_a_model_of_numbers_has_the_same_face_as_an_estimator(moons):
    asked = predictor(moons.model)
    rows = sample(moons.X, moons.y)
    assert asked.classes == (0, 1)
    assert confusion(asked, rows).matrix.sum() == 160
    accuracy = next(score.value for score in scores(asked, rows) if score.name == "accuracy")
    assert accuracy == pytest.approx(moons.model.evaluate(moons.X, moons.y)["accuracy"])
    np.testing.assert_allclose(asked.probabilities(moons.X).sum(axis=1), 1.0, rtol=1e-6)


@pytest.mark.parametrize("coding", [(0, 1), (-1, 1), "column"])
def test_targets_of_a_model_may_be_coded_in_several_ways(moons, coding):
    asked = predictor(moons.model)
    y = moons.y[:, None] if coding == "column" else np.where(moons.y == 1, coding[1], coding[0])
    np.testing.assert_array_equal(asked.targets(y), moons.y)


def test_margins_rank_but_give_no_probabilities():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 2))
    y = np.where(X[:, 0] > 0, 1, -1)
    model = pel.Model(nn.mlp((4,), 1), "hinge", optim.Adam(0.05))
    model.fit(X, y, epochs=5, verbose=False)
    asked, rows = predictor(model), sample(X, y)
    assert asked.classes == (-1, 1)
    assert reliability(asked, rows) is None
    assert ranking(asked, rows).roc[0].area > 0.8
    assert regions(asked, rows).values.shape == (1, 64, 64)


def test_unit_vectors_are_classes():
    X = np.random.default_rng(0).normal(size=(60, 2))
    labels = np.digitize(X[:, 0], [-0.5, 0.5])
    model = pel.Model(nn.mlp((4,), 3), "cross_entropy").initialize(2)
    asked = predictor(model)
    np.testing.assert_array_equal(asked.targets(np.eye(3)[labels]), labels)
    record = regions(asked, sample(X, labels))
    np.testing.assert_array_equal(record.values.argmax(axis=0).ravel(), asked.predict(_grid(record)))


def _grid(record):
    return np.stack([side.ravel() for side in np.meshgrid(record.x, record.y)], axis=1)


def test_reliability_of_probabilities_that_are_right():
    rng = np.random.default_rng(0)
    logits = rng.normal(size=4000) * 2
    y = (rng.random(4000) < 1 / (1 + np.exp(-logits))).astype(int)
    model = pel.Model(nn.Dense(1), "binary_cross_entropy", dtype=np.float64).initialize(1)
    model.params = {"weight": np.ones((1, 1)), "bias": np.zeros(1)}
    record = reliability(predictor(model), sample(logits[:, None], y))
    assert record.error < 0.03
    assert record.rows.sum() == 4000
    assert np.all((record.low <= record.observed) & (record.observed <= record.high))
    model.params["weight"] *= 3.0  # now they say too much
    worse = reliability(predictor(model), sample(logits[:, None], y))
    assert worse.error > 3 * record.error


def test_ranking_is_thinned_and_keeps_its_ends():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(5000, 1))
    y = (X[:, 0] + rng.normal(size=5000) > 0).astype(int)
    model = pel.Model(nn.Dense(1), "binary_cross_entropy").initialize(1)
    model.params = {"weight": np.ones((1, 1), np.float32), "bias": np.zeros(1, np.float32)}
    record = ranking(predictor(model), sample(X, y))
    (curve,) = record.roc
    assert len(curve.x) <= POINTS + 2
    assert (curve.x[0], curve.y[0], curve.x[-1], curve.y[-1]) == (0.0, 0.0, 1.0, 1.0)
    assert curve.area == pytest.approx(metrics.roc_auc_score(y, X[:, 0]))
    assert np.trapezoid(curve.y, curve.x) == pytest.approx(curve.area, abs=0.01)


def test_residuals_and_scores_of_numbers():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 2))
    Y = np.stack([X[:, 0] + 1.0, 2.0 * X[:, 1]], axis=1)
    model = pel.Model(nn.Dense(2), dtype=np.float64).initialize(2)
    model.params = {"weight": np.diag([1.0, 2.0]), "bias": np.zeros(2)}
    first, second = residuals(predictor(model), sample(X, Y))
    assert first.mean == pytest.approx(1.0)
    assert "too low by 1" in first.residual_caption
    assert second.r2 == pytest.approx(1.0)
    assert second.counts.sum() == 200
    mean = next(score for score in scores(predictor(model), sample(X, Y)) if score.name == "mean error")
    assert mean.value == pytest.approx(0.5)


def test_influence_finds_the_column_that_matters():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(200, 3)), columns=["idle", "used", "spare"])
    model = pel.Model(nn.Dense(1), dtype=np.float64).initialize(3)
    model.params = {"weight": np.array([[0.0], [2.0], [0.1]]), "bias": np.zeros(1)}
    asked, rows = predictor(model), sample(X, 2.0 * X["used"] + 0.1 * X["spare"])
    record = importance(asked, rows)
    assert record.columns[0] == "used"
    assert record.columns[-1] == "idle"
    (curve, _) = dependence(asked, rows, (1, 0))
    np.testing.assert_allclose(curve.mean[0], 2.0 * curve.values + 0.1 * X["spare"].mean(), atol=1e-6)
    np.testing.assert_allclose(curve.low, curve.high, atol=1e-6)  # all rows react in the same way


def test_whole_numbers_are_asked_about_as_numbers():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"age": rng.integers(18, 80, 90), "size": pd.array([1, 2, None] * 30, dtype="Int64")})
    y = X["age"] / 10.0
    model = quiet(pel.TabularMLPRegressor(folds=1, max_iter=2, random_state=0), X, y)
    curves = dependence(predictor(model), sample(X, y), (0, 1))
    assert [curve.categories for curve in curves] == [False, False]
    assert len(curves[0].values) == 24
    assert curves[1].values.tolist() == [1.0, 2.0]


def test_columns_of_every_kind_are_described():
    X = pd.DataFrame(
        {
            "number": [1.0, 2.0, np.nan, 4.0],
            "word": ["a", "b", "a", None],
            "yes": [True, False, True, True],
            "day": pd.to_datetime(["2020-01-01", "2020-01-02", None, "2021-01-01"]),
            "same": [7, 7, 7, 7],
        }
    )
    record = data(sample(X, np.array(["x", "y", "x", "x"])), classes=True)
    kinds = {column.name: (column.kind, column.distinct) for column in record.columns}
    assert kinds == {
        "number": ("number", 3),
        "word": ("category", 2),
        "yes": ("yes or no", 2),
        "day": ("date", 3),
        "same": ("number", 1),
    }
    assert record.columns[0].missing == 0.25
    assert record.target[0].bars.labels == ("x", "y")
    assert record.target[0].bars.counts.tolist() == [3, 1]
    assert "Always the same: “same”" in record.caption


def test_histograms_hold_every_number_once():
    record = inside([look_of(0), look_of(50)])
    for layer in record.layers:
        for frames in layer.frames.values():
            np.testing.assert_allclose(frames.shares.sum(axis=1) + frames.zeros, 1.0, atol=1e-9)
            assert np.all(frames.low < frames.high)
    first = record.layers[0]
    assert first.frames["a"].low[0] == 0.0  # what is never negative is not drawn below 0
    assert first.dead.tolist() == [0.1, 0.1]  # 2 of 20
    assert first.order[-2:].tolist() == [0, 1]


def test_many_looks_are_thinned_and_one_is_enough():
    record = inside([look_of(step, units=3, layers=1) for step in range(0, 2000, 10)])
    assert len(record.steps) == 60
    assert (record.steps[0], record.steps[-1]) == (0, 1990)
    assert not inside([look_of(0)]).moving
    assert inside([]) is None


def test_learning_curves_know_the_best_epoch():
    rows = [{"epoch": k + 1, "loss": 1.0 / (k + 1), "val_loss": abs(k - 3) + 1.0, "lr": 0.1} for k in range(8)]
    record = learning_curves(History(rows, ending="val_loss has not improved for 4 epochs"))
    assert (record.best, record.best_of, record.best_value) == (4, "validation loss", 1.0)
    assert not record.complete
    assert "learns rows by heart" in record.caption
    assert "has not improved" in record.caption
    chosen = learning_curves(History(rows), kept=6)
    assert (chosen.best, chosen.kept) == (4, 6)
    assert "epoch 6 were kept" in chosen.caption
    assert learning_curves(History()) is None


def test_a_best_epoch_at_the_end_is_no_surprise_where_the_rate_has_fallen_to_nothing():
    rows = [{"epoch": k + 1, "loss": 1.0 / (k + 1), "val_loss": 2.0 / (k + 1), "lr": 0.1} for k in range(8)]
    assert "more epochs may help" in learning_curves(History(rows)).caption
    rows[-1]["lr"] = 1e-6
    assert "more epochs may help" not in learning_curves(History(rows)).caption


def test_plain_data_for_the_page():
    assert plain({"a": np.float32(0.5), "b": np.array([1.0, np.inf]), "c": np.int64(3)}) == {
        "a": 0.5,
        "b": [1, None],
        "c": 3,
    }
    assert "<" not in block({"name": "</script><!--\u2028"})
    assert StandardScaler.__name__ in str(plain(StandardScaler()))  # anything else by its words


def test_what_cannot_be_reported_is_refused_with_a_remedy(moons):
    with pytest.raises(TypeError, match="without a fitted network"):
        predictor(StandardScaler())
    with pytest.raises(TypeError, match="call fit"):
        predictor(pel.MLPClassifier())
    with pytest.raises(ValueError, match="initialize"):
        predictor(pel.Model(nn.mlp((4,), 1)))
    with pytest.raises(ValueError, match="160 rows, y has 3"):
        sample(moons.X, [1, 2, 3])
