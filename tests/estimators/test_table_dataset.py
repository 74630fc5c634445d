"""Tables larger than memory: preprocessing learned in passes, with its stated error, and networks trained on them."""

import numpy as np
import pandas as pd
import pytest

from pellucid import TabularMLPClassifier, TabularMLPRegressor
from pellucid.data import dataset
from pellucid.data.dataset import Dataset
from pellucid.data.shares import rank_error
from pellucid.errors import ColumnWarning
from pellucid.estimators import TablePreprocessor
from pellucid.estimators.tables import table_sample
from pellucid.estimators.tables.streamed import TableLearner, fit_streamed

ROWS = 6000


def mixed_table() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "price": rng.lognormal(sigma=2, size=ROWS),
            "size": rng.normal(size=ROWS),
            "few": rng.choice(["u", "v", "w"], ROWS),
            "city": [f"city {n}" for n in rng.zipf(1.5, ROWS) % 500],
            "when": pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 500_000, ROWS), unit="min"),
            "flag": rng.random(ROWS) < 0.3,
        }
    )
    frame.loc[rng.random(ROWS) < 0.05, "price"] = np.nan
    frame.loc[rng.random(ROWS) < 0.05, "few"] = None
    frame["kind"] = np.where((frame["size"] > 0) ^ (frame["few"] == "u"), "yes", "no")
    frame["amount"] = 100 + 10 * np.abs(frame["size"]) + frame["flag"]
    return frame


FRAME = mixed_table()
X = FRAME.drop(columns=["kind", "amount"])


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    path = tmp_path_factory.mktemp("files") / "table.parquet"
    FRAME.to_parquet(path, row_group_size=700)
    return path


def of(files, target):
    return dataset(files, target=target, drop=["kind", "amount"])


@pytest.fixture
def small_samples(monkeypatch):
    monkeypatch.setattr(table_sample, "ROWS", 2000)


@pytest.mark.parametrize("scaling", ["robust", "separate", "standard", "quantile", "whiten"])
def test_a_table_that_fits_into_a_sample_is_learned_as_in_memory(files, scaling):
    data = of(files, "kind")
    streamed = TablePreprocessor(scaling).fit(data)
    rows = np.concatenate(list(streamed.transform_batches(data)))
    np.testing.assert_array_equal(rows, TablePreprocessor(scaling).fit_transform(X))
    assert (
        streamed.get_feature_names_out().tolist() == TablePreprocessor(scaling).fit(X).get_feature_names_out().tolist()
    )


def test_a_sample_has_the_stated_rank_error_and_all_categories(files, small_samples):
    data = of(files, "kind")
    streamed, whole = TablePreprocessor("robust").fit(data), TablePreprocessor("robust").fit(X)
    assert streamed.categories_ == whole.categories_
    assert streamed.kinds_ == whole.kinds_
    sample = table_sample.sampled_table(data, "test")
    assert 1700 < sample.table.rows < 2300
    assert sample.rows == ROWS
    price = np.sort(X["price"].dropna())
    drawn = np.asarray(sample.table.columns[sample.table.names.index("price")], float)
    for share in (0.25, 0.5, 0.75):
        rank = np.searchsorted(price, np.nanquantile(drawn, share)) / len(price)
        assert abs(rank - share) < rank_error(int(np.sum(~np.isnan(drawn))))


def test_of_too_many_levels_the_frequent_ones_are_kept(files, small_samples, monkeypatch):
    monkeypatch.setattr("pellucid.estimators.tables.table_sample.Levels", lambda: table_sample_levels(50))
    with pytest.warns(ColumnWarning, match=r"More levels than are counted: column 'city'. Of 'city' the \d+ most"):
        streamed = TablePreprocessor().fit(of(files, "kind"))
    counts = X["city"].value_counts()
    assert set(counts.index[counts > ROWS / 50]) <= set(streamed.categories_["city"])
    assert len(streamed.categories_["city"]) <= 50
    assert streamed.categories_["few"] == ["u", "v", "w"]


def table_sample_levels(most):
    from pellucid.data.levels import Levels

    return Levels(most)


def streamed(estimator, data, **more):
    """What `fit` does with a Dataset."""
    learner = TableLearner(
        lambda y, weights: estimator._target(estimator._checked_target(y), weights),
        estimator._new_preprocessor(10_000),
        estimator._views,
        estimator._recipe,
    )
    table = fit_streamed(estimator, learner, data, **more)
    estimator.__dict__.update(preprocessor_=table.preprocessor, n_samples_in_=table.rows)
    return estimator.with_fitted(table.fitted, table.preprocessor)


SMALL = {"quality": "fast", "max_iter": 8, "random_state": 0, "threads": 1}


def test_classes_of_a_table(files, small_samples):
    clf = streamed(TabularMLPClassifier((32,), **SMALL), of(files, "kind"))
    assert clf.score(X, FRAME["kind"]) > 0.9
    assert clf.n_samples_in_ == ROWS
    likely = np.concatenate(list(clf.predict_batches(files, "predict_proba")))
    np.testing.assert_allclose(likely, clf.predict_proba(X), rtol=1e-5, atol=1e-6)


def test_numbers_of_a_table_with_importances(files, small_samples):
    reg = TabularMLPRegressor((32,), numbers="plain", importances=True, **SMALL)
    streamed(reg, of(files, "amount"))
    assert reg.score(X, FRAME["amount"]) > 0.9
    assert np.argmax(reg.feature_importances_) == list(reg.feature_names_in_).index("size")


def test_validation_data_of_a_table(files, small_samples):
    few = SMALL | {"max_iter": 1}
    first = streamed(TabularMLPClassifier((16,), **few), of(files, "kind"), X_val=of(files, "kind"))
    second = streamed(TabularMLPClassifier((16,), **few), of(files, "kind"), X_val=X, y_val=FRAME["kind"])
    np.testing.assert_allclose(first.validation_scores_, second.validation_scores_, rtol=1e-5)


def test_an_infinite_number_is_told_with_its_file(tmp_path, small_samples):
    path = tmp_path / "table.parquet"
    FRAME.assign(size=FRAME["size"].where(FRAME.index != 5000, np.inf)).to_parquet(path, row_group_size=700)
    with pytest.raises(ValueError, match=r"table.parquet: column 'size' has an infinite value in row 100"):
        streamed(TabularMLPClassifier((16,), **SMALL), of(path, "kind"))
    with pytest.raises(TypeError, match="here rows are wanted that are in memory"):
        TablePreprocessor().fit(X).transform(of(path, "kind"))


def test_folds_are_for_rows_in_memory(files):
    with pytest.raises(ValueError, match="folds=3: of a Dataset there is one network of each kind"):
        TabularMLPClassifier(folds=3).fit(of(files, "kind"))


def noted_splits(monkeypatch):
    """Keeps the two sides of every split that a fit makes."""
    sides = []
    split = Dataset.split

    def noting(self, share, **more):
        parts = split(self, share, **more)
        if more.get("groups") or more.get("time"):
            sides.append(parts)
        return parts

    monkeypatch.setattr(Dataset, "split", noting)
    return sides


def values_of(data, column):
    return pd.concat([part.X.to_pandas() for part in data.select([column]).parts()])[column]


def test_groups_of_a_table_are_held_out_whole(files, small_samples, monkeypatch):
    sides = noted_splits(monkeypatch)
    clf = TabularMLPClassifier((16,), **(SMALL | {"max_iter": 2})).fit(of(files, "kind"), groups="city")
    (training, held), *_ = sides
    assert not set(values_of(training, "city")) & set(values_of(held, "city"))
    assert len(values_of(held, "city")) > 300
    assert "city" not in clf.feature_names_in_
    np.testing.assert_array_equal(clf.predict(X), clf.predict(X.drop(columns="city")))  # no feature, and may be there


def test_the_latest_rows_of_a_table_are_held_out(files, small_samples, monkeypatch):
    sides = noted_splits(monkeypatch)
    reg = TabularMLPRegressor((16,), **(SMALL | {"max_iter": 2})).fit(of(files, "amount"), time="when")
    (training, held), *_ = sides
    assert values_of(training, "when").max() < values_of(held, "when").min()
    assert "when" in reg.feature_names_in_


def test_groups_and_times_of_a_data_set_are_names(files):
    with pytest.raises(TypeError, match="groups of a Dataset is the name of a column"):
        TabularMLPClassifier().fit(of(files, "kind"), groups=FRAME["city"])
    with pytest.raises(ValueError, match="time='whem' names a column that is not there"):
        TabularMLPClassifier(**SMALL).fit(of(files, "kind"), time="whem")
