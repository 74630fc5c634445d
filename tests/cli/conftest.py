"""A small table with everything in it, and a run of it."""

import csv
import os
import random
from pathlib import Path

import pytest

from pellucid.cli import main

QUICK = ("--quality", "fast", "--epochs", "3", "--layers", "8", "--no-report", "--quiet")
"""Options of a training that is soon over."""


def write_houses(path: Path, rows: int = 240, extra: tuple[str, ...] = ()) -> Path:
    """Houses: numbers, a category, a date, missing cells, a text that names the row; the price follows the size."""
    rng = random.Random(0)
    with open(path, "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["id", "size", "district", "built", "rooms", "price", "sold", *extra])
        for row in range(rows):
            size = rng.uniform(30, 200)
            district = rng.choice(["north", "south", "west"])
            price = 2000 * size + (50_000 if district == "north" else 0) + rng.gauss(0, 5000)
            built = f"{rng.randint(1, 28):02}.{rng.randint(1, 12):02}.{rng.randint(1950, 2020)}"
            rooms = "" if rng.random() < 0.1 else int(size // 25) + 1
            sold = "yes" if price + rng.gauss(0, 40_000) < 220_000 else "no"
            more = [round(3 * price) for _ in extra]
            writer.writerow([f"house {row}x", round(size, 1), district, built, rooms, round(price), sold, *more])
    return path


@pytest.fixture(scope="session")
def houses(tmp_path_factory):
    return write_houses(tmp_path_factory.mktemp("tables") / "houses.csv")


@pytest.fixture(scope="session")
def run_of_classes(houses, tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs") / "sold"
    main(["train", str(houses), "-t", "sold", "--out", str(folder), *QUICK])
    return folder


@pytest.fixture(scope="session")
def run_of_numbers(houses, tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs") / "price"
    main(["train", str(houses), "-t", "price", "--out", str(folder), *QUICK])
    return folder


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def refused(capsys):
    """A command that ends with 2 and one line; gives the line."""

    def call(*words):
        with pytest.raises(SystemExit) as end:
            main([os.fspath(word) for word in words])
        assert end.value.code == 2
        said = capsys.readouterr()
        assert said.err.count("\n") == 1, said.err
        assert "Traceback" not in said.err
        return said.err

    return call
