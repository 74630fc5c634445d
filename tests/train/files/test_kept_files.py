"""Files of each kind, written by versions before: they load, predict the same, and can be saved anew."""

import importlib.util
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import pellucid as pel

FIXTURES = Path(__file__).parents[2] / "fixtures"
NAMES = ("model", "classifier", "regressor", "table_classes", "table_numbers", "bagged")
FOLDERS = {"crews": 1, "summaries": 2}
"""By their schemas."""


@pytest.fixture(scope="module")
def make() -> ModuleType:
    """How they were written."""
    spec = importlib.util.spec_from_file_location("make_crews", FIXTURES / "crews" / "make.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("folder", FOLDERS)
def test_a_file(folder, name, make, tmp_path):
    assert pel.describe(FIXTURES / folder / f"{name}.pel").schema == FOLDERS[folder]
    expected = np.load(FIXTURES / folder / "expected.npz")[name]
    loaded = pel.load(FIXTURES / folder / f"{name}.pel")
    answers = make.answers(name, loaded)
    assert_allclose(answers, expected, rtol=1e-4, atol=1e-5)  # as near as other processors come
    loaded.save(tmp_path / "anew.pel")
    assert_array_equal(make.answers(name, pel.load(tmp_path / "anew.pel")), answers)


def test_what_is_written_now_is_among_them(tmp_path):
    """A new schema brings files of its own."""
    pel.load(FIXTURES / "summaries" / "model.pel").save(tmp_path / "now.pel")
    assert pel.describe(tmp_path / "now.pel").schema == max(FOLDERS.values())
