"""Tables larger than memory: streamed by --stream or by their sizes, trained, tested and predicted as others."""

import json
from datetime import date, timedelta

import numpy as np
import polars as pl
import pytest

from pellucid.cli import larger_than_memory, main
from pellucid.cli.prepared_table import prepared_table
from pellucid.cli.settings import TrainSettings
from tests.cli.conftest import QUICK

pytest.importorskip("pyarrow")


@pytest.fixture
def parts(here):
    """Two files of each form."""
    rng = np.random.default_rng(0)
    for number in range(2):
        x, town = rng.normal(size=400), rng.choice(["Bern", "Basel"], 400)
        frame = pl.DataFrame(
            {
                "x": x,
                "town": town,
                "day": [date(2024, 1, 1) + timedelta(days=int(days)) for days in rng.integers(0, 300, 400)],
                "same": "always",
                "sold": np.where(x + (town == "Bern") + 0.3 * rng.normal(size=400) > 0.5, "yes", "no"),
                "price": 3 * x + 0.1 * rng.normal(size=400),
            }
        )
        frame.write_parquet(f"part{number}.parquet", row_group_size=100)
        frame.write_csv(f"part{number}.csv")
    return here


def test_a_run(parts, capsys):
    words = ["part*.parquet", "-t", "sold", "-d", "price", "--stream", "-o", "run"]
    main(["train", *words, *QUICK[:-1], "-l", "16", "-e", "8"])
    said = capsys.readouterr().out
    assert "800 rows, 3 columns to tell by, streamed" in said
    assert "'same' left out" in said
    metrics = json.loads((parts / "run/metrics.json").read_text())
    assert metrics["streamed"]
    assert metrics["rows"]["training"] + metrics["rows"]["test"] == 800
    assert 100 < metrics["rows"]["test"] < 220
    assert metrics["test"]["network"]["accuracy"] > metrics["test"]["constant"]["accuracy"] + 0.1
    main(["predict", "run", "part0.parquet", "-o", "out.csv", "-q"])
    right = pl.read_csv("out.csv")["predicted_sold"] == pl.read_parquet("part0.parquet")["sold"]
    assert right.sum() > 0.8 * len(right)


def test_the_same_run_again(parts):
    for name in ("one", "two"):
        main(["train", "part*.csv", "-t", "price", "-d", "sold", "--stream", "-o", name, *QUICK])
    main(["predict", "one", "part0.csv", "-o", "one.csv", "-q"])
    main(["predict", "two", "part0.csv", "-o", "two.csv", "-q"])
    assert (parts / "one.csv").read_text() == (parts / "two.csv").read_text()


def test_rows_that_test_do_not_train(parts):
    table = prepared_table(TrainSettings(["part*.parquet"], ["price"], stream=True))
    assert table.stream is not None
    trained = {float(price) for part in table.stream.data.parts() for price in part.target}
    tested = set(table.target.take(table.testing).tolist())
    assert len(trained) + len(tested) == 800
    assert not trained & tested
    assert set(table.target.take(table.training).tolist()) <= trained


def test_the_size_decides(parts, monkeypatch, capsys):
    assert not larger_than_memory.is_streamed([parts / "part0.csv"], None)
    with monkeypatch.context() as small:
        small.setattr(larger_than_memory, "available_memory", lambda: 1000.0)
        assert larger_than_memory.is_streamed([parts / "part0.csv"], None)
        assert not larger_than_memory.is_streamed([parts / "part0.csv"], False)
        main(["train", "part*.csv", "-t", "price", "-d", "sold", "-o", "run", *QUICK[:-1]])
        assert "larger than memory: streamed" in " ".join(capsys.readouterr().out.split())
        main(["predict", "run", "part0.csv", "-o", "parts.parquet", "-q"])
    main(["predict", "run", "part0.csv", "-o", "whole.parquet", "-q"])
    in_parts, at_once = (pl.read_parquet(f"{name}.parquet").to_numpy() for name in ("parts", "whole"))
    np.testing.assert_allclose(in_parts, at_once, rtol=1e-5)


def test_dates_of_a_csv_are_those_of_parquet(parts):
    main(["train", "part*.parquet", "-t", "price", "-d", "sold", "-o", "run", *QUICK])
    for suffix in ("parquet", "csv"):
        main(["predict", "run", f"part0.{suffix}", "-o", f"of_{suffix}.csv", "-q"])
    assert (parts / "of_parquet.csv").read_text() == (parts / "of_csv.csv").read_text()


def test_what_is_not_streamed_is_told(parts, refused):
    pl.read_csv("part0.csv").write_ndjson("rows.jsonl")
    assert "rows.jsonl" in refused("train", "rows.jsonl", "-t", "sold", "--stream")
    assert "did you mean 'price'" in refused("train", "part*.csv", "-t", "prise", "--stream")
    frame = pl.read_csv("part0.csv").with_columns(flag=pl.col("x") > 0, other=pl.col("price") > 0)
    frame.write_csv("labels.csv")
    assert "--no-stream" in refused("train", "labels.csv", "-t", "flag", "-t", "other", "--stream")


def test_groups_and_time_keep_rows_apart(parts, capsys):
    table = prepared_table(TrainSettings(["part*.parquet"], ["price"], stream=True, split="group:day", drop=["sold"]))
    assert "day" not in table.X.columns
    days = table.stream.data.select(["day"])
    trained = {day for part in days.parts() for day in part.X["day"].to_list()}
    everything = pl.read_parquet("part*.parquet")
    tested = everything.filter(pl.col("price").is_in(table.target.take(table.testing).tolist()))
    assert not trained & set(tested["day"])
    assert 100 < len(table.testing) < 220
    latest = prepared_table(TrainSettings(["part*.csv"], ["price"], stream=True, split="time:day", drop=["sold"]))
    first = latest.X[latest.testing]["day"].min()
    assert all(part.X["day"].to_list()[0] is not None for part in latest.stream.data.select(["day"]).parts())
    assert max(day for part in latest.stream.data.select(["day"]).parts() for day in part.X["day"].to_list()) < first


@pytest.mark.parametrize("split", ["group:town2", "time:day"])
def test_a_run_by_groups_or_time(parts, split):
    for number in range(2):
        frame = pl.read_parquet(f"part{number}.parquet")
        frame.with_columns(town2=pl.int_range(frame.height) % 40).write_parquet(f"part{number}.parquet")
    words = ["part*.parquet", "-t", "price", "-d", "sold", "--stream", "--split", split, *QUICK]
    for name in ("one", "two"):
        main(["train", *words, "-o", name])
        main(["predict", name, "part0.parquet", "-o", f"{name}.csv", "-q"])
    assert (parts / "one.csv").read_text() == (parts / "two.csv").read_text()


def test_what_a_stream_cannot_be_split_by(parts, refused):
    assert "did you mean 'day'" in refused("train", "part*.csv", "-t", "price", "--stream", "--split", "time:dayy")
    pl.read_csv("part0.csv").with_columns(day=pl.lit("soon")).write_csv("soon.csv")
    assert "no ISO date" in refused("train", "soon.csv", "-t", "price", "--stream", "--split", "time:day")
