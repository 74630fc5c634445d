"""What a training computes with is there when its table has been read."""

import numpy as np
import polars as pl
import pytest

from pellucid.cli import early_kernels
from pellucid.cli.failures import Failure
from pellucid.cli.prepared_table import first_of_table, prepared_table
from pellucid.cli.settings import TrainSettings
from pellucid.cli.unfitted_estimator import unfitted
from pellucid.data import table_files
from pellucid.estimators.warmup import warmup_fit
from pellucid.train import shared_graphs

ROWS = 3000


@pytest.fixture
def path(tmp_path, monkeypatch):
    rng = np.random.default_rng(0)
    columns = {name: rng.normal(size=ROWS).round(3) for name in "abc"}
    colour = rng.choice(["red", "green", "blue"], ROWS)
    pl.DataFrame(columns | {"colour": colour, "y": columns["a"] * columns["b"]}).write_csv(tmp_path / "table.csv")
    monkeypatch.setattr(table_files, "LARGE", 1)
    monkeypatch.setattr(table_files, "START", 20_000)
    return tmp_path / "table.csv"


def test_first_rows_tell_the_columns_and_how_many_rows_there_are(path):
    first = first_of_table(TrainSettings([str(path)], ["y"]))
    assert first.X.columns == ["a", "b", "c", "colour"]
    assert 100 < first.X.height < 1500
    assert first.rows == pytest.approx(0.8 * ROWS, rel=0.05)
    whole = pl.read_csv(path)["y"]
    np.testing.assert_array_equal(first.target.values, whole[: first.X.height].to_numpy())


def test_small_and_packed_tables_are_read_as_a_whole(path, tmp_path, monkeypatch):
    pl.read_csv(path).write_parquet(tmp_path / "table.parquet")
    assert first_of_table(TrainSettings([str(tmp_path / "table.parquet")], ["y"])) is None
    monkeypatch.setattr(table_files, "LARGE", 1 << 30)
    assert first_of_table(TrainSettings([str(path)], ["y"])) is None


def test_a_fit_takes_up_the_steps_that_were_recorded_for_some_of_its_rows(path):
    settings = TrainSettings([str(path)], ["y"], epochs=2, quality="fast")
    table = prepared_table(settings)
    first = first_of_table(settings)
    shared_graphs._known.clear()
    warmup_fit(unfitted(settings, first.target), first.X, first.target.values, first.rows)
    recorded = dict(shared_graphs._known)
    assert recorded
    unfitted(settings, table.target).fit(*table.part(table.training))
    steps = [graph for (task, _, _), graph in shared_graphs._known.items() if task[0] == "step"]
    assert any(graph is one for graph in steps for one in recorded.values())


def test_what_is_fitted_does_not_depend_on_it(path):
    settings = TrainSettings([str(path)], ["y"], epochs=2, quality="fast", seed=3)
    table = prepared_table(settings)
    X, y = table.part(table.training)
    alone = unfitted(settings, table.target).fit(X, y).predict(X)
    with early_kernels.kernels_meanwhile(settings):
        pass
    np.testing.assert_array_equal(unfitted(settings, table.target).fit(X, y).predict(X), alone)


def test_what_is_wrong_is_told_by_the_reading_alone(path):
    settings = TrainSettings([str(path)], ["no such column"])
    with early_kernels.kernels_meanwhile(settings):
        pass
    with pytest.raises(Failure, match="no such column"), early_kernels.kernels_meanwhile(settings):
        prepared_table(settings)
