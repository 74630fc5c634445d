"""What is handed in as X: numbers of any kind are taken; dates, texts, dicts and what is too large are named."""

import datetime

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from pellucid import MLPClassifier, MLPRegressor, TabularMLPRegressor, nn, train
from pellucid.data import inputs
from pellucid.errors import ShapeError

ROWS = 24
RNG = np.random.default_rng(0)
NUMBERS = RNG.normal(size=ROWS)
Y = RNG.normal(size=ROWS)
WHEN = pd.date_range("2024-01-01", periods=ROWS, freq="h")
DAYS = [w.date() for w in WHEN]


def fitted(columns=2):
    model = train.Model(nn.mlp((3,), 1), "squared_error")
    model.fit(RNG.normal(size=(ROWS, columns)), Y, epochs=1, verbose=False)
    return model


def objects(values):
    array = np.empty((ROWS, 2), object)
    array[:, 0], array[:, 1] = NUMBERS, values
    return array


STRANGE = {
    "datetime": ("dates", WHEN),
    "datetime with a zone": ("dates", WHEN.tz_localize("Europe/Vienna")),
    "dates as objects": ("dates", pd.Series(DAYS, dtype=object)),
    "timestamps as objects": ("dates", pd.Series(list(WHEN), dtype=object)),
    "dates among missing ones": ("dates", pd.Series([None, pd.NaT, *DAYS[2:]], dtype=object)),
    "NumPy's dates as objects": ("dates", pd.Series([w.to_datetime64() for w in WHEN], dtype=object)),
    "periods": ("periods", WHEN.to_period("M")),
    "times of day": ("times of day", pd.Series([datetime.time(3)] * ROWS, dtype=object)),
    "durations": ("durations", WHEN - WHEN[0]),
    "durations as objects": ("durations", pd.Series([datetime.timedelta(1)] * ROWS, dtype=object)),
    "texts": ("texts", ["a", "b"] * (ROWS // 2)),
    "digits as texts": ("texts", ["3", "4"] * (ROWS // 2)),
    "categories": ("texts", pd.Categorical(["a", "b"] * (ROWS // 2))),
    "complex": ("complex numbers", NUMBERS + 1j),
    "complex as objects": ("complex numbers", pd.Series([1j] * ROWS, dtype=object)),
}


@pytest.mark.parametrize("case", STRANGE)
def test_a_column_that_holds_no_numbers_is_named(case):
    what, values = STRANGE[case]
    frame = pd.DataFrame({"size": NUMBERS, "when": values})
    text = rf"column 1 \('when'\), has dtype .*: a network takes numbers, not {what}.*\. \w+"
    model = train.Model(nn.mlp((3,), 1), "squared_error")
    used = fitted()
    for call in (
        lambda: model.fit(frame, Y, epochs=1, verbose=False),
        lambda: model.fit(frame, Y, epochs=1, validation=0.25, verbose=False),
        lambda: model.fit([(frame, Y)], epochs=1, verbose=False),
        lambda: used.predict(frame),
        lambda: used.scores(frame),
        lambda: used.evaluate(frame, Y),
        lambda: used.fit(np.column_stack([NUMBERS, NUMBERS]), Y, validation=(frame, Y), epochs=1, verbose=False),
        lambda: MLPRegressor(max_iter=1).fit(frame, Y),
        lambda: MLPClassifier(max_iter=1).fit(frame, Y > 0),
    ):
        with pytest.raises(ValueError, match=text):
            call()
    assert not model.params  # nothing is left behind


@pytest.mark.filterwarnings("ignore:X does not have valid feature names")
@pytest.mark.filterwarnings("ignore:Stochastic Optimizer")
def test_fitted_estimators_refuse_them_too():
    reg = MLPRegressor(hidden_layer_sizes=(3,), max_iter=1).fit(np.column_stack([NUMBERS, NUMBERS]), Y)
    for what, values in STRANGE.values():
        with pytest.raises(ValueError, match=rf"MLPRegressor: X, column 1 .*not {what}"):
            reg.predict(pd.DataFrame({"size": NUMBERS, "when": values}))


@pytest.mark.parametrize(
    ("X", "where"),
    [
        (np.array(WHEN)[:, None], "column 0, has dtype datetime64"),
        (np.array(WHEN - WHEN[0])[:, None], "column 0, has dtype timedelta64"),
        (np.full((ROWS, 2), "3"), "column 0, has dtype <U1"),
        (np.full((ROWS, 2), 1j), "column 0, has dtype complex128"),
        (objects(DAYS), "column 1, has dtype object"),
        (objects("3"), "column 1, has dtype object"),
        ([[1.0, day] for day in DAYS], "column 1, has dtype object"),
        ([[1.0, "3"]] * ROWS, "column 1, has dtype object"),
        (pl.DataFrame({"size": NUMBERS, "when": list(WHEN)}), r"column 1 \('when'\), has dtype datetime64"),
        (pl.DataFrame({"when": list(WHEN)}), r"column 0 \('when'\), has dtype datetime64"),
        (pl.DataFrame({"size": NUMBERS, "when": DAYS}), r"column 1 \('when'\), has dtype datetime64"),
        (pl.DataFrame({"size": NUMBERS, "kind": ["a"] * ROWS}), r"column 1 \('kind'\), has dtype .*, not texts"),
    ],
)
def test_arrays_lists_and_other_frames(X, where):
    for call in (
        lambda: train.Model(nn.mlp((3,), 1)).fit(X, Y, epochs=1, verbose=False),
        lambda: MLPRegressor(max_iter=1).fit(X, Y),
    ):
        with pytest.raises(ValueError, match=where):
            call()


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame({"a": NUMBERS, "b": pd.array([1, 2] * (ROWS // 2), dtype="Int64")}),
        pd.DataFrame({"a": NUMBERS, "b": pd.array([True, False] * (ROWS // 2), dtype="boolean")}),
        pd.DataFrame({"a": NUMBERS, "b": pd.Series([1, 2.5] * (ROWS // 2), dtype=object)}),
        pd.DataFrame({"a": NUMBERS, "b": pd.Categorical([1, 2] * (ROWS // 2))}),
        pd.DataFrame({"a": NUMBERS, "b": pd.arrays.SparseArray([0.0, 2.0] * (ROWS // 2))}),
        pd.DataFrame(np.column_stack([NUMBERS, NUMBERS]), columns=["a", "a"]),
        pd.DataFrame(np.column_stack([NUMBERS, NUMBERS])),
        pl.DataFrame({"a": NUMBERS, "b": [1, 2] * (ROWS // 2)}),
        pl.DataFrame({"a": NUMBERS, "b": [True, False] * (ROWS // 2)}),
    ],
)
def test_numbers_of_all_kinds_are_taken(frame):
    plain = frame.to_numpy().astype(float)
    one, two = (train.Model(nn.mlp((3,), 1), dtype="float64") for _ in range(2))
    one.fit(frame, Y, epochs=2, validation=0.25, verbose=False)
    two.fit(plain, Y, epochs=2, validation=0.25, verbose=False)
    assert_array_equal(one.predict(frame), two.predict(plain))


def test_missing_values_are_named_by_row_and_column():
    frame = pd.DataFrame({"a": NUMBERS, "b": pd.array([1] * (ROWS - 1) + [None], dtype="Int64")})
    other = pl.DataFrame({"a": NUMBERS, "b": [1] * (ROWS - 1) + [None]})
    for X in (frame, other):
        with pytest.raises(ValueError, match=rf"NaN or infinity, first at row {ROWS - 1}, column 1 \('b'\)"):
            train.Model(nn.mlp((3,), 1)).fit(X, Y, epochs=1, verbose=False)
    many = np.zeros((9000, 2))
    many[8500, 1] = np.nan
    with pytest.raises(ValueError, match="first at row 8500, column 1"):  # in the second part
        fitted().predict(many)


def test_what_float32_cannot_hold_is_named():
    X = np.column_stack([NUMBERS, NUMBERS * 1e200])
    frame = pd.DataFrame(X, columns=["a", "far"])
    used, reg = fitted(), MLPRegressor(hidden_layer_sizes=(3,), max_iter=300, tol=1.0, dtype="float32")
    reg.fit(np.column_stack([NUMBERS, NUMBERS]), Y)
    for call in (
        lambda: used.fit(X, Y, epochs=1, verbose=False),
        lambda: used.predict(X),
        lambda: used.evaluate(X, Y),
        lambda: MLPRegressor(max_iter=1, dtype="float32").fit(X, Y),
        lambda: reg.predict(X),
        lambda: reg.transform(X),
        lambda: reg.activations(X),
    ):
        with pytest.raises(ValueError, match=r"X holds .*e\+199 in row 0, column 1.*, too large for float32: scale it"):
            call()
    with pytest.raises(ValueError, match=r"row 0, column 1 \('far'\), too large for float32"):
        used.predict(frame)
    with pytest.raises(ValueError, match=r"y holds .* in row 0, too large for float32: standardise"):
        used.fit(X[:, [0, 0]], Y * 1e200, epochs=1, verbose=False)
    with pytest.raises(ValueError, match=r"y holds .* in row 0, too large for float32: standardise"):
        used.evaluate(X[:, [0, 0]], Y * 1e200)


@pytest.mark.parametrize("X", [{"a": NUMBERS, "b": NUMBERS}, {}])
def test_a_dict_says_what_is_supported(X):
    used = fitted()
    for call in (
        lambda: train.Model(nn.mlp((3,), 1)).fit(X, Y, epochs=1, verbose=False),
        lambda: train.Model(nn.mlp((3,), 1)).fit(X, epochs=1, verbose=False),
        lambda: used.predict(X),
        lambda: used.evaluate(X, Y),
        lambda: used.fit(np.zeros((ROWS, 2)), Y, validation=(X, Y), epochs=1, verbose=False),
        lambda: MLPRegressor(max_iter=1).fit(X, Y),
        lambda: TabularMLPRegressor(folds=1, max_iter=1).fit(X, Y),
    ):
        with pytest.raises(
            TypeError, match=r"X is a dict of .*: give an array .* or a data frame; pandas\.DataFrame\(X\)"
        ):
            call()
    with pytest.raises(TypeError, match="y is a dict"):
        used.fit(np.zeros((ROWS, 2)), {"out": Y}, epochs=1, verbose=False)


def test_other_things_that_are_no_table():
    for X in ("abc", {1, 2}, b"abc"):
        with pytest.raises(TypeError, match=f"X is a {type(X).__name__}: give an array"):
            train.Model(nn.mlp((3,), 1)).fit(X, Y, epochs=1, verbose=False)
    with pytest.raises(TypeError, match=r"sparse matrix: give X\.toarray\(\)"):
        train.Model(nn.mlp((3,), 1, input_dropout=0.1)).fit(sparse.csr_array(np.eye(ROWS)), Y, epochs=1, verbose=False)


def test_weights_are_numbers():
    X = np.column_stack([NUMBERS, NUMBERS])
    for weights in (np.array(WHEN), np.full(ROWS, "1"), np.full(ROWS, 1j)):
        with pytest.raises((TypeError, ValueError), match="numbers"):
            fitted().fit(X, Y, sample_weight=weights, epochs=1, verbose=False)
        with pytest.raises(ValueError, match="numbers"):
            MLPRegressor(max_iter=1).fit(X, Y, weights)


@pytest.mark.parametrize(("validation", "times"), [(None, 1), (0.2, 1), (np.arange(3), 1), ("given", 2)])
def test_every_x_is_looked_at_once(validation, times, monkeypatch):
    looks = []

    def noted(X, dtype, first=0):
        looks.append(np.shape(X))
        return inputs.as_inputs(X, dtype, first)

    for module in ("preparation", "rows", "chunks"):
        monkeypatch.setattr(f"pellucid.data.{module}.as_inputs", noted)
    X = np.random.default_rng(0).normal(size=(ROWS, 2))
    held = (X, X[:, 0]) if isinstance(validation, str) else validation
    train.Model(nn.mlp((3,), 1)).fit(X, X[:, 0], validation=held, epochs=1, verbose=False)
    assert len(looks) == times


@pytest.mark.parametrize("form", [sparse.csr_array, sparse.csc_matrix, sparse.coo_array])
def test_a_sparse_matrix_is_predicted_chunk_by_chunk(form, monkeypatch):
    monkeypatch.setattr("pellucid.data.chunks.CHUNK", 4)
    X = np.where(np.random.default_rng(0).random((ROWS, 5)) < 0.3, 1.0, 0.0)
    model = train.Model(nn.mlp((3,), 1)).initialize(5)
    assert_allclose(model.predict(form(X)), model.predict(X), rtol=1e-5)
    assert_allclose(model.scores(form(X)), model.scores(X), rtol=1e-5)
    with pytest.raises(ShapeError, match="other columns"):
        model.predict(form(X[:, :3]))
