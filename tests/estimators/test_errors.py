"""What cannot work is refused with what was expected, what came and what to do; nothing that was learned is lost."""

from __future__ import annotations

import re
import warnings
from typing import Any, cast

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse

from pellucid import optim
from pellucid.estimators import DataWarning, MLPClassifier, MLPRegressor, NetworkSettings, TrainingSettings
from pellucid.estimators.parameters import ANYTHING
from tests.both_engines import each_engine
from tests.estimators.marks import few_epochs

pytestmark = few_epochs
rng = np.random.default_rng(0)
X = rng.normal(size=(40, 3))
y = np.arange(40) % 3
numbers = X[:, 0]


def classifier(**more: Any) -> MLPClassifier:
    return MLPClassifier(**{"hidden_layer_sizes": (4,), "max_iter": 2, "random_state": 0, "engine": "numpy", **more})


def regressor(**more: Any) -> MLPRegressor:
    return MLPRegressor(**{"hidden_layer_sizes": (4,), "max_iter": 2, "random_state": 0, "engine": "numpy", **more})


# parameters

WRONG: dict[str, list[Any]] = {
    "solver": ["newton", None],
    "alpha": [-1, "small", True],
    "batch_size": [0, 2.5, "all"],
    "learning_rate": ["fast"],
    "learning_rate_init": [0, -0.1, "x"],
    "power_t": [-1],
    "max_iter": [0, 1.5, None],
    "shuffle": ["yes", 1],
    "tol": [-1e-3],
    "verbose": ["loud", None],
    "warm_start": [1],
    "momentum": [1.1, -0.1],
    "nesterovs_momentum": ["no"],
    "early_stopping": ["yes"],
    "validation_fraction": [1.0, -0.1],
    "beta_1": [1.0],
    "beta_2": [1.0, -1],
    "epsilon": [0],
    "n_iter_no_change": [0, -1, 2.5],
    "max_fun": [0],
    "label_smoothing": [1.0, -0.1],
    "class_weight": ["even", 3],
    "dropout": [1.0, -0.1, "x", [0.5, 2.0]],
    "callbacks": [3, [3], print, None, [TrainingSettings]],
    "max_time": [0, -1],
    "network": [3, TrainingSettings()],
    "training": [3, NetworkSettings()],
    "compat": ["torch", True],
    "dtype": ["float16", int, "x"],
    "engine": ["gpu", None],
    "threads": [0, 1.5],
    "precision": ["float16", None],
    "penalty": [0.1],
    "optimizer": [optim.Adam],
}


def checked(kind: Any) -> set[str]:
    """The parameters that have a condition of their own."""
    return {name for name, one in kind.declared.items() if one.condition is not ANYTHING}


def test_every_condition_has_a_case() -> None:
    assert checked(MLPClassifier) | checked(MLPRegressor) == WRONG.keys()


@pytest.mark.parametrize(("name", "value"), [(name, value) for name, values in WRONG.items() for value in values])
def test_wrong_parameters_are_named(name: str, value: Any) -> None:
    with pytest.raises(ValueError, match=rf"^MLPClassifier: {name} is .*, got {re.escape(repr(value))}$"):
        classifier(**{name: value}).fit(X, y)


WRONG_PARTS: list[tuple[dict[str, Any], str]] = [
    ({"hidden_layer_sizes": (4, 0)}, r"hidden_layer_sizes must be > 0, got \[4, 0\]"),
    ({"hidden_layer_sizes": (2.5,)}, "whole numbers, one for each hidden layer"),
    ({"hidden_layer_sizes": ((3,),)}, "whole numbers"),
    ({"activation": "nope"}, "no activation called 'nope'. There are"),
    ({"activation": ["relu", "tanh"]}, "activation has 2 entries for 1 hidden layers"),
    ({"dropout": [0.1, 0.1]}, "dropout has 2 entries for 1 hidden layers"),
    ({"norm": "nope"}, "no normalisation called 'nope'. There are batch"),
    ({"penalty": 0.1}, r"penalty is one of pellucid.nn, such as .*, got 0.1"),
    ({"optimizer": "nope"}, "no rule called 'nope'. There are"),
    ({"optimizer": optim.Adam}, "optimizer is a rule of pellucid.optim"),
    ({"monitor": "nope"}, "monitor is 'loss', a metric .*, got 'nope'"),
    ({"loss": "nope"}, "no loss called 'nope'. There are"),
    ({"class_weight": {7: 2.0}}, r"class_weight names \[7\], but the classes are \[0, 1, 2\]"),
    ({"random_state": "x"}, "'x' cannot be used to seed"),
    ({"network": NetworkSettings(init="nope")}, "no initialiser called 'nope'"),
    ({"network": NetworkSettings(norm_place="x")}, "norm_place is 'before' or 'after'"),
    ({"network": NetworkSettings(scaling="x")}, "scaling is 'standard' or 'ntk'"),
    ({"network": NetworkSettings(input_dropout=2.0)}, "network.input_dropout is a number in"),
    ({"network": NetworkSettings(fixed_scale=3)}, r"network.fixed_scale is nn.FixedScale\(center, scale\), or None"),
    ({"network": NetworkSettings(input_scale="x")}, "network.input_scale is True or False, got 'x'"),
    ({"network": NetworkSettings(embeddings=(2.5,))}, "network.embeddings is a list of numbers of categories"),
    ({"network": NetworkSettings(members=0)}, "network.members is a whole number from 1"),
    ({"network": NetworkSettings(embedding_dim=0)}, "network.embedding_dim is a whole number from 1"),
    (
        {"training": TrainingSettings(scheduled=3)},
        "training.scheduled is a dict of names and schedules, or None, got 3",
    ),
    ({"training": TrainingSettings(schedule="nope")}, "no schedule called 'nope'"),
    ({"training": TrainingSettings(clip_norm=-1)}, "ClipNorm: limit is a number above 0, got -1"),
    ({"training": TrainingSettings(clip_value=0)}, "ClipValue: limit is a number above 0"),
    ({"training": TrainingSettings(ema=1.0)}, "EMA: decay is a number in"),
    ({"training": TrainingSettings(weight_decay=-1)}, "WeightDecay: rate is a number from 0"),
    ({"training": TrainingSettings(keep="best")}, "training.keep is 'first' or 'last', got 'best'"),
    (
        {"training": TrainingSettings(groups=cast(Any, [3]))},
        r"training.groups is a list of optim.Group\(...\), got \[3\]",
    ),
    ({"training": TrainingSettings(calibrate="x")}, "training.calibrate is True or False"),
    ({"training": TrainingSettings(scheduled=cast(Any, {"a": 0.1}))}, "there is no number called 'a'"),
    ({"training": TrainingSettings(resume="/no/such.ckpt")}, "/no/such.ckpt does not exist"),
]


def test_every_inner_rule_has_a_case() -> None:
    said = " ".join(text for _, text in WRONG_PARTS)
    for group, kind in (("network", NetworkSettings), ("training", TrainingSettings)):
        assert [name for name in checked(kind) if f"{group}.{name}" not in said] == []


@pytest.mark.parametrize(("parameters", "text"), WRONG_PARTS)
def test_wrong_parts_are_named(parameters: dict[str, Any], text: str) -> None:
    with pytest.raises(ValueError, match=text):
        classifier(**parameters).fit(X, y)


# inputs


@pytest.mark.parametrize(("value", "word"), [(np.nan, "NaN"), (np.inf, "infinity"), (-np.inf, "infinity")])
@pytest.mark.parametrize("kind", [np.array, sparse.csr_array, sparse.csc_matrix, pd.DataFrame])
def test_numbers_that_are_not_finite_are_located(value: float, word: str, kind: Any) -> None:
    wrong = X.copy()
    wrong[7, 2] = wrong[9, 0] = value
    given = pd.DataFrame(wrong, columns=["a", "b", "c"]) if kind is pd.DataFrame else kind(wrong)
    name = r" \('c'\)" if kind is pd.DataFrame else ""
    text = rf"Input X contains {word}: row 7, column 2{name}; 2 such numbers in all. MLPClassifier does not accept"
    with pytest.raises(ValueError, match=text):
        classifier().fit(given, y)
    fitted = classifier().fit(pd.DataFrame(X, columns=["a", "b", "c"]) if kind is pd.DataFrame else X, y)
    for method in (fitted.predict, fitted.predict_proba, fitted.transform, fitted.activations):
        with pytest.raises(ValueError, match=rf"Input X contains {word}: row 7, column 2"):
            method(given)


def test_targets_that_are_not_finite_are_located() -> None:
    for value in (np.nan, np.inf):
        wrong = numbers.copy()
        wrong[[5, 8]] = value
        with pytest.raises(ValueError, match=r"Input y contains .* First in row 5, 2 rows in all"):
            regressor().fit(X, wrong)
    with pytest.raises(ValueError, match="Input y contains NaN"):
        classifier().fit(X, np.where(y == 0, np.nan, y))


@pytest.mark.parametrize(
    ("X", "y", "text"),
    [
        (X[:, 0], y, "Expected 2D array, got 1D array"),
        (X, y[:-1], "inconsistent numbers of samples"),
        (X[:0], y[:0], "0 sample"),
        (X[:, :0], y, "0 feature"),
        (X.astype(complex), y, "Complex data not supported"),
        ([["a", "b"]] * 40, y, "could not convert string to float"),
        (X, numbers, "Unknown label type"),
        (X, None, "requires y to be passed"),
    ],
)
def test_what_scikit_learn_checks(X: Any, y: Any, text: str) -> None:
    with pytest.raises(ValueError, match=text):
        classifier().fit(X, y)


def test_other_columns() -> None:
    table = pd.DataFrame(X, columns=["a", "b", "c"])
    for estimator, target in ((classifier(), y), (regressor(), numbers)):
        with pytest.raises(ValueError, match=r"2 features, but .* is expecting 3 features"):
            estimator.fit(X, target).predict(X[:, :2])
        estimator.fit(table, target)
        with pytest.raises(ValueError, match=r"(?s)unseen at fit time:\n- z"):
            estimator.predict(table.rename(columns={"c": "z"}))
        with pytest.raises(ValueError, match="must be in the same order"):
            estimator.predict(table[["c", "b", "a"]])
        with pytest.raises(ValueError, match=r"(?s)X_val, y_val: The feature names .* yet now missing:\n- c"):
            estimator.fit(table, target, X_val=table[["a", "b"]], y_val=target)
        with pytest.raises(ValueError, match="X_val, y_val: X has 2 features, but"):
            estimator.fit(X, target, X_val=X[:, :2], y_val=target)
        with pytest.raises(ValueError, match="expecting 3 features"):
            estimator.fit(X, target).partial_fit(X[:, :2], target)


def test_validation_data() -> None:
    with pytest.raises(ValueError, match="X_val and y_val together, got X_val alone"):
        classifier().fit(X, y, X_val=X)
    with pytest.raises(ValueError, match="X_val and y_val together, got y_val alone"):
        classifier().fit(X, y, y_val=y)
    with pytest.raises(ValueError, match="or val_rows: got both"):
        classifier().fit(X, y, X_val=X, y_val=y, val_rows=[1])
    with pytest.raises(ValueError, match="sample_weight_val belongs to X_val and y_val"):
        classifier().fit(X, y, sample_weight_val=np.ones(40))
    for wrong in ([40], [], [1.5], [[1]], np.ones(3, bool), ["a"]):
        with pytest.raises(ValueError, match="val_rows are numbers of rows of X, 0 to 39, or a mask of 40"):
            classifier().fit(X, y, val_rows=wrong)
    with pytest.raises(ValueError, match="val_rows leaves 0 rows to train on and 40 to check"):
        classifier().fit(X, y, val_rows=range(40))
    with pytest.raises(ValueError, match="`y` has classes not in"):
        classifier().fit(X, y, X_val=X, y_val=y + 1)
    with pytest.raises(ValueError, match="y has 2 columns, but the network was made for 1"):
        regressor().fit(X, numbers, X_val=X, y_val=X[:, :2])
    with pytest.raises(ValueError, match="X_val, y_val: Input X contains NaN: row 0, column 0"):
        regressor().fit(X, numbers, X_val=np.full((3, 3), np.nan), y_val=[1, 2, 3])


def test_too_few_rows_for_the_split() -> None:
    with pytest.raises(ValueError, match=r"validation set is too small.*0.1 of 8 rows is 1. Or give rows of your own"):
        regressor(early_stopping=True).fit(X[:8], numbers[:8])
    with pytest.raises(ValueError, match=r"least populated class(es in y have| in y has) only 1 member"):
        classifier(early_stopping=True).fit(X, np.arange(40) == 0)


def test_rare_classes_do_not_prevent_early_stopping() -> None:
    rare = np.where(np.arange(40) == 0, 2, np.arange(40) % 2)
    assert len(classifier(early_stopping=True).fit(X, rare).validation_scores_) == 2


@pytest.mark.parametrize(
    ("weights", "text"),
    [
        (-np.ones(40), "Negative values in data passed to `sample_weight`"),
        (np.ones(39), "sample_weight.shape == .39,., expected .40,.!"),
        (np.zeros(40), "must contain at least one non-zero number|all sample weights are 0"),
        (np.full(40, np.nan), "sample_weight contains NaN"),
        (np.ones((40, 2)), "Sample weights must be 1D"),
    ],
)
def test_weights(weights: Any, text: str) -> None:
    with pytest.raises(ValueError, match=text):
        classifier().fit(X, y, weights)
    with pytest.raises(ValueError, match="all sample weights are 0"):
        classifier(class_weight={0: 0.0, 1: 0.0, 2: 0.0}).fit(X, y)


def test_one_class_and_a_constant_target_are_warned_of() -> None:
    with pytest.warns(DataWarning, match="y has one class only, .*'a'.*: every prediction will be that class"):
        clf = classifier().fit(X, np.array(["a"] * 40))
    assert set(clf.predict(X)) == {"a"}
    assert_array_equal(clf.predict_proba(X), np.ones((40, 1)))
    with pytest.warns(DataWarning, match="y is constant, 3.5 in all 40 rows"):
        regressor().fit(X, np.full(40, 3.5))
    with warnings.catch_warnings():
        warnings.simplefilter("error", DataWarning)
        classifier().fit(X, y)
        regressor().fit(X, numbers)


def test_targets_that_do_not_suit_the_loss() -> None:
    with pytest.raises(ValueError, match=r"poisson.*count from 0"):
        regressor(loss="poisson").fit(X, -np.abs(numbers))
    with pytest.raises(ValueError, match="the loss hinge tells two classes apart, but y has 3"):
        classifier(loss="hinge").fit(X, y)
    for loss in ("focal", "brier"):
        with pytest.raises(ValueError, match=f"the loss {loss} is for one class in each row, but y has 2 labels"):
            classifier(loss=loss).fit(X, np.column_stack([y > 0, y > 1]).astype(int))
    with pytest.raises(ValueError, match=r"gamma.*above 0"):
        regressor(loss="gamma").fit(X, y)


def test_partial_fit() -> None:
    with pytest.raises(ValueError, match="classes must be passed on the first call"):
        classifier().partial_fit(X, y)
    clf = classifier().partial_fit(X, y, classes=[0, 1, 2])
    with pytest.raises(ValueError, match=r"`y` has classes not in `self.classes_`.*\[0 1 2\].*3"):
        clf.partial_fit(X, y + 1)
    with pytest.raises(ValueError, match="not the same as on last call"):
        clf.partial_fit(X, y, classes=[0, 1])
    with pytest.raises(ValueError, match="does not support early_stopping=True"):
        classifier(early_stopping=True).partial_fit(X, y, classes=[0, 1, 2])
    with pytest.raises(ValueError, match="class_weight='balanced' needs all rows"):
        classifier(class_weight="balanced").partial_fit(X, y, classes=[0, 1, 2])
    with pytest.raises(ValueError, match="y has 2 columns, but the network was made for 1"):
        regressor().partial_fit(X, numbers).partial_fit(X, X[:, :2])
    with pytest.raises(AttributeError, match="has no attribute 'partial_fit'"):
        classifier(solver="lbfgs").partial_fit(X, y)


def test_warm_starts() -> None:
    clf = classifier(warm_start=True).fit(X, y)
    with pytest.raises(ValueError, match="warm_start can only be used where `y` has the same classes"):
        clf.fit(X, y % 2)
    with pytest.raises(ValueError, match="2 features"):
        clf.fit(X[:, :2], y)


def test_before_fit() -> None:
    from sklearn.exceptions import NotFittedError

    for estimator in (classifier(), regressor()):
        for method in ("predict", "transform", "activations", "logits"):
            with pytest.raises(NotFittedError, match="is not fitted yet"):
                getattr(estimator, method)(X)
        for name in ("coefs_", "intercepts_", "loss_curve_", "n_iter_", "t_", "best_loss_"):
            assert not hasattr(estimator, name)


def test_weights_set_by_hand() -> None:
    clf = classifier().fit(X, y)
    with pytest.raises(ValueError, match="coefs_ has one array for each of the 2 layers, got 1"):
        clf.coefs_ = clf.coefs_[:1]
    with pytest.raises(ValueError, match=r"intercepts_: hidden1.bias has shape \(4,\), got an array of shape \(3,\)"):
        clf.intercepts_ = [np.zeros(3), np.zeros(3)]


def test_draws_need_dropout() -> None:
    with pytest.raises(ValueError, match=r"has none: set dropout=0.1"):
        classifier().fit(X, y).predict_proba(X, return_std=True)
    with pytest.raises(ValueError, match="n_draws is a whole number from 2, got 1"):
        regressor(dropout=0.1).fit(X, numbers).predict(X, return_std=True, n_draws=1)
    with pytest.raises(ValueError, match="coverage is a number between 0 and 1, got 90"):
        regressor().fit(X, numbers).predict_interval(X, 90)


def test_divergence_says_where_and_what_to_do() -> None:
    with pytest.raises(ValueError, match=r"Solver produced non-finite parameter weights.*In detail: "):
        regressor(solver="sgd", learning_rate_init=1e6, max_iter=50).fit(X, 1e6 * numbers)


def test_hints_that_have_no_effect_are_warned_of() -> None:
    with pytest.warns(UserWarning, match="learning_rate='adaptive' is for solver='sgd'"):
        classifier(learning_rate="adaptive").fit(X, y)
    lbfgs = classifier(solver="lbfgs", early_stopping=True, max_time=1.0, training=TrainingSettings(ema=0.9))
    with pytest.warns(UserWarning, match="early_stopping, max_time, training.ema: no effect with solver='lbfgs'"):
        lbfgs.fit(X, y)
    with pytest.warns(UserWarning, match="Got `batch_size` less than 1 or larger than sample size"):
        classifier(batch_size=100).fit(X, y)


# nothing is lost


def fails(estimator: Any, how: str) -> None:
    target = y if isinstance(estimator, MLPClassifier) else numbers
    if how == "parameters":
        estimator.set_params(alpha=-1.0).fit(X, target)
    elif how == "columns":
        estimator.fit(np.full((40, 5), np.nan), target)
    elif how == "target":
        estimator.fit(X[:, :2], np.full(40, np.nan))
    elif how == "labels":
        estimator.fit(X[:, :2], target, X_val=X[:, :2], y_val=["?"] * 40)
    elif how == "weights":
        estimator.fit(X, target, np.zeros(40))
    elif how == "callback":

        def broken(run: Any) -> None:
            raise RuntimeError("broken")

        estimator.set_params(callbacks=[broken], warm_start=True).fit(X, target)
    elif how == "divergence":
        estimator.set_params(optimizer=optim.SGD(1e300), max_iter=9).fit(1e100 * X, target)
    elif how == "partial":
        estimator.partial_fit(X[:, :2], target)


@pytest.mark.parametrize(
    "how", ["parameters", "columns", "target", "labels", "weights", "callback", "divergence", "partial"]
)
@each_engine
@pytest.mark.parametrize("make", [classifier, regressor])
def test_a_failed_fit_loses_nothing(make: Any, engine: str, how: str) -> None:
    target = y if make is classifier else numbers
    estimator = make(engine=engine, early_stopping=how != "partial").fit(X, target)
    before, learned = estimator.predict(X), {k: v for k, v in vars(estimator).items() if k.endswith("_")}
    curve, weights = list(estimator.loss_curve_), [w.copy() for w in estimator.coefs_]
    with pytest.raises((ValueError, RuntimeError)):
        fails(estimator, how)
    assert {k: v for k, v in vars(estimator).items() if k.endswith("_")} == learned
    assert estimator.loss_curve_ == curve
    for now, then in zip(estimator.coefs_, weights, strict=True):
        assert_array_equal(now, then)
    assert_array_equal(estimator.predict(X), before)


def test_a_failed_first_fit_leaves_nothing() -> None:
    for make in (classifier, regressor):
        estimator = make()
        parameters = dict(vars(estimator))
        for how in ("columns", "target", "weights", "divergence"):
            with pytest.raises(ValueError, match=r"NaN|weight"):
                fails(estimator, how)
            estimator.set_params(optimizer=None, max_iter=2)
            assert vars(estimator) == parameters
    clf = classifier()
    with pytest.raises(ValueError, match="not in"):
        clf.partial_fit(X, y, classes=[0, 1])
    assert not hasattr(clf, "classes_")


@pytest.mark.parametrize(
    ("estimator", "instead"), [(MLPClassifier(), "TabularMLPClassifier"), (MLPRegressor(), "TabularMLPRegressor")]
)
@pytest.mark.parametrize("dtype", [object, "string", "category"])
def test_texts_point_to_the_estimators_of_tables(estimator: Any, instead: str, dtype: Any) -> None:
    frame = pd.DataFrame(
        {"size": np.arange(6.0), "city": pd.Series(["Rome", "Oslo"] * 3, dtype=dtype), "b": list("uvwxyz")}
    )
    with pytest.raises(
        ValueError, match=rf"column 1 \('city'\), .*not texts .*'Rome'\)\. Use {instead}, which takes tables"
    ):
        estimator.fit(frame, [0, 1] * 3)
