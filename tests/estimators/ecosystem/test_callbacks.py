"""scikit-learn's callbacks: told of every epoch with an estimator that predicts, and obeyed when they want to stop."""

import pickle

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import pellucid as pel
from pellucid import MLPClassifier, MLPRegressor, TabularMLPClassifier, TabularMLPRegressor

callback = pytest.importorskip("sklearn.callback", reason="scikit-learn 1.9 and later has callbacks")
pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

rng = np.random.default_rng(0)
X = rng.normal(size=(120, 3))
y = (X[:, 0] * X[:, 1] > 0).astype(int)


class Recorder:
    """Writes down what it is told; stops after some epochs, if it is to."""

    def __init__(self, stop_after=None):
        self.events, self.estimators, self.rows, self.stop_after = [], [], [], stop_after

    def setup(self, estimator, context):
        self.events.append("setup")

    def teardown(self, estimator, context):
        self.events.append("teardown")

    def on_fit_task_begin(self, estimator, context):
        self.events.append(f"{context.task_name} {context.task_id} begins")

    def on_fit_task_end(self, estimator, context, *, X, y, metadata, fitted_estimator):
        self.events.append(f"{context.task_name} {context.task_id} ends")
        self.rows.append((X, y, metadata))
        self.estimators.append(fitted_estimator)
        return context.task_name == "epoch" and context.task_id + 1 == self.stop_after


@pytest.mark.parametrize("engine", ["numpy", "native"])
def test_hooks_of_every_epoch(engine):
    recorder = Recorder()
    clf = MLPClassifier((8,), max_iter=3, random_state=0, engine=engine)
    plain = clone(clf).fit(X, y)
    assert clf.set_callbacks(recorder) is clf
    clf.fit(X, y, sample_weight=np.ones(len(X)))
    epochs = [f"epoch {i} {what}" for i in range(3) for what in ("begins", "ends")]
    assert recorder.events == ["setup", "fit 0 begins", *epochs, "fit 0 ends", "teardown"]
    for weight, other in zip(clf.coefs_, plain.coefs_, strict=True):
        assert_array_equal(weight, other)
    given_X, given_y, metadata = recorder.rows[0]
    assert given_X is X
    assert given_y is y
    assert list(metadata) == ["sample_weight"]
    assert [len(one.loss_curve_) for one in recorder.estimators] == [1, 2, 3, 3]
    predictions = [one.predict_proba(X) for one in recorder.estimators]
    assert np.abs(predictions[0] - predictions[2]).max() > 1e-5
    assert_array_equal(predictions[2], clf.predict_proba(X))


def test_a_hook_that_returns_true_ends_the_training():
    recorder = Recorder(stop_after=2)
    reg = MLPRegressor(hidden_layer_sizes=(8,), max_iter=50, random_state=0).set_callbacks(recorder).fit(X, X[:, 0])
    assert reg.n_iter_ == 2
    assert "callback of scikit-learn" in reg.model_.history.stopped
    recorder.events.clear()
    reg.partial_fit(X, X[:, 0])
    assert recorder.events[1:-1] == ["partial_fit 0 begins", "epoch 0 begins", "epoch 0 ends", "partial_fit 0 ends"]


def test_without_epochs_the_fit_alone_is_told():
    recorder = Recorder()
    MLPClassifier((8,), solver="lbfgs", max_iter=5, random_state=0).set_callbacks(recorder).fit(X, y)
    assert recorder.events == ["setup", "fit 0 begins", "fit 0 ends", "teardown"]


def test_a_fit_that_fails_is_torn_down():
    recorder = Recorder()
    clf = MLPClassifier((8,)).set_callbacks(recorder)
    with pytest.raises(ValueError, match="NaN"):
        clf.fit(np.full_like(X, np.nan), y)
    assert recorder.events[-1] == "teardown"
    assert not [name for name in vars(clf) if "callback" in name and name not in ("callbacks", "_skl_callbacks")]


def test_warnings_point_at_the_line_of_the_user():
    clf = MLPClassifier((4,), max_iter=2).set_callbacks(Recorder())
    with pytest.warns(UserWarning, match="hasn't converged") as caught:
        clf.fit(X, y)
    assert caught[0].filename == __file__


def test_scores_of_every_epoch_by_scikit_learns_own():
    monitor = callback.ScoringMonitor(scoring="accuracy")
    clf = MLPClassifier((16,), max_iter=6, learning_rate_init=0.02, random_state=0).set_callbacks(monitor).fit(X, y)
    scores = [row["accuracy"] for row in monitor.get_logs().data if row["task_name"] == "epoch"]
    assert len(scores) == 6
    assert scores[-1] == clf.score(X, y)


def test_in_pipelines_and_searches():
    class Everywhere(Recorder):
        max_propagation_depth = None

    recorder = Everywhere()
    make_pipeline(StandardScaler(), MLPClassifier((4,), max_iter=2)).set_callbacks(recorder).fit(X, y)
    assert sum(event.startswith("epoch") for event in recorder.events) == 4
    recorder.events.clear()
    search = GridSearchCV(MLPClassifier((4,), max_iter=2), {"alpha": [0.1, 1.0]}, cv=2)
    search.set_callbacks(recorder).fit(X, y)
    assert sum(event.startswith("epoch") and event.endswith("ends") for event in recorder.events) == 2 * (2 * 2 + 1)


def test_files_hold_no_callbacks_clones_do(tmp_path):
    recorder = Recorder()
    clf = MLPClassifier((4,), max_iter=2, random_state=0).set_callbacks(recorder).fit(X, y)
    clf.save(tmp_path / "net.pel")
    loaded = pel.load(tmp_path / "net.pel")
    assert_array_equal(loaded.predict_proba(X), clf.predict_proba(X))
    assert not hasattr(loaded, "_skl_callbacks")
    assert clone(clf)._skl_callbacks == [recorder]
    clf.set_callbacks()
    assert_array_equal(pickle.loads(pickle.dumps(clf)).predict_proba(X), clf.predict_proba(X))
    with pytest.raises(TypeError, match="FitCallback protocol"):
        clf.set_callbacks(print)


def a_table():
    return pd.DataFrame({"a": X[:, 0], "b": X[:, 1], "side": np.where(X[:, 2] > 0, "left", "right")})


def test_tables_tell_of_networks_and_their_epochs():
    recorder = Recorder()
    clf = TabularMLPClassifier((8,), quality="fast", folds=1, max_iter=3, random_state=0)
    plain = clone(clf).fit(a_table(), y)
    clf.set_callbacks(recorder).fit(a_table(), y)
    assert_array_equal(clf.predict_proba(a_table()), plain.predict_proba(a_table()))
    assert recorder.events[:3] == ["setup", "fit 0 begins", "network 0 begins"]
    assert recorder.events[-2:] == ["fit 0 ends", "teardown"]
    networks = sum(event.startswith("network") and event.endswith("ends") for event in recorder.events)
    assert sum(event.startswith("epoch") and event.endswith("ends") for event in recorder.events) >= networks >= 1
    for one in recorder.estimators:
        shares = one.predict_proba(a_table())
        np.testing.assert_allclose(shares.sum(axis=1), 1.0, rtol=1e-6)
    assert recorder.estimators[-1].classes_.tolist() == [0, 1]


def test_a_hook_ends_the_training_of_a_network_of_a_table():
    recorder = Recorder(stop_after=2)
    reg = TabularMLPRegressor((8,), quality="fast", folds=1, max_iter=50, random_state=0).set_callbacks(recorder)
    reg.fit(a_table(), X[:, 0])
    assert "epoch 1 ends" in recorder.events
    assert "epoch 2 begins" not in recorder.events
    recorder.events.clear()
    reg.partial_fit(a_table(), X[:, 0])
    epoch = ["network 0 begins", "epoch 0 begins", "epoch 0 ends", "network 0 ends"]
    assert recorder.events == ["setup", "partial_fit 0 begins", *epoch, "partial_fit 0 ends", "teardown"]


def test_a_table_that_is_not_in_memory_tells_its_epochs():
    recorder = Recorder()
    data = pel.data.dataset(a_table().assign(answer=y), target="answer")
    TabularMLPClassifier((4,), quality="fast", max_iter=2, random_state=0).set_callbacks(recorder).fit(data)
    assert {"epoch 0 begins", "network 0 ends", "fit 0 ends"} <= set(recorder.events)


def test_a_table_that_fails_is_torn_down():
    recorder = Recorder()
    clf = TabularMLPClassifier((4,), quality="fast").set_callbacks(recorder)
    with pytest.raises(ValueError, match="class"):
        clf.fit(a_table(), np.zeros(len(X), int))
    assert recorder.events[-1] == "teardown"
    assert recorder.events[1:-1] in ([], ["fit 0 begins"])
