"""A changed byte anywhere in a file of an estimator or a model: told in one line, never loaded."""

import tracemalloc
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import pellucid as pel
from pellucid.errors import PellucidError
from pellucid.train.files.container import HEADER, SCHEMA

FOLDER = Path(__file__).parents[2] / "fixtures" / "summaries"
FILES = {name: (FOLDER / f"{name}.pel").read_bytes() for name in ("model", "regressor", "table_numbers")}


def refuse(path, raw, words="."):
    """Both doors: `load` and `describe`."""
    path.write_bytes(raw)
    for door in (pel.load, pel.describe):
        with pytest.raises(PellucidError, match=words) as caught:
            door(path)
        assert "\n" not in str(caught.value)
        assert str(path) in str(caught.value)


@settings(max_examples=300, deadline=None)
@given(data=st.data())
def test_flipped_bytes(data, tmp_path_factory):
    raw = FILES[data.draw(st.sampled_from(sorted(FILES)))]
    places = data.draw(st.lists(st.integers(0, len(raw) - 1), min_size=1, max_size=4, unique=True))
    changed = bytearray(raw)
    for place in places:
        changed[place] ^= data.draw(st.integers(1, 255))
    refuse(tmp_path_factory.getbasetemp() / "flipped.pel", changed)


@settings(max_examples=50, deadline=None)
@given(length=st.integers(1, len(FILES["model"]) - 1))
def test_cut_off(length, tmp_path_factory):
    refuse(tmp_path_factory.getbasetemp() / "cut.pel", FILES["model"][:length], "damaged.*train anew|not a safetensors")


def newer(raw):
    return raw.replace(f'\\"schema\\": {SCHEMA}'.encode(), f'\\"schema\\": {SCHEMA + 1}'.encode(), 1)


CASES = {
    "empty": (b"", "is empty: copy it again"),
    "longer": (FILES["model"] + b"\0", "is damaged"),
    "text": (b"age,town\n3,Bern\n", "was not written by pellucid"),
    "pickle": (b"\x80\x05" + b"0" * 100, "looks like a pickle, which could run code, and is never opened"),
    "newer": (newer(FILES["model"]), rf"newer pellucid \(schema {SCHEMA + 1}, known is {SCHEMA}\): upgrade pellucid"),
}


@pytest.mark.parametrize("case", CASES)
def test_other_files(case, tmp_path):
    refuse(tmp_path / "a.pel", *CASES[case])


def test_a_header_that_claims_to_be_huge_is_not_read(tmp_path):
    """Nothing of its size is asked for, though the file has all those bytes (of a hole)."""
    path = tmp_path / "huge.pel"
    with path.open("wb") as file:
        file.write((HEADER + 1).to_bytes(8, "little") + b'{"__metadata__":{')
        file.truncate(HEADER + 100)
    tracemalloc.start()
    try:
        with pytest.raises(PellucidError, match="damaged"):
            pel.describe(path)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 4e6


def test_no_file(tmp_path):
    with pytest.raises(PellucidError, match=r"a\.pel does not exist"):
        pel.describe(tmp_path / "a.pel")
