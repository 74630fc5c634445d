"""docs/architecture.md: the rooms have the files that it names, and calls really pass the stations of their ways."""

import importlib
import re
import sys
from pathlib import Path

import numpy as np
import pytest

import pellucid
from pellucid.estimators import MLPClassifier

ROOT = Path(__file__).parents[1]
PACKAGE = Path(pellucid.__file__).parent
PAGE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
ROOMS = [
    "cli",
    "serve",
    "importing",
    "report",
    "export",
    "estimators",
    "inspect",
    "train",
    "data",
    "nn",
    "optim",
    "dask",
]
ABOVE = {"cli", "loading", "errors"}  # modules that are rooms by themselves
WAYS = {"The way of a fit": "way-of-fit", "The way of a predict_proba": "way-of-predict-proba"}
MOST = 8


def section(heading: str) -> str:
    """What stands below a heading, up to the next."""
    return re.search(rf"^#+ {heading}\n(.*?)(?=^#+ |\Z)", PAGE, flags=re.M | re.S).group(1)


def named(heading: str) -> set[str]:
    """The files that the tables below a heading name, by their paths in the room."""
    paths: set[str] = set()
    folder = ""
    for first, second in re.findall(r"^\| (.*?) \| (.*) \|$", section(heading), flags=re.M):
        title = re.fullmatch(rf"`{heading}/(\w+/)`", first)
        own = re.fullmatch(r"`(\w+/)`", first)
        if first == "files" or title:  # a table begins
            folder = title[1] if title else ""
        elif own:  # a folder in one row: its files are in the text
            paths |= {own[1] + name for name in re.findall(r"`(\w+)`", second)}
        else:
            paths |= {folder + name for name in re.findall(r"`(\w+)`", first)}
    return paths


def present(folder: Path) -> set[str]:
    """The modules below a folder, by their paths."""
    modules = (path.relative_to(folder).with_suffix("").as_posix() for path in folder.rglob("*.py"))
    return {name for name in modules if not name.endswith("__init__")}


@pytest.mark.parametrize("room", ROOMS)
def test_the_tables_name_all_files(room):
    assert named(room) == present(PACKAGE / room)


def test_the_small_modules_are_named():
    assert named("small modules") == {path.stem for path in PACKAGE.glob("[!_]*.py")} - ABOVE


def test_every_room_is_in_the_table_and_in_the_picture():
    rooms = {path.name for path in PACKAGE.iterdir() if (path / "__init__.py").exists()} | ABOVE
    assert rooms <= set(re.findall(r"^\| `(\w+)` \|", section("The rooms"), flags=re.M))
    picture = (ROOT / "docs" / "images" / "rooms.svg").read_text(encoding="utf-8")
    assert all(re.search(rf">[^<]*\b{room}\b", picture) for room in rooms)


def test_every_folder_of_the_native_engine_names_its_files():
    native = PACKAGE / "engine" / "native"
    rows = re.findall(r"^\| `(\w+)` \| .* \| (.*) \|$", section(r"\.\.\. on the native engine"), flags=re.M)
    assert [folder for folder, _ in rows] == ["runtime", "loops", "passes", "code"]
    for folder, files in rows:
        names = {name.rstrip("/") for name in re.findall(r"`([\w/]+)`", files)}
        modules = {path for path in (native / folder).iterdir() if path.suffix == ".py" or path.is_dir()}
        assert {path.stem for path in modules} - {"__init__", "__pycache__"} <= names, folder


# ways


def stations(heading: str) -> list[tuple[str, str]]:
    """(file, function) of each station of a way, in the order of the text."""
    lines = re.findall(r"^(\d+)\. `([\w/]+\.py)`, `([\w.]+)`: ", section(heading), flags=re.M)
    assert [int(number) for number, _, _ in lines] == list(range(1, len(lines) + 1))
    return [(file, function) for _, file, function in lines]


def station_code(file: str, function: str):
    """The code object of a station."""
    thing = importlib.import_module("pellucid." + file.removesuffix(".py").replace("/", "."))
    for name in function.split("."):
        thing = getattr(thing, name) if not isinstance(thing, type) else vars(thing)[name]
    thing = getattr(thing, "fn", thing)  # inside `available_if`
    assert Path(thing.__code__.co_filename) == PACKAGE / file
    return thing.__code__


def first_calls(work) -> list:
    """The code of what is called, in the order of first calls."""
    seen: dict = {}
    sys.setprofile(lambda frame, event, _: seen.setdefault(frame.f_code) if event == "call" else None)
    try:
        work()
    finally:
        sys.setprofile(None)
    return list(seen)


@pytest.mark.parametrize("heading", WAYS)
def test_stations_exist_and_are_few(heading):
    assert 0 < len(stations(heading)) <= MOST
    for file, function in stations(heading):
        station_code(file, function)


@pytest.mark.parametrize(("heading", "picture"), WAYS.items())
def test_the_picture_has_the_stations_of_the_text(heading, picture):
    drawn = (ROOT / "docs" / "images" / f"{picture}.svg").read_text(encoding="utf-8")
    heads = re.findall(r">(\d+) ([\w.]+)<", drawn)
    files = re.findall(r">([\w/]+\.py)<", drawn)
    assert sorted(heads) == [(str(i), function) for i, (_, function) in enumerate(stations(heading), 1)]
    assert sorted(files) == sorted(file for file, _ in stations(heading))


def test_the_stations_are_passed_in_this_order():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 2))
    y = np.where(X[:, 0] > 0, "a", "b")
    classifier = MLPClassifier((4,), max_iter=100, tol=1.0, n_iter_no_change=1, random_state=0, engine="numpy")
    calls = {
        "The way of a fit": first_calls(lambda: classifier.fit(X, y)),
        "The way of a predict_proba": first_calls(lambda: classifier.predict_proba(X)),
    }
    for heading in WAYS:
        places = [calls[heading].index(station_code(*station)) for station in stations(heading)]
        assert places == sorted(places), heading
