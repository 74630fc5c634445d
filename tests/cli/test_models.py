"""Trained models, used: predict, evaluate, inspect, report, compare, tune."""

import json

import numpy as np
import polars as pl
import pytest

import pellucid
from pellucid.cli import main


def test_predictions_are_those_of_the_model(run_of_classes, houses, here):
    main(["predict", str(run_of_classes), str(houses), "-o", "out.csv", "--keep", "id", "-q"])
    answers, table = pl.read_csv("out.csv"), pl.read_csv(houses)
    assert answers.columns == ["id", "predicted_sold", "probability_no", "probability_yes"]
    model = pellucid.load(run_of_classes / "model.pel")
    chances = model.predict_proba(table.select(model.feature_names_in_.tolist()))
    np.testing.assert_allclose(answers["probability_yes"], chances[:, 1], rtol=1e-6)


def test_they_are_printed_without_a_file(run_of_numbers, houses, capsys):
    main(["predict", str(run_of_numbers / "model.pel"), str(houses), "--interval", "0.9"])
    answers = pl.read_csv(capsys.readouterr().out.encode())
    assert answers.columns == ["predicted_price", "low_price", "high_price"]
    assert (answers["low_price"] < answers["high_price"]).all()


@pytest.mark.parametrize("suffix", ["tsv", "parquet", "feather", "jsonl"])
def test_forms_of_predictions(run_of_numbers, houses, here, suffix):
    from pellucid.data.table_files import form_of

    main(["predict", str(run_of_numbers), str(houses), "-o", f"out.{suffix}", "--keep-all", "-q"])
    assert form_of(f"out.{suffix}").read(here / f"out.{suffix}", "").height == 240


def test_parts_are_one(run_of_numbers, houses, here, monkeypatch):
    main(["predict", str(run_of_numbers), str(houses), "-o", "whole.csv", "-q"])
    monkeypatch.setattr("pellucid.cli.predict.CHUNK", 50)
    main(["predict", str(run_of_numbers), str(houses), "-o", "parts.csv", "-q"])
    whole, parts = (pl.read_csv(f"{name}.csv").to_numpy() for name in ("whole", "parts"))
    np.testing.assert_allclose(whole, parts, rtol=1e-5)


def test_columns_go_by_name(run_of_classes, houses, here, capsys, refused):
    frame = pl.read_csv(houses)
    frame.select(reversed(frame.columns)).with_columns(new=1).write_csv("other.csv")
    main(["predict", str(run_of_classes), str(houses), "-o", "a.csv", "-q"])
    main(["predict", str(run_of_classes), "other.csv", "-o", "b.csv"])
    assert "'new'" in capsys.readouterr().out
    assert (here / "a.csv").read_text() == (here / "b.csv").read_text()
    frame.drop("size").write_csv("less.csv")
    assert "less.csv has no 'size', which the model needs" in refused("predict", run_of_classes, "less.csv")


def test_wrong_options_of_predict(run_of_classes, houses, refused):
    assert "--interval" in refused("predict", run_of_classes, houses, "--interval", "0.9")
    assert "suffix" in refused("predict", run_of_classes, houses, "-o", "out.xls")
    assert "--keep 'nothing'" in refused("predict", run_of_classes, houses, "--keep", "nothing")


def test_evaluate(run_of_classes, houses, here, capsys, refused):
    main(["evaluate", str(run_of_classes), str(houses), "--json"])
    scores = json.loads(capsys.readouterr().out)["scores"]
    model, table = pellucid.load(run_of_classes / "model.pel"), pl.read_csv(houses)
    right = model.predict(table.select(model.feature_names_in_.tolist())) == table["sold"].to_numpy()
    assert scores["accuracy"] == pytest.approx(right.mean())
    pl.read_csv(houses).drop("sold").write_csv("new.csv")
    assert "'sold' is no column" in refused("evaluate", run_of_classes, "new.csv")


def test_a_file_alone_needs_the_target(run_of_classes, houses, here, capsys):
    (here / "moved.pel").write_bytes((run_of_classes / "model.pel").read_bytes())
    main(["evaluate", "moved.pel", str(houses), "-t", "sold", "--json"])
    assert "accuracy" in json.loads(capsys.readouterr().out)["scores"]


def test_inspect(run_of_classes, houses, capsys):
    main(["inspect", str(run_of_classes), str(houses)])
    said = capsys.readouterr().out
    assert "hidden1" in said
    assert "district" in said
    assert said.count("-8-1 ") <= 2  # a line for a kind, not for a network
    main(["inspect", str(run_of_classes), "--json"])
    facts = json.loads(capsys.readouterr().out)
    assert facts["classes"] == ["no", "yes"]
    assert facts["networks"][0]["epochs"] == 3


def test_report(run_of_classes, here):
    main(["report", str(run_of_classes), "-o", "page.html", "-q"])
    assert "<html" in (here / "page.html").read_text()[:300]


def test_compare(run_of_classes, run_of_numbers, houses, here, capsys, refused):
    pytest.importorskip("matplotlib")
    main(["train", "--config", str(run_of_classes / "config.toml"), "--rate", "0.001", "-o", "slow", "-q"])
    main(["compare", str(run_of_classes), "slow", "-o", "curves.svg"])
    said = capsys.readouterr().out
    assert "0.001" in said
    assert "x slow" in said
    assert "slow" in (here / "curves.svg").read_text()
    assert "two runs" in refused("compare", run_of_classes)
    assert "different targets" in refused("compare", run_of_classes, run_of_numbers)


def test_tune(houses, here, capsys):
    pytest.importorskip("optuna")
    main(["tune", str(houses), "-t", "sold", "--trials", "2", "-o", "best", "--json"])
    outcome = json.loads(capsys.readouterr().out)
    assert outcome["trials"] == 2
    assert pl.read_csv("best/trials.csv").height == 2
    words = ["tune", str(houses), "-t", "sold", "--storage", "sqlite:///search.db", "--json"]
    main([*words, "--trials", "1", "-o", "one"])
    main([*words, "--trials", "2", "-o", "two"])  # goes on with the same search
    assert pl.read_csv("two/trials.csv")["trial"].to_list() == [0, 1]
    main(["predict", "best", str(houses), "-o", "out.csv", "-q"])
