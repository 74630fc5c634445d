"""pellucid train: what it writes, says, infers and leaves out."""

import json

import numpy as np
import polars as pl
import pytest
from sklearn.metrics import accuracy_score

import pellucid
from pellucid.cli import main
from pellucid.cli.prepared_table import prepared_table
from pellucid.cli.settings import TrainSettings
from tests.cli.conftest import QUICK, write_houses


def trained(*words):
    main(["train", *map(str, words), *QUICK])


def params(folder):
    fitted = pellucid.load(folder / "model.pel").fitted
    return [array for each in fitted.networks for array in each.model.params.values()]


def test_a_run_folder(run_of_classes, houses):
    files = {path.name for path in run_of_classes.iterdir()}
    assert files == {"model.pel", "metrics.json", "history.csv", "config.toml", "state.json"}
    metrics = json.loads((run_of_classes / "metrics.json").read_text())
    assert metrics["task"] == "classification"
    assert metrics["rows"] == {"training": 192, "test": 48, "without_target": 0}
    assert set(metrics["test"]) == {"network", "linear", "constant"}
    assert metrics["left_out"] == {"id": "every text in it is another one: a name of the row"}
    assert metrics["stage"] == "trained"
    history = pl.read_csv(run_of_classes / "history.csv")
    assert history["epoch"].to_list() == [1, 2, 3]


def test_the_scores_are_those_of_the_saved_model(run_of_classes, houses):
    table = prepared_table(TrainSettings([str(houses)], ["sold"]))
    X, y = table.part(table.testing)
    metrics = json.loads((run_of_classes / "metrics.json").read_text())
    accuracy = accuracy_score(y, pellucid.load(run_of_classes / "model.pel").predict(X))
    assert metrics["test"]["network"]["accuracy"] == pytest.approx(accuracy)


def test_the_screen_tells_what_was_inferred(houses, here, capsys):
    main(["train", str(houses), "-t", "price", *QUICK[:-1]])
    said = capsys.readouterr().out
    assert "regression" in said
    assert "'id' left out" in said
    assert "date" in said  # of texts such as 01.03.1990
    assert "constant" in said
    assert "pellucid predict runs/houses-1" in said
    assert "\x1b" not in said  # not a terminal
    assert (here / "runs" / "houses-1" / "model.pel").exists()


def test_folders_are_numbered(houses, here):
    for _ in range(2):
        trained(houses, "-t", "price", "-e", 1)
    assert sorted(path.name for path in (here / "runs").iterdir()) == ["houses-1", "houses-2"]


def test_json_is_one_object(houses, here, capsys):
    main(["train", str(houses), "-t", "sold", "--json", *QUICK[:-1]])
    outcome = json.loads(capsys.readouterr().out)
    assert outcome["run"] == "runs/houses-1"
    assert outcome["columns"]["district"] == "category"


def test_a_report_is_written(houses, here):
    main(["train", str(houses), "-t", "sold", "-e", "2", "-l", "8", "--quality", "fast", "-q"])
    page = (here / "runs/houses-1/report.html").read_text()
    assert "district" in page
    assert "pellucid train" in page


def test_config_does_the_run_again(run_of_classes, here):
    main(["train", "--config", str(run_of_classes / "config.toml"), "-q"])
    again = here / "runs" / "houses-1"
    assert all(np.array_equal(a, b) for a, b in zip(params(run_of_classes), params(again), strict=True))


def test_options_go_ahead_of_the_config(run_of_classes, here):
    main(["train", "--config", str(run_of_classes / "config.toml"), "--seed", "5", "-o", "other", "-q"])
    assert "seed = 5" in (here / "other/config.toml").read_text()


def test_several_targets(here, tmp_path):
    rng = np.random.default_rng(0)
    x = rng.normal(size=200)
    frame = pl.DataFrame({"x": x, "a": 2 * x + 1, "b": -x + rng.normal(size=200), "p": x > 0, "q": x > 1})
    frame.write_parquet("two.parquet")
    trained("two.parquet", "-t", "a", "-t", "b", "-d", "p", "-d", "q", "-o", "numbers")
    assert json.loads((here / "numbers/metrics.json").read_text())["task"] == "regression"
    trained("two.parquet", "-t", "p", "-t", "q", "-d", "a", "-d", "b", "-o", "labels")
    assert json.loads((here / "labels/metrics.json").read_text())["task"] == "classification"
    main(["predict", "labels", "two.parquet", "-o", "out.csv", "-q"])
    assert pl.read_csv("out.csv").columns == ["predicted_p", "predicted_q", "probability_p", "probability_q"]


def test_a_leak_is_suspected(here, capsys):
    write_houses(here / "houses.csv", extra=("tax",))
    main(["train", "houses.csv", "-t", "price", *QUICK[:-1]])
    assert "--drop 'tax'" in capsys.readouterr().out
    assert list(json.loads((here / "runs/houses-1/metrics.json").read_text())["suspected_leaks"]) == ["tax"]


@pytest.mark.parametrize(
    ("values", "task"),
    [
        (["a", "b"] * 50, "classification"),
        ([True, False] * 50, "classification"),
        ([0, 1] * 50, "classification"),
        ([1.5, 2.5] * 50, "classification"),
        (list(range(10)) * 10, "classification"),
        ([3, 4, 5, 6, 7] * 20, "regression"),  # marks of wine: no codes, they do not begin with 0 or 1
        (list(range(100)), "regression"),
        (np.linspace(0, 1, 100), "regression"),
    ],
)
def test_the_task_is_told_by_the_target(values, task, here):
    pl.DataFrame({"x": np.random.default_rng(0).normal(size=100), "y": values}).write_csv("t.csv")
    assert prepared_table(TrainSettings(["t.csv"], ["y"])).target.task == task


def test_useless_columns_are_left_out(here):
    rng = np.random.default_rng(0)
    frame = pl.DataFrame(
        {
            "row": range(100),
            "name": [f"n{k}x" for k in range(100)],
            "day": [f"2024-{1 + k // 28:02}-{1 + k % 28:02}" for k in range(100)],
            "nothing": [None] * 100,
            "same": ["x"] * 100,
            "x": rng.normal(size=100),
            "y": rng.normal(size=100),
        }
    )
    frame.write_csv("t.csv")
    table = prepared_table(TrainSettings(["t.csv"], ["y"]))
    assert set(table.left_out) == {"row", "name", "nothing", "same"}
    assert table.X.columns == ["day", "x"]  # dates are all different, too, but say something


def test_the_latest_rows_test(here):
    days = [f"{1 + k % 28:02}.{1 + k // 28:02}.2024" for k in range(100)]
    pl.DataFrame({"day": days, "x": range(0, 200, 2), "y": np.arange(100) / 7}).reverse().write_csv("t.csv")
    table = prepared_table(TrainSettings(["t.csv"], ["y"], split="time:day"))
    assert table.target.take(table.testing).min() > table.target.take(table.training).max()


def test_groups_stay_together_and_tell_nothing(here):
    rng = np.random.default_rng(0)
    shop = rng.choice(list("abcdefgh"), 200)
    pl.DataFrame({"shop": shop, "x": rng.normal(size=200), "y": rng.normal(size=200)}).write_csv("t.csv")
    table = prepared_table(TrainSettings(["t.csv"], ["y"], split="group:shop"))
    assert not set(shop[table.training]) & set(shop[table.testing])
    assert table.X.columns == ["x"]


def test_rows_without_a_target_are_left_out(here):
    pl.DataFrame({"x": range(50), "z": range(3, 53), "y": [None, *np.arange(49.0)]}).write_csv("t.csv")
    assert prepared_table(TrainSettings(["t.csv"], ["y"], drop=["x"])).without_target == 1


def test_classes_that_come_later_do_not_test(here):
    kinds = ["old", "older"] * 45 + ["new"] * 10
    pl.DataFrame({"day": range(3, 103), "x": np.sin(np.arange(100)), "y": kinds}).write_csv("t.csv")
    table = prepared_table(TrainSettings(["t.csv"], ["y"], split="time:day"))
    assert table.of_new_classes == 10
    assert set(table.target.take(table.testing)) == {"old", "older"}


def test_some_rows_have_all_classes(here):
    kinds = ["a", "b"] * 98 + ["rare"] * 4
    pl.DataFrame({"x": np.sin(np.arange(200)), "z": np.cos(np.arange(200)), "y": kinds}).write_csv("t.csv")
    table = prepared_table(TrainSettings(["t.csv"], ["y"]))
    assert set(table.target.take(table.some(table.training, 5))) == {"a", "b", "rare"}


def test_rare_classes_do_not_spoil_the_comparison(here, monkeypatch):
    monkeypatch.setattr("pellucid.cli.scores.LINEAR_ROWS", 10)
    kinds = ["a", "b"] * 98 + ["rare"] * 4
    x = np.random.default_rng(0).normal(size=200)
    pl.DataFrame({"x": x, "z": x**2, "y": kinds}).write_csv("t.csv")
    trained("t.csv", "-t", "y", "-o", "run")
    assert json.loads((here / "run/metrics.json").read_text())["test"]["linear"]["log-loss"] > 0
