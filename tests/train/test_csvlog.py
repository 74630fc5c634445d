"""The CSV log: what is read back is what was written, at any moment, with columns that come later."""

import csv
import math
import os
from contextlib import closing

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pellucid.train.callbacks.loggers import CsvLog


def rows(path):
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_every_row_is_there_at_once(tmp_path):
    log = CsvLog(tmp_path / "log.csv")
    assert not log.path.exists()
    for epoch in range(1, 4):
        log.row({"epoch": epoch, "loss": 1 / epoch})
        assert [(int(row["epoch"]), float(row["loss"])) for row in rows(log.path)] == [
            (n, 1 / n) for n in range(1, epoch + 1)
        ]
    log.close()
    log.close()
    assert log.path.read_bytes() == b"epoch,loss\n1,1.0\n2,0.5\n3,0.3333333333333333\n"


def test_kinds_of_values(tmp_path):
    values = {
        "i": 3,
        "b": True,
        "s": 'a,"b"\nc',
        "n": None,
        "f32": np.float32(0.1),
        "f64": np.float64(0.1),
        "big": 2**70,
    }
    with closing(CsvLog(tmp_path / "log.csv")) as log:
        log.row(values | {"nan": math.nan, "inf": -math.inf, "i64": np.int64(-4)})
    (row,) = rows(log.path)
    assert row == {
        "i": "3",
        "b": "True",
        "s": 'a,"b"\nc',
        "n": "",
        "f32": "0.10000000149011612",
        "f64": "0.1",
        "big": str(2**70),
        "nan": "nan",
        "inf": "-inf",
        "i64": "-4",
    }
    assert np.float32(row["f32"]) == values["f32"]


text = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=5)


@settings(max_examples=60, deadline=None)
@given(table=st.lists(st.dictionaries(text, text | st.floats(), min_size=1, max_size=4), min_size=1, max_size=5))
def test_any_table(table, tmp_path_factory):
    path = tmp_path_factory.getbasetemp() / "any.csv"
    with closing(CsvLog(path)) as log:
        for row in table:
            log.row(row)
    found = rows(path)
    assert len(found) == len(table)
    for row, back in zip(table, found, strict=True):
        assert list(back) == list(dict.fromkeys(name for other in table for name in other))
        for name, value in back.items():
            expected = row.get(name, "")
            assert value == (repr(expected) if isinstance(expected, float) else expected)


def test_new_and_missing_columns(tmp_path):
    with closing(CsvLog(tmp_path / "log.csv")) as log:
        log.row({"epoch": 1, "loss": 0.5})
        log.row({"val_loss": 0.25, "epoch": 2})
        log.row({})
        log.row({"epoch": 3, "loss": 0.125})
    assert log.path.read_text() == "epoch,loss,val_loss\n1,0.5,\n2,,0.25\n3,0.125,\n"
    assert os.listdir(tmp_path) == ["log.csv"]


def test_a_failing_rewrite_leaves_the_old_file(tmp_path, monkeypatch):
    log = CsvLog(tmp_path / "log.csv")
    log.row({"epoch": 1})

    def full(*arguments):
        raise OSError("No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space"):
        log.row({"epoch": 2, "loss": 0.5})
    monkeypatch.undo()
    assert log.path.read_text() == "epoch\n1\n"
    assert os.listdir(tmp_path) == ["log.csv"]
    log.row({"epoch": 2, "loss": 0.5})
    log.close()
    assert log.path.read_text() == "epoch,loss\n1,\n2,0.5\n"


def test_append_and_replace(tmp_path):
    path = tmp_path / "new" / "log.csv"
    for epoch in (1, 2):
        with closing(CsvLog(path, append=True)) as log:
            log.row({"epoch": epoch, "loss": 0.5} if epoch == 1 else {"loss": 0.25, "epoch": epoch})
    assert path.read_text() == "epoch,loss\n1,0.5\n2,0.25\n"
    with closing(CsvLog(path, append=True)) as log:
        log.row({"epoch": 3, "lr": 0.1})
    assert path.read_text() == "epoch,loss,lr\n1,0.5,\n2,0.25,\n3,,0.1\n"
    with closing(CsvLog(path)) as log:
        log.row({"epoch": 1})
    assert path.read_text() == "epoch\n1\n"


def test_append_after_a_cut_at_any_place(tmp_path):
    """A killed writer may leave half a row: it goes, whole rows stay."""
    whole = 'epoch,näme\n1,"a\nb"\n2,ü\n'.encode()
    path = tmp_path / "log.csv"
    for length in range(len(whole) + 1):
        path.write_bytes(whole[:length])
        with closing(CsvLog(path, append=True)) as log:
            log.row({"epoch": 9, "näme": "x"})
        complete = [({"epoch": "1", "näme": "a\nb"}, 20), ({"epoch": "2", "näme": "ü"}, len(whole))]
        kept = [row for row, end in complete if length >= end]
        assert rows(path) == [*kept, {"epoch": "9", "näme": "x"}], length
