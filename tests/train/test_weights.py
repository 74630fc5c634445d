"""Sample weights of any size: only their ratios count, for both engines, streams, evaluation and estimators."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.utils.class_weight import compute_sample_weight

from pellucid import MLPClassifier, MLPRegressor, TabularMLPClassifier, TabularMLPRegressor, nn, train
from pellucid.data.weights import class_weights
from pellucid.errors import ShapeError
from tests.both_engines import each_engine

N = 40
RNG = np.random.default_rng(0)
X = RNG.normal(size=(N, 3))
Y = X[:, 0] + 0.1 * RNG.normal(size=N)
LABELS = (Y > 0).astype(int)
UNEQUAL = RNG.uniform(0.5, 2.0, N)
SIZES = [5e-324, 1e-310, 1e-300, 1e-60, 1e-38, 1e38, 1e200, 1e308]

quiet = pytest.mark.filterwarnings("ignore:Stochastic Optimizer")


def model(engine="numpy", loss="squared_error", dtype="float32", **settings):
    return train.Model(nn.mlp((4,), 1), loss, dtype=dtype, engine=engine, threads=1, **settings)


@each_engine
@pytest.mark.parametrize("size", SIZES)
def test_equal_weights_of_any_size_are_weights_of_one(engine, size):
    one, two = model(engine), model(engine)
    settings = {"epochs": 3, "batch_size": 8, "validation": 0.25, "verbose": False}
    history = one.fit(X, Y, sample_weight=np.full(N, size), **settings)
    equal = two.fit(X, Y, sample_weight=np.ones(N), **settings)
    assert history["loss"] == equal["loss"]
    assert history["val_loss"] == equal["val_loss"]
    for name in one.params:
        assert_array_equal(one.params[name], two.params[name])
    assert one.evaluate(X, Y, np.full(N, size)) == two.evaluate(X, Y, np.ones(N))


@each_engine
@pytest.mark.parametrize("size", [1e-300, 1e-60, 1e200])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_ratios_of_weights_count(engine, size, dtype):
    one, two = model(engine, dtype=dtype), model(engine, dtype=dtype)
    one.fit(X, Y, sample_weight=UNEQUAL * size, epochs=3, batch_size=8, verbose=False)
    two.fit(X, Y, sample_weight=UNEQUAL, epochs=3, batch_size=8, verbose=False)
    for name in one.params:
        assert_allclose(one.params[name], two.params[name], rtol=1e-4, atol=1e-6)


@each_engine
@pytest.mark.parametrize("size", [1e-300, 1e-60, 1e200])
def test_batches_from_outside_keep_their_ratios(engine, size):
    """Also between batches: the epoch's loss is the mean over all of them."""

    def fitted(factor):
        batches = [(X[:10], Y[:10], UNEQUAL[:10] * factor), (X[10:], Y[10:], 3 * UNEQUAL[10:] * factor)]
        made = model(engine).initialize(3)
        return made.fit(batches, epochs=2, verbose=False)["loss"]

    assert_allclose(fitted(size), fitted(1.0), rtol=1e-5)


def test_a_batch_from_outside_may_have_no_weight():
    batches = [(X[:10], Y[:10], np.zeros(10)), (X[10:], Y[10:], np.ones(30))]
    alone = [(X[10:], Y[10:], np.ones(30))]
    losses = [model().initialize(3).fit(b, epochs=1, verbose=False)["loss"][0] for b in (batches, alone)]
    assert losses[0] == losses[1]


def test_weights_of_a_batch_that_add_up_to_infinity():
    with pytest.raises(ValueError, match="add up to more than a float64 holds: scale them"):
        model().initialize(3).fit([(X, Y, np.full(N, 1e308))], epochs=1, verbose=False)


@pytest.mark.parametrize("weights", [{0: 1e-300, 1: 1e-300}, {0: 1e300, 1: 1e300}, {0: 1e-200, 1: 3e-200}])
def test_weights_of_classes_of_any_size(weights):
    plain = {label: weight / min(weights.values()) for label, weight in weights.items()}
    one, two = (model(loss="binary_cross_entropy") for _ in range(2))
    settings = {"epochs": 2, "verbose": False, "sample_weight": np.full(N, 1e-200)}
    one.fit(X, LABELS, class_weight=weights, **settings)
    two.fit(X, LABELS, class_weight=plain, **settings)
    for name in one.params:
        assert_allclose(one.params[name], two.params[name], rtol=1e-4, atol=1e-6)


def test_a_class_of_little_weight_counts_little():
    made = model(loss="binary_cross_entropy")
    made.fit(X, LABELS, class_weight={0: 1e-300, 1: 1.0}, epochs=2, validation=(X, LABELS), verbose=False)
    assert np.isfinite(made.history["val_loss"]).all()


@pytest.mark.parametrize("weights", [np.zeros(N), -np.ones(N), np.full(N, np.nan), np.full(N, np.inf), np.ones(N - 1)])
def test_weights_that_are_none(weights):
    held = (X[:5], Y[:5], weights[:5]) if len(weights) == N else (X[:5], Y[:5], np.ones(4))
    for call in (
        lambda: model().fit(X, Y, sample_weight=weights, epochs=1, verbose=False),
        lambda: model().fit(X, Y, validation=held, epochs=1, verbose=False),
        lambda: model().initialize(3).evaluate(X, Y, weights),
    ):
        with pytest.raises(ValueError, match="sample weights"):
            call()


@pytest.mark.parametrize(
    "weights",
    [
        {0: 0.0, 1: 0.0},
        {0: -1.0, 1: 1.0},
        {0: np.nan, 1: 1.0},
        {0: np.inf, 1: 1.0},
        {0: "3", 1: 1.0},
        {0: True, 1: 1.0},
    ],
)
def test_weights_of_classes_that_are_none(weights):
    text = "all sample weights are 0|class_weight of 0 is a number from 0, got"
    with pytest.raises(ValueError, match=text):
        model(loss="bce").fit(X, LABELS, class_weight=weights, epochs=1, verbose=False)
    with pytest.raises(ValueError, match=text):
        MLPClassifier(max_iter=1, class_weight=weights).fit(X, LABELS)


def test_a_penalty_by_rows_needs_weights_that_count_rows():
    for size in (1e-300, 1e300):
        with pytest.raises(ValueError, match="the penalty is divided by sums of sample weights"):
            model(penalty=nn.PerRow(nn.L2(0.1))).fit(X, Y, sample_weight=np.full(N, size), epochs=1, verbose=False)


@quiet
@pytest.mark.parametrize("size", [5e-324, 1e-300, 1e-60, 1e300])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_estimators_without_a_penalty(size, dtype):
    settings = {"hidden_layer_sizes": (4,), "max_iter": 3, "alpha": 0.0, "random_state": 0, "dtype": dtype}
    one, two = (MLPRegressor(**settings).fit(X, Y, weights) for weights in (np.full(N, size), np.ones(N)))
    assert_allclose(one.predict(X), two.predict(X), rtol=1e-5)
    both = (MLPClassifier(early_stopping=True, **settings).fit(X, LABELS, np.full(N, w)) for w in (size, 1.0))
    one, two = both
    assert_allclose(one.predict_proba(X), two.predict_proba(X), rtol=1e-5)


@pytest.mark.parametrize("size", [5e-324, 1e-310, 1e-300])
def test_alpha_over_weights_that_are_no_counts_says_so(size):
    with pytest.raises(
        ValueError, match=r"MLPRegressor: the sample weights add up to .*scale the weights, w / w\.mean"
    ):
        MLPRegressor(max_iter=1).fit(X, Y, np.full(N, size))


@pytest.mark.parametrize("size", [5e-324, 1e-300, 1e300])
def test_tables_with_weights_of_any_size(size):
    frame = pd.DataFrame(X, columns=list("abc"))
    for make, target in ((TabularMLPRegressor, Y), (TabularMLPClassifier, LABELS)):
        one, two = (
            make((4,), folds=1, max_iter=3, random_state=0).fit(frame, target, np.full(N, w)).predict(frame)
            for w in (size, 0.3)
        )
        if make is TabularMLPRegressor:
            assert_allclose(one, two, rtol=1e-3, atol=1e-3)
        else:
            assert_array_equal(one, two)


def test_weights_of_classes():
    y = np.array(["cat", "dog", "cat", "yak"])
    assert_array_equal(class_weights({"cat": 2.0, "gnu": 5.0}, y, others=1.0), [2, 1, 2, 1])
    assert_array_equal(class_weights({"cat": 2.0}, y, np.arange(4.0), others=1.0), [0, 1, 4, 3])
    assert_array_equal(class_weights("balanced", y), compute_sample_weight("balanced", y))
    two = np.array([[0, 1], [1, 1], [1, 0], [1, 1]])
    assert_array_equal(class_weights("balanced", two, others=1.0), compute_sample_weight("balanced", two))
    with pytest.raises(ValueError, match=r"no weight for \['dog', 'yak'\]"):
        class_weights({"cat": 2.0}, y)
    with pytest.raises(ShapeError, match="one label for each row"):
        class_weights("balanced", two)
