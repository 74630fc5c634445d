"""plot_boundary: one picture for any data of two features and anything that predicts."""

import matplotlib
import numpy as np
import pandas as pd
import polars as pl
import pytest

matplotlib.use("Agg")
from matplotlib import pyplot as plt
from matplotlib.contour import ContourSet
from sklearn.cluster import KMeans
from sklearn.linear_model import LinearRegression, LogisticRegression, RidgeClassifier
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

import pellucid as pel
from pellucid import lab, nn
from pellucid.lab.boundary import surface

rng = np.random.default_rng(0)
X = rng.normal(size=(120, 2)) * [1.0, 30.0] + [5.0, -100.0]
Z = (X - X.mean(0)) / X.std(0)
TWO = (Z.sum(axis=1) > 0).astype(int)
THREE = np.where(Z[:, 0] > 0.5, 2, TWO)
NAMES = np.array(["red", "green", "blue"])[THREE]


pytestmark = pytest.mark.usefixtures("closed_pictures")


def model(loss, outputs, y, epochs=60):
    made = pel.Model(nn.mlp((8,), outputs), loss, pel.optim.Adam(0.03))
    made.fit(Z, y, epochs=epochs, verbose=False)
    return made


def legend(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


def values(found, points):
    """The surface at the nearest corners of the grid."""
    rows = [np.abs(found.y - p[1]).argmin() for p in points]
    columns = [np.abs(found.x - p[0]).argmin() for p in points]
    return found.values[rows, columns]


def test_it_is_where_people_look():
    assert pel.plot_boundary is lab.plot_boundary


@pytest.mark.parametrize(
    ("loss", "outputs", "y", "classes", "level"),
    [
        ("binary_cross_entropy", 1, TWO, (0, 1), 0.5),
        ("binary_cross_entropy", 1, TWO.astype(bool), (0, 1), 0.5),
        ("cross_entropy", 2, TWO, (0, 1), 0.5),
        ("cross_entropy", 3, THREE, (0, 1, 2), None),
        ("cross_entropy", 3, np.eye(3)[THREE], (0, 1, 2), None),
        ("hinge", 1, TWO, (-1, 1), 0.0),
        ("focal", 1, TWO, (0, 1), 0.5),
    ],
)
def test_models_of_classes(loss, outputs, y, classes, level):
    made = model(loss, outputs, y)
    found = surface(made, Z, points=80)
    assert (found.classes, found.level) == (classes, level)
    assert found.values.shape == (80, 80)
    near = values(found, Z)
    kinds = near > level if level is not None else near
    truth = THREE if outputs == 3 else TWO
    assert np.mean(kinds == truth) > 0.85  # the grid is near the points, not on them
    ax = pel.plot_boundary(made, Z, y, points=40)
    assert legend(ax) == [str(label) for label in classes]
    assert sum(np.size(line.get_xdata()) for line in ax.lines) == len(Z)


def test_a_straight_boundary_is_where_it_should_be():
    line = LogisticRegression().fit(Z, TWO)
    ax = pel.plot_boundary(line, Z, TWO)
    (curve,) = [
        c for c in ax.collections if len(c.get_paths()) and isinstance(c, ContourSet) and np.size(c.levels) == 1
    ]
    corners = curve.get_paths()[0].vertices
    assert len(corners) > 10
    np.testing.assert_allclose(line.predict_proba(corners)[:, 1], 0.5, atol=0.01)


def test_values():
    y = 3 * Z[:, 0] - Z[:, 1]
    for made in (model("squared_error", 1, y), LinearRegression().fit(Z, y)):
        found = surface(made, Z, points=60)
        assert found.classes == ()
        assert np.abs(values(found, Z) - y).mean() < 0.5
        ax = pel.plot_boundary(made, Z, y, points=30)
        assert len(ax.figure.axes) == 2  # with a scale of colours
        assert len(ax.collections[-1].get_offsets()) == len(Z)


@pytest.mark.parametrize(
    "estimator",
    [
        make_pipeline(StandardScaler(), LogisticRegression()),
        GridSearchCV(make_pipeline(StandardScaler(), LogisticRegression()), {"logisticregression__C": [1.0]}, cv=2),
        make_pipeline(StandardScaler(), pel.MLPClassifier((8,), max_iter=200, learning_rate_init=0.05, tol=1e-2)),
        DecisionTreeClassifier(max_depth=4),
        make_pipeline(StandardScaler(), RidgeClassifier()),  # scores, no probabilities
        make_pipeline(StandardScaler(), LinearSVC()),
    ],
    ids=lambda estimator: type(estimator[-1] if hasattr(estimator, "steps") else estimator).__name__,
)
@pytest.mark.parametrize("y", [TWO, NAMES, np.where(TWO, "yes", "no")], ids=["two", "names", "yes or no"])
def test_estimators(estimator, y):
    fitted = estimator.fit(X, y)
    ax = pel.plot_boundary(fitted, X, y, points=50)
    assert legend(ax) == [str(label) for label in np.unique(y)]
    found = surface(fitted, X, points=150)
    near = values(found, X)
    numbers = (near > found.level).astype(int) if found.level is not None else near.astype(int)
    assert np.mean(np.array(found.classes)[numbers] == y) > np.mean(fitted.predict(X) == y) - 0.06


def test_what_has_only_predict():
    groups = KMeans(3, n_init=1, random_state=0).fit(Z)
    assert surface(groups, Z, points=20).classes == (0, 1, 2)
    pel.plot_boundary(groups, Z, groups.labels_, points=20)


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_frames_keep_their_columns(frame):
    table = frame({"age": X[:, 0], "height": X[:, 1]})
    for estimator in (
        make_pipeline(StandardScaler(), LogisticRegression()),
        pel.TabularMLPClassifier(folds=1, max_iter=2),
    ):
        ax = pel.plot_boundary(estimator.fit(table, NAMES), table, NAMES, points=20)
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("age", "height")


def test_classes_between_which_there_is_no_class():
    """A region of class 0 beside one of class 2: no strip of class 1 between them."""
    y = np.where(Z[:, 0] > 0, 2, 0)
    y[np.argmin(Z[:, 1])] = 1
    tree = DecisionTreeClassifier().fit(Z, y)
    (image,) = pel.plot_boundary(tree, Z, y, points=60).images
    colours = image.get_array()[40]
    assert len(np.unique(colours.reshape(-1, 4), axis=0)) == 2


def test_given_axes_and_no_targets():
    _, (left, right) = plt.subplots(1, 2)
    fitted = LogisticRegression().fit(Z, TWO)
    assert pel.plot_boundary(fitted, Z, ax=left, points=20) is left
    assert left.get_legend() is None
    assert pel.plot_boundary(fitted, Z, TWO, right, points=20) is right


def test_one_class_everywhere():
    pel.plot_boundary(DecisionTreeClassifier().fit(Z, np.zeros(len(Z))), Z, np.zeros(len(Z)), points=10)
    same = model("binary_cross_entropy", 1, TWO, epochs=1)
    same.params = {k: np.zeros_like(v) + (5 if k.endswith("bias") else 0) for k, v in same.params.items()}
    pel.plot_boundary(same, Z, TWO, points=10)


def test_what_cannot_be_drawn_is_named():
    fitted = LogisticRegression().fit(Z, TWO)
    with pytest.raises(ValueError, match=r"two features, got X of shape \(5, 3\)"):
        pel.plot_boundary(fitted, np.ones((5, 3)))
    with pytest.raises(ValueError, match=r"one target for each of the 120 rows of X, got \(3,\)"):
        pel.plot_boundary(fitted, Z, [0, 1, 0])
    with pytest.raises(ValueError, match=r"the classes \(0, 1\), y has \[7\]"):
        pel.plot_boundary(fitted, Z, np.full(len(Z), 7))
    with pytest.raises(ValueError, match="one value for each point, LinearRegression predicts 2"):
        pel.plot_boundary(LinearRegression().fit(Z, Z), Z)
    with pytest.raises(ValueError, match="one class for each point, multilabel gives 2"):
        pel.plot_boundary(model("multilabel", 2, np.column_stack([TWO, 1 - TWO]), epochs=1), Z)
    with pytest.raises(TypeError, match="with predict, got StandardScaler"):
        pel.plot_boundary(StandardScaler().fit(Z), Z)
    with pytest.raises(ValueError, match="two columns of numbers"):
        pel.plot_boundary(fitted, pd.DataFrame({"a": ["x", "y"], "b": [1, 2]}))
    with pytest.raises(pel.errors.ShapeError, match="no parameters yet"):
        pel.plot_boundary(pel.Model(nn.mlp((4,), 1)), Z)
