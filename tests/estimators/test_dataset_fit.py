"""Estimators on data sets larger than memory: classes learned in a pass, early stopping, weights, predictions."""

import numpy as np
import pytest

from pellucid import MLPClassifier, MLPRegressor
from pellucid.data import dataset
from pellucid.estimators.settings import TrainingSettings
from tests.data.tables_in_files import table, write

FRAME = table()
FRAME["kind"] = np.where(FRAME["label"] == 1, "same", "other")
FRAME["sum"] = FRAME["a"] - 2 * FRAME["b"] + 0.1 * FRAME["c"]
FEATURES = ["a", "b", "c", "d"]
X = FRAME[FEATURES]

pytestmark = pytest.mark.filterwarnings("ignore:Stochastic Optimizer")  # short runs


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("files")
    return {kind: write(folder, kind, FRAME) for kind in ("parquet", "csv")}


def classifier(**more):
    settings = {"max_iter": 12, "tol": 0.05, "learning_rate_init": 0.01, "random_state": 0, "threads": 1, **more}
    return MLPClassifier((16,), **settings)


@pytest.mark.parametrize("kind", ["parquet", "csv"])
def test_a_classifier_learns_classes_and_stops_early(files, kind):
    data = dataset(files[kind], target="kind", columns=FEATURES, buffer=1000)
    clf = classifier(early_stopping=True).fit(data)
    assert clf.classes_.tolist() == ["other", "same"]
    assert clf.feature_names_in_.tolist() == FEATURES
    assert clf.score(X, FRAME["kind"]) > 0.85
    assert len(clf.validation_scores_) == clf.n_iter_
    again = classifier(early_stopping=True).fit(data)
    assert np.array_equal(clf.coefs_[0], again.coefs_[0])


def test_predictions_stream_in_and_out(files):
    clf = classifier().fit(dataset(files["parquet"], target="kind", columns=FEATURES))
    labels = np.concatenate(list(clf.predict_batches(files["parquet"])))  # other columns are left alone
    likely = np.concatenate(list(clf.predict_batches(dataset(FRAME), "predict_proba")))
    assert np.array_equal(labels, clf.predict(X))
    np.testing.assert_allclose(likely, clf.predict_proba(X), rtol=1e-6)
    with pytest.raises(ValueError, match="method is 'predict'"):
        clf.predict_batches(FRAME, "guess")
    with pytest.raises(ValueError, match="the data set has no column 'd'"):
        clf.predict_batches(FRAME[["a", "b", "c"]])


def test_weights_of_classes_and_rows_count(files):
    """As in memory, without shuffling: the same steps."""
    data = dataset(files["parquet"], target="kind", columns=FEATURES, weight="weight")
    for class_weight in ("balanced", {"same": 3.0}):
        settings = {"class_weight": class_weight, "shuffle": False, "max_iter": 2, "dtype": "float32", "tol": 10.0}
        streamed = classifier(**settings).fit(data)
        memory = classifier(**settings).fit(X.astype(np.float32), FRAME["kind"], FRAME["weight"])
        np.testing.assert_allclose(streamed.coefs_[0], memory.coefs_[0], rtol=2e-3, atol=1e-4)


def test_a_regressor_learns_and_checks_by_another_data_set(files):
    data = dataset(files["csv"], target="sum", columns=FEATURES)
    held = dataset(FRAME.iloc[:500], target="sum", columns=FEATURES)
    settings = {"hidden_layer_sizes": (16,), "max_iter": 15, "tol": 0.5, "random_state": 0, "threads": 1}
    reg = MLPRegressor(learning_rate_init=0.01, early_stopping=True, **settings).fit(data, X_val=held)
    assert reg.score(X, FRAME["sum"]) > 0.95
    low, high = reg.predict_interval(X)
    assert np.mean((low < FRAME["sum"]) & (FRAME["sum"] < high)) > 0.8
    arrays = MLPRegressor(**settings).fit(data, X_val=X[:100], y_val=FRAME["sum"][:100])
    assert len(arrays.validation_scores_) == arrays.n_iter_


def test_several_targets_and_several_labels(files):
    both = dataset(files["parquet"], target=["sum", "a"], columns=["b", "c"])
    reg = MLPRegressor(hidden_layer_sizes=(8,), max_iter=2, tol=10.0, threads=1).fit(both)
    assert reg.predict(FRAME[["b", "c"]]).shape == (len(FRAME), 2)
    labels = dataset(FRAME.assign(other=1 - FRAME["label"]), target=["label", "other"], columns=FEATURES)
    clf = classifier(max_iter=2, tol=10.0).fit(labels)
    assert clf.predict(X).shape == (len(FRAME), 2)


@pytest.mark.parametrize("apart", [{}, {"groups": "c"}, {"time": "a"}], ids=["drawn", "groups", "time"])
def test_a_run_of_an_estimator_is_taken_up_bit_for_bit(files, tmp_path, apart):
    data = dataset(files["parquet"], target="kind", columns=FEATURES, buffer=1000)

    def fitted(epochs, **training):
        settings = TrainingSettings(**training)
        return classifier(
            max_iter=epochs, tol=0.0, n_iter_no_change=100, early_stopping=True, engine="native", training=settings
        ).fit(data, **apart)

    whole = fitted(5)
    fitted(2, checkpoint=tmp_path / "run.ckpt")
    parted = fitted(5, checkpoint=tmp_path / "run.ckpt", resume=tmp_path / "run.ckpt")
    assert all(np.array_equal(a, b) for a, b in zip(whole.coefs_, parted.coefs_, strict=True))
    assert whole.validation_scores_ == parted.validation_scores_


def test_errors(files):
    data = dataset(files["parquet"], target="kind", columns=FEATURES)
    with pytest.raises(ValueError, match="a regressor predicts numbers, for classes take a classifier"):
        MLPRegressor().fit(data)
    with pytest.raises(ValueError, match="solver='lbfgs' takes all rows at once"):
        MLPClassifier(solver="lbfgs").fit(data)
    with pytest.raises(TypeError, match="a Dataset brings its target and weights"):
        MLPClassifier().fit(data, FRAME["kind"])
    with pytest.raises(ValueError, match="the data set has no target"):
        MLPClassifier().fit(dataset(files["parquet"], columns=FEATURES))
    with pytest.raises(ValueError, match="val_rows are for rows in memory"):
        MLPClassifier().fit(data, val_rows=[1, 2])
    with pytest.raises(ValueError, match=r"not texts.*TabularMLPClassifier"):
        MLPClassifier().fit(dataset(files["parquet"], target="label", columns=["a", "kind"]))
    with pytest.raises(ValueError, match="Unknown label type"):
        MLPClassifier().fit(dataset(files["parquet"], target="a", columns=["b"]))
    with pytest.raises(ValueError, match=r"the target is 'new', which is none of 'other', 'same'"):
        classifier().fit(data, X_val=dataset(FRAME.assign(kind="new"), target="kind", columns=FEATURES))
