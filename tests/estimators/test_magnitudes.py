"""Targets and columns of any size: the units they come in change nothing, or an error says what to do."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

from pellucid import MLPRegressor, TabularMLPRegressor
from pellucid.estimators import TablePreprocessor

N = 80
RNG = np.random.default_rng(0)
X = pd.DataFrame(RNG.normal(size=(N, 2)), columns=["a", "b"])
Y = (X["a"] * X["b"]).to_numpy()


def fitted(y, table=X, **settings):
    return TabularMLPRegressor((8,), folds=1, max_iter=8, random_state=0, **settings).fit(table, y)


@pytest.mark.parametrize("size", [1e-300, 1e-200, 1e-160, 1e160, 1e200, 1e290])
@pytest.mark.parametrize("settings", [{}, {"monitor": "rmse"}, {"monitor": "mae"}, {"loss": "absolute_error"}])
def test_the_units_of_the_target_do_not_matter(size, settings):
    factor = 2.0 ** np.round(np.log2(size))  # a power of two: nothing is rounded
    usual, far = fitted(Y, **settings), fitted(Y * factor, **settings)
    assert np.isfinite(far.predict(X)).all()
    assert_allclose(far.predict(X), usual.predict(X) * factor, rtol=1e-6)
    assert far.score(X, Y * factor) == pytest.approx(usual.score(X, Y), rel=1e-6)


@pytest.mark.parametrize("size", [1e-200, 1e200])
def test_several_outputs_of_several_sizes(size):
    both = np.column_stack([Y, (Y**2) * size])
    predicted = fitted(both).predict(X)
    assert np.isfinite(predicted).all()
    assert np.abs(predicted[:, 1]).max() < 100 * size


@pytest.mark.parametrize("size", [1e-200, 1e200])
def test_weights_and_intervals_in_units_of_any_size(size):
    weights = RNG.uniform(0.1, 1.0, N)
    reg = TabularMLPRegressor((8,), folds=1, max_iter=5, random_state=0).fit(X, Y * size, weights)
    low, high = reg.predict_interval(X)
    assert np.isfinite(low).all()
    assert np.isfinite(high).all()
    assert (high > low).all()


def test_small_differences_on_a_large_offset_are_learned():
    usual, far = fitted(Y * 1000), fitted(1e15 + Y * 1000)
    assert far.score(X, 1e15 + Y * 1000) == pytest.approx(usual.score(X, Y * 1000), abs=0.02)


def test_what_leaves_no_room_for_predictions_is_refused():
    with pytest.raises(ValueError, match=r"y holds .*e\+30\d, too near the largest float64.*divide it"):
        fitted(Y * 1e307)


@pytest.mark.parametrize("size", [1e200, 1e307])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_an_mlp_says_why_it_cannot_learn_such_numbers(size, dtype):
    with pytest.raises(
        ValueError, match=r"too large for float32: standardise|diverged at step 0: the loss is inf.*square"
    ):
        MLPRegressor(max_iter=3, dtype=dtype).fit(X, Y * size)


@pytest.mark.parametrize("size", [1e-200, 1e200])
def test_columns_of_any_size_are_scaled_or_named(size):
    usual = TablePreprocessor("robust").fit_transform(X)
    assert_allclose(TablePreprocessor("robust").fit_transform(X * size), usual, rtol=1e-12)
    far = X.assign(b=X["b"] * size)
    for scaling in ("standard", "pca", "whiten"):
        with pytest.raises(ValueError, match=f"column 'b' spans .*scaling='{scaling}' cannot reckon with"):
            TablePreprocessor(scaling).fit(far)
        with pytest.raises(ValueError, match="column 'b' spans"):
            fitted(Y, far, scaling=scaling)


def test_columns_that_float32_cannot_hold_are_named():
    far = X.assign(b=X["b"] * 1e200)
    for scaling in (None, "centre"):
        with pytest.raises(
            ValueError, match=r"column 'b' holds .* in row 0, too large for float32: use scaling='robust'"
        ):
            fitted(Y, far, scaling=scaling)
        usual = fitted(Y, X, scaling=scaling)
        with pytest.raises(ValueError, match=r"column 'b' holds .* in row 0, too large for float32"):
            usual.predict(far)
    assert np.isfinite(fitted(Y).predict(far)).all()  # clipped
