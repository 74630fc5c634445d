"""Texts as codes say what the texts themselves say."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

from pellucid.estimators import TablePreprocessor
from pellucid.estimators.tables.coded_texts import as_objects, category_codes, coded, factorized, is_coded, levels_of
from pellucid.estimators.tables.columns import read_table, truths

ROWS = 4000


@pytest.fixture(params=[3, 126, 127, 128, 300])
def words(request):
    """As many different texts, and missing ones; codes of some of these numbers are of another dtype."""
    rng = np.random.default_rng(0)
    texts = np.array([*(f"word {place}" for place in range(request.param)), None], object)
    return texts[rng.integers(0, len(texts), ROWS)]


def test_both_forms_are_the_same(words):
    column = read_table(pl.DataFrame({"word": words.tolist()}), "test").columns[0]
    assert is_coded(column)
    for own, texts in ((column, words), (column[5:300], words[5:300]), (column[::7], words[::7])):
        assert as_objects(own).tolist() == texts.tolist()
        assert levels_of(own) == set(texts.tolist())
        of_row, distinct = factorized(own)
        of_text, expected = factorized(texts)
        assert distinct == expected
        np.testing.assert_array_equal(of_row, of_text)
        places = {f"word {place}": place for place in range(0, 300, 2)}
        np.testing.assert_array_equal(category_codes(places, own), category_codes(places, texts))


@pytest.mark.parametrize("one_hot_max", [8, 1000])
def test_rows_of_a_table_do_not_depend_on_the_form(words, one_hot_max):
    x = np.arange(ROWS) % 7.0
    frame, objects = pl.DataFrame({"word": words.tolist(), "x": x}), pd.DataFrame({"word": words, "x": x})
    pre, plain = (TablePreprocessor(one_hot_max=one_hot_max).fit(one) for one in (frame, objects))
    assert pre.categories_ == plain.categories_
    np.testing.assert_array_equal(pre.transform(frame), plain.transform(objects))
    few = pl.DataFrame({"word": ["word 1", "unheard of", None] * 10, "x": [1.0] * 30})
    np.testing.assert_array_equal(pre.transform(few), plain.transform(few.to_pandas()))


def test_nothing_but_missing_texts():
    column = coded([None], np.zeros(50, int))
    assert levels_of(column) == {None}
    assert factorized(column)[1] == []
    assert as_objects(column).tolist() == [None] * 50


def test_texts_that_are_truths():
    column = coded(["1", "False", None], np.array([0, 1, 2, 0]))
    assert truths("x", column).tolist() == ["True", "False", None, "True"]
