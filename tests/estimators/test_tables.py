"""TablePreprocessor: frames and arrays of all kinds of columns as numbers."""

import json
import pickle
import warnings
from datetime import date, datetime, time

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.utils.estimator_checks import parametrize_with_checks

from pellucid import TabularMLPClassifier
from pellucid.estimators import ColumnWarning, SmoothRobustScaler, TablePreprocessor
from pellucid.estimators.tables import table_sample
from pellucid.estimators.tables.coded_texts import as_objects, is_coded
from pellucid.estimators.tables.columns import read_table
from pellucid.estimators.tables.layout import TableError
from pellucid.estimators.tables.scaling import SCALERS, weighted_quantiles
from tests.estimators import few_rows as few
from tests.estimators.marks import skipped_checks

N = 120


def frame(seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    made = pd.DataFrame(
        {
            "z": rng.normal(size=N),
            "age": rng.integers(0, 50, N),
            "city": rng.choice(list("abcdefghijkl"), N),
            "sex": pd.Series(rng.choice(["m", "f"], N)).astype("category"),
            "ok": rng.random(N) > 0.5,
            "when": pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 9999, N), unit="h"),
            "grade": rng.choice(["p", "q", "r"], N),
        }
    )
    made.loc[3:9, "z"] = np.nan
    made.loc[5, "city"] = None
    made.loc[6, "when"] = pd.NaT
    return made


def as_polars(df: pd.DataFrame) -> pl.DataFrame:
    return pl.DataFrame({name: [None if pd.isna(v) else v for v in df[name].tolist()] for name in df})


@skipped_checks
@parametrize_with_checks([TablePreprocessor(), TablePreprocessor("standard"), SmoothRobustScaler()])
def test_scikit_learns_checks(estimator, check):
    check(estimator)


def test_kinds_names_and_layout():
    df = frame()
    pre = TablePreprocessor().fit(df)
    assert pre.kinds_ == {
        "age": "numeric",
        "city": "category",
        "grade": "category",
        "ok": "boolean",
        "sex": "category",
        "when": "datetime",
        "z": "numeric",
    }
    names = pre.get_feature_names_out().tolist()
    assert names[:2] == ["age", "when_elapsed"]
    assert names[-8:-6] == ["when_elapsed_missing", "z_missing"]
    assert names[-6:] == ["grade_p", "grade_q", "grade_r", "ok_True", "sex_m", "city_code"]
    made = pre.transform(df)
    assert made.shape == (N, len(names))
    assert pre.embedding_sizes_ == (13,)
    codes = made[:, -1]
    assert codes[5] == 0
    assert set(np.delete(codes, 5)) <= set(range(1, 13))
    assert np.isfinite(made).all()


@pytest.mark.parametrize("scaling", SCALERS)
def test_the_order_of_columns_changes_no_bit(scaling):
    df = frame()
    usual = TablePreprocessor(scaling).fit(df)
    turned = TablePreprocessor(scaling).fit(df[df.columns[::-1]])
    assert_array_equal(usual.transform(df), turned.transform(df))
    assert_array_equal(usual.transform(df), usual.transform(df[sorted(df)]))


@pytest.mark.parametrize("scaling", SCALERS)
def test_pandas_and_polars_give_the_same(scaling):
    df = frame()
    assert_array_equal(
        TablePreprocessor(scaling).fit_transform(df), TablePreprocessor(scaling).fit_transform(as_polars(df))
    )


@pytest.mark.parametrize("scaling", SCALERS)
def test_plain_data_bring_it_back_exactly(scaling):
    df, other = frame(), frame(1)
    pre = TablePreprocessor(scaling, one_hot_max=4, dtype="float32", categorical=["age"]).fit(df)
    data, arrays = pre.to_dict()
    assert all(array.dtype.kind in "iuf" for array in arrays.values())
    again = TablePreprocessor.from_dict(json.loads(json.dumps(data)), {k: v.copy() for k, v in arrays.items()})
    assert_array_equal(again.transform(other), pre.transform(other))
    assert again.transform(other).dtype == np.float32
    assert again.get_feature_names_out().tolist() == pre.get_feature_names_out().tolist()
    assert again.get_params() == {**pre.get_params(), "categorical": ["age"]}
    assert again.embedding_sizes_ == pre.embedding_sizes_


def test_damaged_data_are_refused():
    data, arrays = TablePreprocessor().fit(frame()).to_dict()
    with pytest.raises(TableError, match="describe no table preprocessor: KeyError"):
        TablePreprocessor.from_dict({k: v for k, v in data.items() if k != "kinds"}, arrays)
    with pytest.raises(TableError, match="scaling is one of"):
        TablePreprocessor.from_dict({**data, "params": {**data["params"], "scaling": "os.system"}}, arrays)
    with pytest.raises(TableError, match="not what pellucid writes"):
        TablePreprocessor.from_dict({**data, "kinds": {**data["kinds"], "z": "exec"}}, arrays)


def test_a_failed_fit_changes_nothing():
    pre = TablePreprocessor().fit(frame())
    before, rows = dict(vars(pre)), pre.transform(frame())
    for bad in (pd.DataFrame({"a": [np.nan, np.nan], "b": [None, None]}), np.array([[1.0, np.inf], [2.0, 3.0]])):
        with pytest.raises(ValueError, match=r"no column has any value|infinite"):
            pre.fit(bad)
    assert vars(pre) == before
    assert_array_equal(pre.transform(frame()), rows)


def test_pickle_clone_and_frames_out():
    df = frame()
    pre = TablePreprocessor("standard").fit(df)
    assert_array_equal(pickle.loads(pickle.dumps(pre)).transform(df), pre.transform(df))
    assert not hasattr(clone(pre), "kinds_")
    out = TablePreprocessor("standard").set_output(transform="pandas").fit_transform(df)
    assert out.columns.tolist() == pre.get_feature_names_out().tolist()
    assert_array_equal(out.to_numpy(), pre.transform(df))


# numbers


def test_robust_scale_and_smooth_clip_by_hand():
    x = np.array([1.0, 2.0, 3.0, 4.0, 100.0])
    z = (x - 3.0) / 2.0
    made = TablePreprocessor().fit_transform(x[:, None])[:, 0]
    far = np.sqrt(1 + (z / 3) ** 2)
    assert_allclose(made, z / far * (1 + np.log10(far) / 3))
    assert_allclose(SmoothRobustScaler(tail=0.0).fit_transform(x[:, None])[:, 0], z / far)
    assert SmoothRobustScaler(tail=0.0).fit_transform(np.array([[0.0]] * 9 + [[4.0]]))[-1, 0] == pytest.approx(
        2 / np.sqrt(1 + 4 / 9)
    )  # both quartiles are 0: half the range
    assert not TablePreprocessor().fit(np.ones((5, 1))).transform(np.array([[7.0]])).any()


@given(st.lists(st.integers(0, 3), min_size=3, max_size=12).filter(lambda w: sum(w) > 1), st.floats(0, 1))
@settings(max_examples=60, deadline=None)
def test_weights_count_rows(weights, share):
    x = np.random.default_rng(len(weights)).normal(size=(len(weights), 2))
    w = np.array(weights)
    expected = np.quantile(np.repeat(x, w, axis=0), share, axis=0)
    assert_allclose(weighted_quantiles(x, (share,), w)[0], expected, atol=1e-12)


def test_standard_centre_quantile():
    x = np.random.default_rng(0).exponential(size=(500, 3)) * [1, 10, 100]
    standard = TablePreprocessor("standard").fit_transform(x)
    assert_allclose(standard.mean(0), 0, atol=1e-12)
    assert_allclose(standard.std(0), 1)
    assert_allclose(TablePreprocessor("centre").fit_transform(x), x - x.mean(0), atol=1e-10)
    assert_array_equal(TablePreprocessor(None).fit_transform(x), x)
    quantile = TablePreprocessor("quantile").fit_transform(x)
    assert_allclose(np.quantile(quantile, [0.16, 0.5, 0.84], axis=0)[:, 0], [-1, 0, 1], atol=0.1)


def test_units_do_not_matter():  # kilometres or millimetres
    x = np.random.default_rng(0).normal(size=(100, 3))
    for scaling in ("robust", "standard", "quantile", "pca", "whiten"):
        a, b = (TablePreprocessor(scaling).fit_transform(x * unit) for unit in (1.0, 1e6))
        assert_allclose(a, b, atol=1e-6)


def test_pca_decorrelates_and_whitening_gives_unit_covariance():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(400, 4)) @ rng.normal(size=(4, 4))
    turned = np.cov(TablePreprocessor("pca").fit_transform(x).T)
    assert_allclose(turned - np.diag(np.diag(turned)), 0, atol=1e-10)
    x5 = np.column_stack([x, x[:, 0] + x[:, 1], np.ones(400)])  # two columns say nothing new
    pre = TablePreprocessor("whiten")
    assert_allclose(np.cov(pre.fit_transform(x5).T), np.eye(4), atol=1e-9)
    assert pre.get_feature_names_out().tolist() == ["pca0", "pca1", "pca2", "pca3"]


# missing


def test_medians_and_indicators():
    X = np.array([[1.0, 5.0], [np.nan, 6.0], [3.0, 8.0]])
    pre = TablePreprocessor(None).fit(X)
    assert pre.transform(X).tolist() == [[1, 5, 0], [2, 6, 1], [3, 8, 0]]
    # missing for the first time: imputed, no indicator
    assert pre.transform(np.array([[np.nan, np.nan]])).tolist() == [[2, 6, 1]]
    assert TablePreprocessor(None, missing="median").fit_transform(X).tolist() == [[1, 5], [2, 6], [3, 8]]
    with pytest.raises(ValueError, match=r"column 'x0' has a missing value .* in row 1"):
        TablePreprocessor(missing="error").fit(X)
    with pytest.raises(ValueError, match=r"column 'x1' has a missing value .* in row 0"):
        TablePreprocessor(missing="error").fit(X[[0, 2]]).transform(np.array([[1.0, np.nan]]))


@pytest.mark.parametrize("column", [[np.nan] * 3, [None] * 3, [pd.NaT] * 3, pd.Categorical([None] * 3)])
def test_a_column_without_values_is_named_and_left_out(column):
    df = pd.DataFrame({"a": [1, 2, 3], "b": column})
    with pytest.warns(ColumnWarning, match="Column 'b' has no values at all: left out, in prediction too"):
        pre = TablePreprocessor().fit(df)
    assert pre.kinds_ == {"a": "numeric", "b": "empty"}
    assert pre.get_feature_names_out().tolist() == ["a"]
    alone = TablePreprocessor().fit_transform(df[["a"]])
    for rows in (df, df.assign(b=["x", "y", "z"]), df.assign(b=7.0), df[["a"]]):  # whatever comes there later
        assert_array_equal(pre.transform(rows), alone)
    assert pre.n_features_in_ == 2
    with pytest.warns(UserWarning, match="feature names"):
        assert_array_equal(pre.transform(np.array([[1, 5.0], [2, 6], [3, 7]])), alone)
    again = TablePreprocessor.from_dict(*pre.to_dict())
    assert_array_equal(again.transform(df), alone)


def test_without_any_value_there_is_nothing_to_learn():
    with pytest.raises(ValueError, match="no column has any value: 'x0', 'x1' are missing in all 3 rows"):
        TablePreprocessor().fit(np.full((3, 2), np.nan))
    with pytest.raises(ValueError, match="column 'x1' has a missing value"):
        TablePreprocessor(missing="error").fit(np.array([[1.0, np.nan], [2.0, np.nan]]))


@pytest.mark.parametrize("scaling", SCALERS)
def test_constant_and_duplicate_columns_do_no_harm(scaling):
    df = frame()
    df = df.assign(same=3.0, word="only", day=pd.Timestamp("2020-01-01"), again=df["z"], city2=df["city"])
    rows = TablePreprocessor(scaling).fit(df).transform(pd.concat([df, df.assign(same=4.0, word="other")]))
    assert np.isfinite(rows).all()
    assert np.abs(rows[:, -2:]).max() <= 12  # codes of cities
    assert np.isfinite(TablePreprocessor(scaling).fit_transform(np.ones((9, 2)))).all()


def test_infinite_values_are_named():
    df = frame()
    df.loc[17, "z"] = -np.inf
    with pytest.raises(ValueError, match="column 'z' has an infinite value in row 17"):
        TablePreprocessor().fit(df)
    with pytest.raises(ValueError, match="column 'z' has an infinite value in row 17"):
        TablePreprocessor().fit(frame()).transform(df)


# categories


def test_two_categories_share_a_column_and_unknown_ones_are_zeros():
    df = pd.DataFrame({"two": ["a", "b", None, "a"], "three": ["x", "y", "z", None], "many": list("pqrs")})
    pre = TablePreprocessor(None, one_hot_max=3).fit(df)
    assert pre.get_feature_names_out().tolist() == ["three_x", "three_y", "three_z", "two_b", "many_code"]
    assert pre.transform(df).tolist() == [[1, 0, 0, -1, 1], [0, 1, 0, 1, 2], [0, 0, 1, 0, 3], [0, 0, 0, -1, 4]]
    new = pd.DataFrame({"two": ["?", None], "three": ["?", None], "many": ["?", None]})
    assert not pre.transform(new).any()


def test_booleans_are_plus_and_minus_one_and_may_be_missing():
    pre = TablePreprocessor(None).fit(pd.DataFrame({"b": [True, True, True]}))
    nullable = pd.DataFrame({"b": pd.array([True, False, None], "boolean")})
    for rows in (nullable, pl.DataFrame({"b": [True, False, None]}), pd.DataFrame({"b": [1.0, 0.0, np.nan]})):
        assert pre.transform(rows)[:, 0].tolist() == [1, -1, 0]


def test_integers_may_be_categories():
    X = np.array([[1.0, 10], [2, 20], [3, 10], [np.nan, 20]])
    pre = TablePreprocessor(None, categorical=[0]).fit(X)
    assert pre.get_feature_names_out().tolist() == ["x1", "x0_1", "x0_2", "x0_3"]
    assert pre.transform(X)[:, 1:].tolist() == [[1, 0, 0], [0, 1, 0], [0, 0, 1], [0, 0, 0]]
    df = pd.DataFrame({"n": [1, 2, 3], "c": [1, 2, 2]})
    by_name = TablePreprocessor(None, categorical="c").fit(df)
    assert by_name.kinds_ == {"c": "category", "n": "numeric"}
    # a missing value makes floats of integers: they are the same categories
    assert_array_equal(by_name.transform(df.astype({"c": float})), by_name.transform(df))
    with pytest.raises(ValueError, match="categorical names 'd', but the columns are 'n', 'c'"):
        TablePreprocessor(categorical="d").fit(df)


def test_periods_are_dates_and_times_of_the_day_are_spans():
    clock = [time(hour, 30) for hour in range(24)]
    periods = pd.period_range("2020-01", periods=24, freq="M")
    made = pd.DataFrame({"month": periods, "at": pd.Series([None, *clock[1:]], dtype=object)})
    pre = TablePreprocessor().fit(made)
    assert pre.kinds_ == {"month": "datetime", "at": "numeric"}
    assert_array_equal(pre.transform(made), pre.transform(made.assign(month=periods.to_timestamp())))
    at = pre.transform(made)[:, list(pre.get_feature_names_out()).index("at")]
    assert (np.diff(at[1:]) > 0).all()
    assert TablePreprocessor().fit(pl.DataFrame({"at": clock})).kinds_ == {"at": "numeric"}
    mixed = pd.DataFrame({"at": pd.Series([*clock[:23], "noon"], dtype=object)})
    with pytest.raises(TypeError, match=r"got a time: datetime.time.* leave it out"):
        TablePreprocessor().fit(mixed)


def test_columns_of_one_name_are_refused_with_a_way_out():
    with pytest.raises(ValueError, match=r"2 columns are called 'a', .* X.loc\[:, ~X.columns.duplicated\(\)\]"):
        TablePreprocessor().fit(pd.DataFrame(np.zeros((5, 3)), columns=["a", "b", "a"]))


def test_objects_are_what_their_values_are():
    X = np.empty((3, 5), object)
    X[:, 0], X[:, 1], X[:, 2] = [1, 2.5, None], ["a", "b", "c"], [True, None, False]
    X[:, 3], X[:, 4] = [date(2020, 1, 1), datetime(2020, 1, 2, 3), None], [1, "a", None]
    pre = TablePreprocessor().fit(X)
    assert list(pre.kinds_.values()) == ["numeric", "category", "boolean", "datetime", "category"]
    X[1, 1] = {"not": "a value"}
    with pytest.raises(TypeError, match="column 'x1': an argument must be a string or a number"):
        TablePreprocessor().fit(X)
    with pytest.raises(TypeError, match="column 'x1': an argument must be a string or a number, got a dict in row 1"):
        pre.transform(X)
    X[1, 1], X[0, 0] = "b", "text"
    with pytest.raises(TypeError, match="column 'x0' holds numbers, got 'text' in row 0"):
        pre.transform(X)


# dates


def test_dates_become_numbers():
    when = pd.Series(pd.to_datetime(["2020-01-06 00:00", "2020-01-07 06:00", "2021-07-06 12:00"]))
    pre = TablePreprocessor(None).fit(pd.DataFrame({"t": when}))
    made = dict(zip(pre.get_feature_names_out(), pre.transform(pd.DataFrame({"t": when})).T, strict=True))
    assert_allclose(made["t_elapsed"], [0, 1.25, 547.5])
    assert made["t_year"].tolist() == [2020, 2020, 2021]
    assert_allclose(made["t_month_sin"], [0, 0, 0], atol=1e-12)  # January, July
    assert_allclose(made["t_month_cos"], [1, 1, -1])
    assert_allclose(made["t_weekday_cos"], np.cos(2 * np.pi * np.array([0, 1, 1]) / 7))
    assert_allclose(made["t_hour_sin"], [0, 1, 0], atol=1e-12)


def test_only_what_varies_is_used_and_zones_are_wall_time():
    day = pd.date_range("2024-03-04 09:00", periods=3, freq="D", tz="Europe/Paris")
    pre = TablePreprocessor(None).fit(pd.DataFrame({"t": day}))
    assert pre.get_feature_names_out().tolist() == ["t_elapsed", "t_weekday_sin", "t_weekday_cos"]
    plain = pd.DataFrame({"t": day.tz_localize(None)})
    assert_array_equal(pre.transform(plain), pre.transform(pd.DataFrame({"t": day})))


def test_durations_are_seconds():
    df = pd.DataFrame({"d": pd.to_timedelta([60, 120, None], unit="s")})
    assert TablePreprocessor(None, missing="median").fit_transform(df)[:, 0].tolist() == [60, 120, 90]


# columns at prediction


def test_other_columns_are_named():
    pre = TablePreprocessor().fit(frame())
    with pytest.raises(ValueError, match=r"missing now: 'age', 'z'$"):
        pre.transform(frame().drop(columns=["z", "age"]))
    with pytest.raises(ValueError, match=r"not seen in fit: 'more'$"):
        pre.transform(frame().assign(more=1))
    with pytest.raises(ValueError, match="missing now: 'z'; not seen in fit: 'Z'"):
        pre.transform(frame().rename(columns={"z": "Z"}))
    with pytest.raises(ValueError, match="X has 3 features, but TablePreprocessor is expecting 7 features"):
        pre.transform(np.zeros((2, 3)))


def test_arrays_for_named_columns_go_by_place():
    df = frame()[["z", "age"]]
    pre = TablePreprocessor().fit(df)
    with pytest.warns(UserWarning, match="X does not have valid feature names"):
        made = pre.transform(df.to_numpy())
    assert_array_equal(made, pre.transform(df))


def test_bad_tables_and_parameters():
    for bad, text in (
        ({"scaling": "log"}, "scaling is one of 'robust'"),
        ({"missing": "drop"}, "missing is one of"),
        ({"one_hot_max": -1}, "one_hot_max is a whole number"),
        ({"dtype": "float16"}, "dtype is"),
    ):
        with pytest.raises(ValueError, match=text):
            TablePreprocessor(**bad).fit(np.ones((3, 1)))
    with pytest.raises(TypeError, match="got a lazy one"):
        TablePreprocessor().fit(pl.LazyFrame({"a": [1]}))
    with pytest.raises(ValueError, match=r"Found array with 0 sample\(s\)"):
        TablePreprocessor().fit(pd.DataFrame({"a": []}))


# whatever a table brings along


def test_long_identifiers_are_different_categories() -> None:
    ids = np.array([2**60 + i for i in range(6)])
    for column in (ids, ids.astype(object)):
        pre = TablePreprocessor(categorical=["id"]).fit(pd.DataFrame({"id": column}))
        assert pre.categories_["id"] == [str(i) for i in ids.tolist()]


def test_true_and_1_are_different_categories_in_any_order() -> None:
    values = [True, 1, "a"]
    for order in ([0, 1, 2], [1, 0, 2]):
        column = pd.Series([values[i] for i in order], dtype=object)
        assert TablePreprocessor().fit(pd.DataFrame({"x": column})).categories_["x"] == ["1", "True", "a"]


def test_dates_as_categories_are_the_same_as_objects() -> None:
    days = pd.Series(pd.date_range("2020", periods=3))
    pre = TablePreprocessor().fit(pd.DataFrame({"x": days.astype("category")}))
    as_objects = np.array([day.to_pydatetime() for day in days], object)[:, None]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # no names
        assert np.array_equal(pre.transform(as_objects), pre.transform(pd.DataFrame({"x": days.astype("category")})))


def test_column_called_like_a_part_of_a_date_keeps_its_missing_mark() -> None:
    when = pd.date_range("2020", periods=60, freq="40D")
    frame = pd.DataFrame({"d": when, "d_year": np.where(np.arange(60) % 7, few.X[:, 0], np.nan)})
    assert "d_year_missing" in TablePreprocessor().fit(frame).get_feature_names_out()


def test_huge_outliers_end_at_the_limit() -> None:
    huge = np.array([[1e300, -1e300, 1e160, 1e20]])
    assert np.array_equal(SmoothRobustScaler(tail=0.0).fit(few.X).transform(huge), [[3.0, -3.0, 3.0, 3.0]])
    assert np.allclose(SmoothRobustScaler().fit(few.X).transform(huge), [[12.0, -12.0, 12.0, 12.0]])


def test_beyond_the_limit_each_factor_of_ten_counts_alike() -> None:
    far = 10.0 ** np.arange(2, 8)[:, None]
    column = np.concatenate([few.X[:, :1], far, -far])
    scaled = SmoothRobustScaler().fit(few.X[:, :1]).transform(column)
    assert np.allclose(np.diff(scaled[len(few.X) :][:6, 0]), 1.0, atol=0.02)
    assert np.all(np.diff(scaled[np.argsort(column[:, 0]), 0]) > 0)


@pytest.mark.parametrize("bad", [-1.0, np.nan, "1"])
def test_a_tail_is_a_number_from_0(bad: object) -> None:
    with pytest.raises(ValueError, match="tail is a number from 0, got"):
        SmoothRobustScaler(tail=bad).fit(few.X)


def test_magnitudes_of_far_numbers_are_learned() -> None:
    """A class for each factor of a hundred, in three rows of a hundred each: to a clip they are all the same."""
    rng = np.random.default_rng(0)
    power = np.where(rng.random(3000) < 0.9, 0, rng.integers(1, 4, 3000))
    near, sign = rng.normal(size=3000), rng.choice([-1.0, 1.0], 3000)
    far = sign * 100.0**power * rng.uniform(5, 20, 3000)
    X = np.column_stack([np.where(power > 0, far, near), rng.normal(size=3000)])
    classifier = TabularMLPClassifier(quality="fast", random_state=0).fit(X[:2000], power[:2000])
    assert classifier.score(X[2000:], power[2000:]) > 0.99


def test_scales_of_many_rows_come_from_some(monkeypatch):
    """A column that is missing in all rows that are drawn brings one where it is not; rows are made in parts."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"x": rng.normal(3, 2, 5000), "rare": np.nan, "word": rng.choice(["a", "b", "c"], 5000)})
    frame.loc[4321, "rare"] = 7.0
    frame.loc[10, "word"] = "once"
    whole = TablePreprocessor().fit(frame)
    monkeypatch.setattr("pellucid.estimators.tables.table_sample.SCALED", 1000)
    monkeypatch.setattr("pellucid.data.row_parts.PART", 300)
    some = TablePreprocessor()
    matrix = some.fit_transform(frame)
    assert some.get_feature_names_out().tolist() == whole.get_feature_names_out().tolist()
    np.testing.assert_allclose(matrix, whole.transform(frame), atol=0.15)
    np.testing.assert_array_equal(matrix, some.transform(frame))
    assert not np.array_equal(matrix, whole.transform(frame))  # it was not learned from all


@pytest.mark.parametrize("convert", [lambda frame: frame, lambda frame: frame.to_arrow()], ids=["polars", "pyarrow"])
def test_texts_of_few_kinds_are_read_as_they_are(convert):
    """As codes: one object for each kind of text, in the place of one for each row."""
    words = ["a", None, "b", "a", ""] * 20
    column = read_table(convert(pl.DataFrame({"word": words, "x": range(100)})), "test").columns[0]
    assert is_coded(column)
    assert sorted(column.categories) == ["", "a", "b"]
    assert as_objects(column).tolist() == words
    names = [f"row {number}" for number in range(100)]
    assert read_table(convert(pl.DataFrame({"name": names})), "test").columns[0].tolist() == names


def test_scales_see_rare_categories_and_gaps():
    rows = 3 * table_sample.SCALED
    drawn = table_sample.scale_rows({"x": np.zeros(rows)}, {}, rows)
    assert len(drawn) == table_sample.SCALED
    outside = np.setdiff1d(np.arange(rows), drawn)[[5, 50, 500]]
    column, words = np.full(rows, np.nan), np.full(rows, "usual", object)
    column[outside[0]], words[outside[1]], words[outside[2]] = 1.0, "rare", None
    seen = table_sample.scale_rows({"x": column, "word": words}, {"word": ["rare", "usual"]}, rows)
    assert sorted(np.setdiff1d(seen, drawn)) == sorted(outside)
