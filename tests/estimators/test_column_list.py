"""The columns that a model wants, and a row of examples that it takes."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal

from pellucid.estimators.column_list import columns_of, example_arrays, optional_columns, rows_of
from tests.serve.served import KINDS, QUICK, model, table


@pytest.mark.parametrize("kind", KINDS)
def test_examples_can_be_predicted(kind):
    columns = columns_of(model(kind))
    rows = rows_of(model(kind), columns, example_arrays(columns, 3))
    assert len(model(kind).predict(rows)) == 3


def test_a_table_that_has_been_read_is_as_good_as_a_frame():
    frame = table()
    arrays = {name: frame[name].to_numpy(object) for name in frame if name != "nothing"}
    arrays |= {"age": frame["age"].to_numpy(), "since": frame["since"].to_numpy()}
    rows = rows_of(model("table classes"), columns_of(model("table classes")), arrays)
    assert_array_equal(model("table classes").predict_proba(rows), model("table classes").predict_proba(frame))


def test_columns_of_a_table():
    columns = {column.name: column for column in columns_of(model("table classes"))}
    assert list(columns) == list(table().columns)
    assert columns["town"].categories == ("Bern", "Bonn")
    assert columns["price"].texts is not None
    assert columns["nothing"].kind == "empty"
    assert columns["since"].example == np.datetime64("2024-01-01T00:00:00")
    assert columns["age"].example == pytest.approx(np.nanmedian(table()["age"]), abs=10)
    assert all(column.missing for column in columns.values())


@pytest.mark.filterwarnings("ignore")
def test_a_column_of_groups_may_be_there():
    import pellucid as pel

    frame = pd.DataFrame({"a": np.arange(60.0), "shop": np.arange(60) % 5})
    regressor = pel.TabularMLPRegressor(quality="fast", **QUICK).fit(frame, frame["a"], groups="shop")
    assert [column.name for column in columns_of(regressor)] == ["a"]
    assert optional_columns(regressor) == {"shop"}
