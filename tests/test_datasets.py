"""The tables that come with the package: they are what their descriptions say."""

import re
from importlib.resources import files

import pandas as pd
import pytest

from pellucid import datasets
from pellucid.datasets import tables


@pytest.mark.parametrize("name", datasets.TABLES)
def test_a_table_is_as_described(name):
    table = datasets.load(name)
    X, y = table
    info = table.info
    assert len(X) == len(y) == info.rows
    assert info.target not in X.columns
    assert y.name == info.target
    assert y.notna().all()
    assert [c for c in X if isinstance(X[c].dtype, pd.CategoricalDtype)] == list(info.categorical)
    assert all(pd.api.types.is_numeric_dtype(X[c]) for c in X if c not in info.categorical)
    assert X.isna().any(axis=None), "the demo needs missing values"


@pytest.mark.parametrize("info", datasets.TABLES.values(), ids=lambda info: info.name)
def test_source_licence_and_changes_are_named(info):
    text = re.sub(r"\s+", " ", files("pellucid.datasets").joinpath("LICENCES.md").read_text())
    part = next(p for p in text.split("## ") if p.startswith(f"{info.name}.csv.xz"))
    for fact in (info.licence, info.licence_url, re.search(r"https://doi\S+", info.citation)[0]):
        assert fact in part
    assert "Changed:" in part


def test_adult_is_the_census_table():
    X, y = datasets.load("adult")
    assert X.shape == (16_000, 14)
    assert set(y) == {"<=50K", ">50K"}
    assert abs((y == ">50K").mean() - 0.2393) < 0.01  # of the whole table
    assert sorted(c for c in X if X[c].isna().any()) == ["native_country", "occupation", "workclass"]


def test_loading_twice_gives_tables_of_their_own():
    first, second = datasets.load("penguins"), datasets.load("penguins")
    first.X.loc[0, "body_mass_g"] = -1.0
    assert second.X.loc[0, "body_mass_g"] > 0


def test_an_unknown_name_gets_a_hint():
    with pytest.raises(ValueError, match="no table called 'pengiuns': did you mean 'penguins'"):
        datasets.load("pengiuns")


def test_a_damaged_file_is_noticed(monkeypatch, tmp_path):
    (tmp_path / "penguins.csv.xz").write_bytes(b"not what it was")
    monkeypatch.setattr(tables, "files", lambda package: tmp_path)
    with pytest.raises(OSError, match="'penguins' is damaged"):
        datasets.load("penguins")
