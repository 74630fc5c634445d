"""Texts that hold dates or numbers, as a CSV brings them: recognised, read, said; and read the same way later."""

import io
import json
import pickle
import warnings
from datetime import date, datetime

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from pellucid import BaggedMLPRegressor, TabularMLPClassifier, TabularMLPRegressor, load
from pellucid.estimators import ColumnWarning, TablePreprocessor
from pellucid.estimators.tables.columns import read_table
from pellucid.estimators.tables.date_texts import AS_WRITTEN, DAY_FIRST, MONTH_FIRST, dissect
from pellucid.estimators.tables.layout import TableError
from pellucid.estimators.tables.number_texts import CLOCK, COMMA, POINT, parse_numbers
from tests.estimators.marks import few_epochs

pytestmark = few_epochs
quiet = pytest.mark.filterwarnings("ignore::pellucid.errors.ColumnWarning")
MOMENT = datetime(2024, 3, 1, 14, 5, 9, 250000)


def fitted(column, **more):
    """A preprocessor of one column, `t`, and what it said."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        pre = TablePreprocessor(None, **more).fit(pd.DataFrame({"t": column}))
    assert all(one.category is ColumnWarning for one in said)
    return pre, [str(one.message) for one in said]


def elapsed(pre, column):
    """Days since the first one of fit."""
    return pre.transform(pd.DataFrame({"t": column}))[:, 0]


def moment(text, order=MONTH_FIRST):
    return dissect([text]).moments(order)[0]


# dates


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("2024-03-01", "2024-03-01"),
        ("2024/3/1", "2024-03-01"),
        ("2024.03.01", "2024-03-01"),
        ("20240301", "2024-03-01"),
        ("2024-03", "2024-03-01"),
        ("2024-03-01T14:05", "2024-03-01T14:05"),
        ("2024-03-01 14:05:09", "2024-03-01T14:05:09"),
        ("2024-03-01t14:05:09.25z", "2024-03-01T14:05:09.25"),
        ("2024-03-01T14:05:09,250000001+01:00", "2024-03-01T14:05:09.25"),  # the time on the wall
        ("2024-03-01 14:05:09 UTC", "2024-03-01T14:05:09"),
        ("2024-03-01T14:05:09-0530", "2024-03-01T14:05:09"),
        ("20240301T140509Z", "2024-03-01T14:05:09"),
        ("3/1/2024", "2024-03-01"),
        ("03-01-2024 2:05 pm", "2024-03-01T14:05"),
        ("3/1/24 12:05 a.m.", "2024-03-01T00:05"),
        ("3/1/72", "1972-03-01"),
        ("1 March 2024", "2024-03-01"),
        ("01-Mar-24", "2024-03-01"),
        ("1st mar. 2024", "2024-03-01"),
        ("March 1, 2024", "2024-03-01"),
        ("Sept 1 2024", "2024-09-01"),
        ("Fri, 01 Mar 2024 14:05:09 GMT", "2024-03-01T14:05:09"),
        ("2024-Mar-01", "2024-03-01"),
        ("Mar 2024", "2024-03-01"),
        ("2024-02-29", "2024-02-29"),
    ],
)
def test_a_date_in_many_forms(text, wanted):
    assert moment(text) == np.datetime64(wanted, "us")


@pytest.mark.parametrize(
    "text",
    [
        "2023-02-29",
        "2024-13-01",
        "0000-00-00",
        "2024-03-01 25:00",
        "2024-03-01 13:00 pm",
        "3/1/2024 0:05 am",
        "2024-03/01",
        "1.2.3",
        "10.0.0.1",
        "12:30",
        "1234",
        "1234.56",
        "March",
        "maybe 3",
        "2024",
        "now",
        "today",
        "NaT",
        "12345678",
        "2024-03-01 and more",
    ],
)
def test_what_is_no_date(text):
    assert np.isnat(moment(text))


def test_the_order_of_day_and_month():
    assert moment("1/3/2024", DAY_FIRST) == moment("3/1/2024", MONTH_FIRST) == np.datetime64("2024-03-01", "us")
    assert np.isnat(moment("3/1/2024", AS_WRITTEN))
    assert np.isnat(moment("3/14/2024", DAY_FIRST))
    assert moment("2024-03-14", DAY_FIRST) == moment("14 Mar 2024", DAY_FIRST) == np.datetime64("2024-03-14", "us")


FORMATS = {
    "%Y-%m-%dT%H:%M:%S.%f": AS_WRITTEN,
    "%Y-%m-%d %H:%M:%S.%f": AS_WRITTEN,
    "%d.%m.%Y %H:%M:%S.%f": DAY_FIRST,
    "%m/%d/%Y %I:%M:%S.%f %p": MONTH_FIRST,
    "%d/%m/%Y %H:%M:%S.%f": DAY_FIRST,
    "%d-%b-%Y %H:%M:%S.%f": AS_WRITTEN,
    "%A, %B %d, %Y %H:%M:%S.%f": AS_WRITTEN,
    "%Y%m%dT%H%M%S.%f": AS_WRITTEN,
}


@given(st.datetimes(datetime(1970, 1, 1), datetime(2099, 12, 31)), st.sampled_from(sorted(FORMATS)))
@settings(max_examples=200, deadline=None)
def test_what_python_writes_comes_back(when, form):
    assert moment(when.strftime(form), FORMATS[form]).item() == when


@given(st.text(max_size=20))
@settings(max_examples=300, deadline=None)
def test_no_text_is_too_strange(text):
    moment(text.strip())
    number = parse_numbers([text.strip()], POINT)[0]
    assert not np.isinf(number)


@quiet
@given(st.lists(st.dates(date(1950, 1, 1), date(2050, 1, 1)), min_size=40, max_size=60), st.booleans())
@settings(max_examples=25, deadline=None)
def test_the_column_decides_the_order(days, day_first):
    form = "%d/%m/%Y" if day_first else "%m/%d/%Y"
    if all(day.day <= 12 for day in days):
        return
    pre, _ = fitted([day.strftime(form) for day in days])
    first = min(days)
    assert elapsed(pre, [day.strftime(form) for day in days]).tolist() == [(day - first).days for day in days]


def test_a_column_of_dates_is_read_and_said():
    texts = ["2024-03-01", "2024-03-03T12:00:00Z", None, " 2024-03-11 "]
    pre, said = fitted(texts)
    assert pre.kinds_ == {"t": "datetime"}
    assert_array_equal(elapsed(pre, texts)[[0, 1, 3]], [0, 2.5, 10])
    assert len(said) == 1
    assert "Texts are read as dates: column 't'. An example is '2024-03-01'" in said[0]
    assert "categorical=" in said[0]
    kept, said = fitted(texts, categorical=["t"])
    assert kept.kinds_ == {"t": "category"}
    assert not said


@pytest.mark.parametrize(
    ("texts", "days", "words"),
    [
        (["3/1/2024", "3/14/2024"], [0, 13], None),
        (["1/3/2024", "14/3/2024"], [0, 13], None),
        (["01.03.2024", "02.03.2024"], [0, 1], None),  # nobody writes 01.03. with the month first
        (["03.14.2024", "03.02.2024"], [12, 0], None),  # but if so, the column says it
        (["3/3/2024", "4/4/2024"], [0, 32], None),  # both orders give the same
        (["3/1/2024", "3/2/2024"], [0, 1], "'3/1/2024' may be day first: month first was taken"),
    ],
)
def test_the_order_of_a_column(texts, days, words):
    pre, (said,) = fitted(texts)
    assert elapsed(pre, texts).tolist() == days
    assert ("was taken" in said) == (words is not None)
    assert words is None or (words in said and "pandas.to_datetime(X['t'], dayfirst=True)" in said)


def test_a_few_strays_are_missing_and_many_stay_text():
    texts = [f"{2000 + i}-01-15" for i in range(60)]
    pre, (said,) = fitted([*texts, "unknown", "0000-00-00"])
    assert "2 values are no date, such as 'unknown', and taken as missing" in said
    assert pre.get_feature_names_out()[-1] == "t_elapsed_missing"
    assert pre.transform(pd.DataFrame({"t": ["soon", "2001-01-15"]}))[:, -1].tolist() == [1, 0]
    mixed, (said,) = fitted([*texts, *["unknown"] * 20])
    assert mixed.kinds_ == {"t": "category"}
    assert "mostly dates stay categories: column 't'. Up to 25% are none, such as 'unknown'" in said
    words, said = fitted(["some", "words", "2024-03-01", None])
    assert words.kinds_ == {"t": "category"}
    assert not said


@pytest.mark.parametrize(
    ("texts", "others", "words"),
    [
        (["2024-03-01", "2024-03-11"], ["01.03.2024", "11.03.2024"], r"as dates in fit, and 100% .* '01.03.2024'"),
        (["14/3/2024", "15/3/2024"], ["3/14/2024"], r"as dates \(day first\) in fit"),
        (["1,5", "2,25", "3,5"], ["1.5 m", "2.5 m", "3,5"], r"as numbers \(decimal comma\) in fit, and 67%"),
    ],
)
def test_texts_that_are_written_otherwise_than_in_fit_are_told(texts, others, words):
    pre, _ = fitted(texts)
    with pytest.warns(ColumnWarning, match=words):
        assert np.isfinite(pre.transform(pd.DataFrame({"t": others}))).all()
    pre.transform(pd.DataFrame({"t": [*texts, "NA", None, "?"]}))  # a word for missing is no fault


def test_real_dates_may_stand_beside_texts_and_take_their_place():
    column = np.array(["2024-03-01", date(2024, 3, 2), datetime(2024, 3, 3, 12), None], object)
    pre, _ = fitted(column)
    assert pre.kinds_ == {"t": "datetime"}
    assert elapsed(pre, column)[:3].tolist() == [0, 1, 2.5]
    assert elapsed(pre, pd.to_datetime(["2024-03-05"])).tolist() == [4]
    assert elapsed(pre, pd.Categorical(["2024-03-05"])).tolist() == [4]
    assert elapsed(pre, [np.nan, np.nan]).tolist() == [1, 1]  # the median
    with pytest.raises(TypeError, match="column 't' holds dates or times, got 7 in row 1"):
        elapsed(pre, ["2024-03-05", 7])


# numbers


@pytest.mark.parametrize(
    ("text", "mark", "wanted"),
    [
        ("12", POINT, 12),
        ("-1.5", POINT, -1.5),
        ("+3.", POINT, 3),
        (".5", POINT, 0.5),
        ("1e3", POINT, 1000),
        ("−2E-2", POINT, -0.02),
        ("1,234.5", POINT, 1234.5),
        ("1 234 567", POINT, 1234567),
        ("1'234.5", POINT, 1234.5),
        ("3.5%", POINT, 0.035),
        ("12 %", POINT, 0.12),
        ("(1,234.5)", POINT, -1234.5),
        ("(3.5%)", POINT, -0.035),
        ("1.234,5", COMMA, 1234.5),
        ("3,5", COMMA, 3.5),
        ("0,123", COMMA, 0.123),
        ("(1.234,5)", COMMA, -1234.5),
        ("0:00", CLOCK, 0),
        ("13:45", CLOCK, 49_500),
        ("7:05:09.5", CLOCK, 25_509.5),
        ("12:30 AM", CLOCK, 1800),
        ("1:05 p.m.", CLOCK, 47_100),
        ("27:15", CLOCK, 98_100),
    ],
)
def test_a_number_in_many_forms(text, mark, wanted):
    assert parse_numbers([text], mark)[0] == pytest.approx(wanted)


@pytest.mark.parametrize(
    "text",
    ["1,23", "12,34,567", "1,234'567", "0,123", "1e999", "inf", "nan", "1_000", "0x10", "5 kg", "13:45", "(-5)", "(5"],
)
def test_what_is_no_number(text):
    assert np.isnan(parse_numbers([text], POINT)[0])


@given(st.floats(-1e12, 1e12))
@settings(max_examples=200, deadline=None)
def test_numbers_as_they_are_written_come_back(x):
    assert parse_numbers([repr(x), f"{x:.6e}"], POINT).tolist() == [x, float(f"{x:.6e}")]
    us = f"{x:,.3f}"
    german = us.translate(str.maketrans(",.", ".,"))
    assert parse_numbers([us], POINT)[0] == parse_numbers([german], COMMA)[0] == float(f"{x:.3f}")


def test_a_column_of_numbers_is_read_and_said():
    texts = ["12", "1,234.5", "3.5%", " 7 ", "1e3", "", "NA", "?", "n/a", "null", "-", None]
    pre, (said,) = fitted(texts, missing="median")
    assert pre.kinds_ == {"t": "numeric"}
    assert pre.transform(pd.DataFrame({"t": texts}))[:, 0].tolist() == [12, 1234.5, 0.035, 7, 1000, *[12] * 7]
    assert "Texts are read as numbers: column 't'. An example is '12'" in said
    assert "missing" not in said  # the usual words for it
    assert pre.transform(pd.DataFrame({"t": ["3.5", "a lot", 8.0, None]}))[:, 0].tolist() == [3.5, 12, 8, 12]
    assert pre.transform(pd.DataFrame({"t": [3, 4]}))[:, 0].tolist() == [3, 4]


def test_decimal_commas_are_seen_in_the_column():
    pre, (said,) = fitted(["1,5", "2,25", "1.234,0"])
    assert elapsed(pre, ["1,5", "2,25", "1.234,0"]).tolist() == [1.5, 2.25, 1234]
    assert "thousands" not in said
    pre, (said,) = fitted(["1,234", "56,789"])
    assert elapsed(pre, ["1,234"]).tolist() == [1234]
    assert "the comma of '1,234' was taken to part thousands" in said


def test_prices_are_numbers_in_one_currency():
    pre, _ = fitted(["$1,200.50", "-$3", "7"])
    assert elapsed(pre, ["$1,200.50", "-$3", "7"]).tolist() == [1200.5, -3, 7]
    with pytest.warns(
        ColumnWarning, match=r"decimal point\) in fit, and 100% of these cannot be read so, such as '€5'"
    ):
        assert elapsed(pre, ["€5"]).tolist() == [7]  # missing: the median
    assert fitted(["$1", "€2", "£3", "$4"])[0].kinds_ == {"t": "category"}


def test_losses_in_brackets_are_negative():
    texts = ["1,200.50", "(300.25)", "7", "(2)"]
    pre, _ = fitted(texts)
    assert elapsed(pre, texts).tolist() == [1200.5, -300.25, 7, -2]


@pytest.mark.parametrize("unit", ["kg", " kg", " km/h", "m²", " °C", "h", " EUR", " years"])
def test_numbers_in_one_unit_are_numbers(unit):
    texts = [f"{1 + number / 4}{unit}" for number in range(40)]
    pre, (said,) = fitted(texts)
    assert pre.kinds_ == {"t": "numeric"}
    assert elapsed(pre, texts).tolist() == [1 + number / 4 for number in range(40)]
    assert f"Texts are read as numbers: column 't'. An example is '1.0{unit}'" in said
    assert elapsed(pre, [f"20{unit}", f"20 {unit}", "20"]).tolist() == [20, 20, 20]
    again = TablePreprocessor.from_dict(*pre.to_dict())
    assert elapsed(again, texts).tolist() == elapsed(pre, texts).tolist()


def test_one_and_many_of_a_unit():
    texts = ["1 day", *(f"{number} days" for number in range(2, 20))]
    assert elapsed(fitted(texts)[0], texts).tolist() == list(range(1, 20))


def test_other_units_are_strays():
    texts = [f"{number / 8} kg" for number in range(99)]
    pre, (said,) = fitted([*texts, "12 lb"])
    assert "1 value is no number, such as '12 lb', and taken as missing" in said
    with pytest.warns(ColumnWarning, match="100% of these cannot be read so, such as '12 lb'"):
        assert elapsed(pre, ["12 lb"]).tolist() == elapsed(pre, [None]).tolist()
    kinds, (said,) = fitted([*texts, *(f"{number / 8} lb" for number in range(40))])
    assert kinds.kinds_ == {"t": "category"}
    assert "Texts that are mostly numbers stay categories: column 't'" in said


@pytest.mark.parametrize(
    "texts",
    [
        [f"{number}mg" for number in (100, 200, 500)] * 9,  # few of them
        [f"{number:03d}A" for number in range(40)],  # leading zeros
        [f"{number}{letter}" for number in range(10) for letter in "ABCD"] * 3,  # seats
        [f"part {number}" for number in range(40)] * 3,
        [f"{number}th street" for number in range(40)] * 3,
    ],
)
def test_what_is_behind_a_number_need_be_no_unit(texts):
    assert fitted(texts)[0].kinds_ == {"t": "category"}


def test_times_of_the_day_are_seconds_since_midnight():
    texts = [f"{minute // 60}:{minute % 60:02d}" for minute in range(0, 1440, 7)]
    pre, (said,) = fitted([*texts, None, "n/a"])
    assert pre.kinds_ == {"t": "numeric"}
    assert elapsed(pre, texts).tolist() == [60.0 * minute for minute in range(0, 1440, 7)]
    assert "Texts are read as numbers: column 't'. An example is '0:00'" in said
    assert "they are times, in seconds" in said
    python = pd.Series(pd.to_datetime(texts, format="%H:%M").time)
    assert elapsed(pre, python).tolist() == elapsed(pre, texts).tolist()


def test_texts_that_are_all_different_are_left_out():
    texts = [f"{number}-{number + 9} EUR or so" for number in range(60)]

    def fit(texts, **more):
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            table = pd.DataFrame({"t": [*texts, None], "x": np.arange(len(texts) + 1.0)})
            return TablePreprocessor(None, **more).fit(table), [str(one.message) for one in said]

    pre, (said,) = fit(texts)
    assert pre.kinds_ == {"t": "empty", "x": "numeric"}
    assert pre.transform(pd.DataFrame({"x": [7.0]})).tolist() == [[7.0]]
    assert "Texts of column 't' are nearly all different, and as categories tell nothing: left out" in said
    assert "An example is '0-9 EUR or so'" in said
    for several, more in ((texts, {"categorical": "t"}), (texts * 3, {}), (texts[:20], {})):  # of 20 one cannot say
        pre, said = fit(several, **more)
        assert pre.kinds_["t"] == "category"
        assert not said
    assert fitted(texts)[0].kinds_ == {"t": "category"}  # there is nothing else


def test_a_few_words_among_numbers_are_missing():
    texts = [str(i / 4) for i in range(50)]
    pre, (said,) = fitted([*texts, "lost"])
    assert "1 value is no number, such as 'lost', and taken as missing" in said
    assert pre.get_feature_names_out().tolist() == ["t", "t_missing"]
    with pytest.raises(ValueError, match="column 't' has a missing value"), pytest.warns(ColumnWarning, match="lost"):
        TablePreprocessor(missing="error").fit(pd.DataFrame({"t": [*texts, "lost"]}))
    steps, said = fitted(["0", "1", "2", "3+"] * 9)  # categories, and nothing to say
    assert steps.kinds_ == {"t": "category"}
    assert not said


def test_numbers_and_texts_in_one_column():  # pandas reads a long CSV in parts, and each has its own type
    pre, _ = fitted(np.array([1, 2.5, "3", "n/a", None], object))
    assert pre.kinds_ == {"t": "numeric"}
    for values in ([True, "1", "0"], [date(2024, 1, 1), "3", "4"], ["3", b"4"]):
        try:
            pre, said = fitted(np.array(values, object))
        except TypeError:
            continue
        assert pre.kinds_ == {"t": "category"}
        assert not said


@pytest.mark.parametrize(
    "codes",
    [["007", "12", "345"], ["01", "02", "12"] * 4, ["10115", "80331", "20095"] * 4, ["8001", "3011", "1200"] * 3],
)
def test_codes_stay_categories(codes):
    pre, (said,) = fitted(codes)
    assert pre.kinds_ == {"t": "category"}
    assert "Texts of digits are taken for codes and stay categories: column 't'" in said
    assert not fitted(codes, categorical="t")[1]


@pytest.mark.parametrize(
    "texts",
    [
        ["1999", "2024", "1987"] * 4,  # years
        ["12000", "45500", "31250"] * 4,  # amounts are round
        [str(10007 + 37 * i) for i in range(50)],  # nothing comes twice: as categories they would be worth nothing
        ["1", "2", "3"] * 4,
        ["0.25", "0.50", "1.75"] * 4,
    ],
)
def test_amounts_and_years_are_numbers(texts):
    assert fitted(texts)[0].kinds_ == {"t": "numeric"}


@pytest.mark.parametrize("dtype", [object, "str", "string", "category"])
def test_every_dtype_of_texts_but_a_declared_category(dtype):
    pre, said = fitted(pd.Series(["1.5", "2.5", "10"], dtype=dtype))
    assert pre.kinds_ == {"t": "category" if dtype == "category" else "numeric"}
    assert bool(said) == (dtype != "category")


@pytest.mark.parametrize("dtype", [pl.String, pl.Categorical, pl.Enum(["1.5", "2.5", "10"])])
def test_texts_of_polars(dtype):
    table = pl.DataFrame({"t": pl.Series(["1.5", "2.5", "10"], dtype=dtype)})
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        pre = TablePreprocessor().fit(table)
    assert pre.kinds_ == {"t": "numeric" if dtype is pl.String else "category"}
    assert bool(said) == (dtype is pl.String)


@quiet
def test_arrays_of_texts():
    for X in (
        np.array([["1.5", "a"], ["2", "b"]]),
        [["1.5", "a"], ["2", "b"]],
        np.array([["1.5", "a"], ["2", "b"]], "T"),
    ):
        assert list(TablePreprocessor().fit(X).kinds_.values()) == ["numeric", "category"]


def test_one_notice_for_each_kind_of_column():
    rows = np.arange(30)
    df = pd.DataFrame(
        {
            "a": pd.Timestamp("2024-01-01") + pd.to_timedelta(rows, unit="D"),
            "b": pd.Timestamp("2020-05-01") + pd.to_timedelta(rows, unit="D"),
            "n": rows / 7,
            "m": rows * 1.5,
        }
    ).astype(str)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        TablePreprocessor().fit(df)
    assert [str(one.message).partition(". ")[0] for one in said] == [
        "Texts are read as dates: columns 'a', 'b'",
        "Texts are read as numbers: columns 'n', 'm'",
    ]
    assert said[0].filename == __file__


# kept, and used by estimators


def csv_table(rows=600, seed=0):
    """A CSV as it comes: the target depends on the day, the number and the missing word."""
    rng = np.random.default_rng(seed)
    day = rng.integers(0, 1500, rows)
    price = rng.uniform(0, 3000, rows)
    df = pd.DataFrame(
        {
            "day": (pd.Timestamp("2020-01-01") + pd.to_timedelta(day, unit="D")).strftime("%d/%m/%Y"),
            "price": [f"{x:,.2f}" if x > 150 else "?" for x in price],
            "shop": rng.choice(["north", "south"], rows),
        }
    )
    y = day / 100 + np.where(price > 150, price / 500, 1.0) + (df["shop"] == "north")
    text = io.StringIO()
    df.to_csv(text, index=False)
    text.seek(0)
    return pd.read_csv(text), y.to_numpy()


SMALL = {"hidden_layer_sizes": (64, 64), "max_iter": 60, "random_state": 0}


@quiet
def test_a_csv_is_learned_from_its_dates_and_numbers(tmp_path):
    X, y = csv_table()
    test, truth = csv_table(300, seed=1)
    model = TabularMLPRegressor(folds=1, **SMALL).fit(X, y)
    assert model.preprocessor_.kinds_ == {"day": "datetime", "price": "numeric", "shop": "category"}
    assert model.score(test, truth) > 0.99
    said = model.predict(test)
    model.save(tmp_path / "model.pel")
    for again in (load(tmp_path / "model.pel"), pickle.loads(pickle.dumps(model))):
        assert_array_equal(again.predict(test), said)
        assert_allclose(again.predict(test.iloc[:1]), said[:1], rtol=1e-5)  # one row: the order of its day is known
    strange = test.assign(day="soon", price="much")
    assert np.isfinite(model.predict(strange)).all()


@quiet
def test_members_of_an_ensemble_read_texts_too():
    X, y = csv_table(300)
    member = TabularMLPRegressor((16,), folds=1, max_iter=10)
    model = BaggedMLPRegressor(member, 2, method="folds", random_state=0).fit(X, y)
    assert all(member.preprocessor_.kinds_["day"] == "datetime" for member in model.estimators_)
    assert np.isfinite(model.predict(X)).all()


def test_an_ensemble_says_it_once():
    X, y = csv_table(300)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        BaggedMLPRegressor(TabularMLPRegressor((8,), folds=1, max_iter=2), 3, random_state=0).fit(X, y)
    texts = [str(one.message) for one in said if one.category is ColumnWarning]
    assert len(texts) == 2
    assert all("2 more members say the like" in text for text in texts)


@quiet
def test_all_rows_tell_the_order_and_training_rows_the_rest():
    days = ["1/2/2024", "3/2/2024", "5/2/2024", "7/2/2024"] * 10 + ["25/2/2024"]
    held = np.arange(40, 41)
    pre, table = TablePreprocessor(None), read_table(pd.DataFrame({"t": days}), "test")
    rows = pre.fit_table(table, rows=np.arange(40))
    assert sorted(set(rows[:, 0])) == [0, 2, 4, 6]
    assert pre.apply_table(table.take(held))[0, 0] == 24


def test_an_estimator_leaves_out_a_column_without_values():
    X, y = csv_table(120)
    X = X[["shop"]].assign(nothing=np.nan, z=np.arange(120.0))
    with pytest.warns(ColumnWarning, match="Column 'nothing' has no values at all"):
        model = TabularMLPClassifier((8,), folds=1, max_iter=3, random_state=0).fit(X, y > y.mean())
    assert_array_equal(model.predict(X), model.predict(X.assign(nothing=1.0)))


@quiet
def test_what_was_learned_goes_through_plain_data_and_is_checked():
    pre, _ = fitted(["1/3/2024", "14/3/2024"])
    data, arrays = pre.to_dict()
    again = TablePreprocessor.from_dict(data, arrays)
    assert elapsed(again, ["2/3/2024"]).tolist() == [1]
    forged = json.loads(json.dumps(data).replace("day first", "os.system"))
    with pytest.raises(TableError, match="how texts are read is not what pellucid writes"):
        TablePreprocessor.from_dict(forged, pre.to_dict()[1])
