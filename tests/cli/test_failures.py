"""What can go wrong: one line, exit code 2, nothing lost."""

import json
import os
import resource
import subprocess
import sys

import polars as pl
import pytest

from pellucid.cli import main
from tests.cli.conftest import QUICK, write_houses

ROWS = "".join(f"{k % 7},{k % 3},{k}\n" for k in range(60))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "is empty"),
        ("a,b,y\n", "has no rows"),
        ("y\n1\n2\n", "one column only"),
        (f"a,b,y\n{ROWS}1,2\n", "line 62 has 2 cells, the first line has 3"),
        (f"a,b,y\n{ROWS}1,2,3,4\n", "line 62 has 4 cells"),
        (f"a,a,y\n{ROWS}", "several columns of one name, 'a'"),
        (f"a,b,y\n{ROWS}inf,1,2\n", "column 'a' is infinite in row 61"),
        ("a,b,y\n" + "1,2,3\n" * 40, "is 3 in all 40 rows"),
        ("a,b,y\n" + "".join(f"{k},1,no\n" for k in range(40)), "in all 40 rows"),
        ("a,y\n" + "".join(f"{k % 3},word{k}\n" for k in range(40)), "too many for classes"),
        ("a,b,y\n1,2,3\n", "10 are needed"),
        (f"a,b,z\n{ROWS}", "--target 'y' is no column"),
        (f'a,b,y\n{ROWS}1,"2,3\n4,5,6\n', "line 62 has a quote that is not closed"),
        ("a;y\n" + "".join(f"{k};{k},5\n" for k in range(60)) + "1;few\n", "holds numbers, and 'few', which is none"),
    ],
)
def test_tables(text, said, here, refused):
    (here / "t.csv").write_text(text)
    assert said in refused("train", "t.csv", "--target", "y")
    assert not (here / "runs").exists()


def test_a_wrong_encoding(here, refused):
    (here / "t.csv").write_bytes(b"a,b,y\n" + ROWS.encode() + "grün,1,2\n".encode("latin-1"))
    assert "not written in UTF-8: byte 0xfc in line 62" in refused("train", "t.csv", "-t", "y")


def test_standard_input_is_no_file(here, refused):
    for name in ("-", "/dev/stdin"):
        assert "a table is read from a file" in refused("train", name, "-t", "y")


def test_columns_that_hold_lists_can_be_dropped(here, refused):
    frame = pl.DataFrame({"a": [k * 3 % 11 for k in range(60)], "y": [float(k % 7) + 0.5 for k in range(60)]})
    frame.with_columns(both=pl.concat_list("a", "a")).write_parquet("t.parquet")
    assert "column 'both' holds List(Int64)" in refused("train", "t.parquet", "-t", "y")
    main(["train", "t.parquet", "-t", "y", "--drop", "both", *QUICK])


def test_a_target_with_decimal_commas(here, capsys):
    lines = [f"{k % 7},5;{k * 3 % 11};{(k % 7) * 2},25" for k in range(120)]
    (here / "t.csv").write_text("a;b;y\n" + "\n".join(lines) + "\n")
    main(["train", "t.csv", "-t", "y", "--out", "run", *QUICK[:-1]])
    said = " ".join(capsys.readouterr().out.split())
    assert "target y: a number, 0.25 to 12.25" in said
    assert "regression" in said
    main(["evaluate", "run", "t.csv", "--json"])
    assert json.loads(capsys.readouterr().out)["rows"] == 120


def test_a_missing_file(here, refused):
    assert "nothing.csv: there is no such file" in refused("train", "nothing.csv", "-t", "y")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "which column is to be predicted?"),
        (("-t", "pricee"), "did you mean 'price'?"),
        (("-t", "price", "--drop", "x"), "--drop 'x' is no column"),
        (("-t", "price", "--split", "sometimes"), "random, time:COLUMN or group:COLUMN"),
        (("-t", "price", "--split", "time:when"), "'when' is no column"),
        (("-t", "price", "--layers", "many"), "--layers"),
        (("-t", "price", "--test", "2"), "--test"),
        (("-t", "district", "--task", "regression"), "is to be a number, but holds"),
        (("-t", "price", "-t", "sold"), "of two kinds"),
        (("-t", "price", "--activation", "rello"), "rello"),
        (("-t", "price", "--rule", "adan"), "did you mean 'adam'"),
        (("-t", "price", "--schedule", "cosin"), "did you mean 'cosine'"),
        (("-t", "Price"), "did you mean 'price'?"),
        (("-t", "price", "--metric", "accuracy"), "accuracy is for classes"),
        (("-t", "price", "--loss", "hubber"), "did you mean 'huber'"),
        (("-t", "price", "--stream", "--split", "time:built"), "no ISO date such as"),
        (
            ("-t", "price", "--stream", "--folds", "5"),
            "--folds 5: of a streamed table there is one network of each kind",
        ),
    ],
)
def test_options(words, said, houses, here, refused):
    assert said in refused("train", houses, *words)
    assert not (here / "runs").exists()


def test_a_config_that_is_none(here, refused):
    (here / "c.toml").write_text("epochs = [")
    assert "is no TOML" in refused("train", "--config", "c.toml")
    (here / "c.toml").write_text("epoch = 3")
    assert "did you mean 'epochs'" in refused("train", "--config", "c.toml")
    (here / "c.toml").write_text('target = "price"')
    assert "expected a list of texts" in refused("train", "--config", "c.toml")


def test_a_folder_that_holds_a_run(run_of_classes, houses, refused):
    assert "holds a run already" in refused("train", houses, "-t", "sold", "-o", run_of_classes)


@pytest.mark.skipif(not os.path.isdir("/sys/kernel"), reason="a folder that not even root writes to")
def test_a_folder_that_may_not_be_written(houses, refused):
    said = refused("train", houses, "-t", "sold", "-o", "/sys/kernel/run")
    assert "/sys/kernel/run cannot be made" in said
    assert "--out" in said


def test_a_file_in_the_way(houses, here, refused):
    (here / "taken").write_text("")
    assert "--out" in refused("train", houses, "-t", "sold", "-o", "taken/run")


def test_a_full_disk(here):
    """Files may not grow: the model cannot be written, and what was there is."""
    write_houses(here / "houses.csv", rows=60)
    program = f"from pellucid.cli import main; main(['train', 'houses.csv', '-t', 'sold', '-o', 'run', *{QUICK!r}])"
    limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (5000, 5000))
    done = subprocess.run(
        [sys.executable, "-c", program], preexec_fn=limit, capture_output=True, text=True, check=False
    )
    assert done.returncode == 2, done.stderr
    assert "there is no room" in done.stderr
    assert done.stderr.count("\n") == 1
    assert (here / "run/config.toml").exists()
    assert not (here / "run/model.pel").exists()
    main(["train", "--resume", "run", "-q"])  # there is room again
    assert (here / "run/model.pel").exists()


def test_a_damaged_model(run_of_classes, houses, here, refused):
    raw = bytearray((run_of_classes / "model.pel").read_bytes())
    (here / "cut.pel").write_bytes(raw[: len(raw) // 2])
    assert "cut.pel" in refused("predict", "cut.pel", houses)
    assert "no such model" in refused("predict", "none.pel", houses)
    raw[-5] ^= 1
    (here / "changed.pel").write_bytes(raw)
    assert "damaged" in refused("evaluate", "changed.pel", houses)


def test_predictions_stay_away_from_a_full_disk(run_of_numbers, houses, here):
    """The file of before is there still, and nothing else."""
    (here / "out.csv").write_text("before")
    program = (
        f"from pellucid.cli import main; main(['predict', {str(run_of_numbers)!r}, {str(houses)!r}, '-o', 'out.csv'])"
    )
    limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
    ended = subprocess.run(
        [sys.executable, "-c", program], preexec_fn=limit, capture_output=True, text=True, check=False
    )
    assert ended.returncode == 2, ended.stderr
    assert "there is no room left" in ended.stderr
    assert [path.name for path in here.iterdir()] == ["out.csv"]
    assert (here / "out.csv").read_text() == "before"


def test_what_is_odd_is_handled_and_said(here, capsys):
    """Nothing but missing values, a name of the row, a column that gives the target away: exit code 0."""
    lines = [f"{k},{k % 7},{k * 3 % 11},,n{k}x,{2 * (k * 3 % 11)}" for k in range(120)]
    (here / "t.csv").write_text("row,a,b,nothing,name,y\n" + "\n".join(lines) + "\n")
    main(["train", "t.csv", "-t", "y", *QUICK[:-1]])
    said = " ".join(capsys.readouterr().out.split())
    assert "'nothing' left out: nothing in it but missing values" in said
    assert "'name' left out: every text in it is another one" in said
    assert "'row' left out: it counts the rows" in said
    assert "'b' alone tells 100.0% of the target" in said
    assert "--drop 'b'" in said


def test_debug_shows_where(here):
    with pytest.raises(ValueError, match="no such file"):
        main(["train", "nothing.csv", "-t", "y", "--debug"])


def test_errors_for_machines(here, capsys):
    with pytest.raises(SystemExit):
        main(["train", "nothing.csv", "-t", "y", "--json"])
    assert '"exit_code": 2' in capsys.readouterr().out
