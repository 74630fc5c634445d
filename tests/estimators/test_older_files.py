"""Files of estimators that kept all they knew as attributes: they load, say the same, and go on learning."""

import copy
import importlib.util
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import pellucid as pel

FOLDER = Path(__file__).parents[1] / "fixtures" / "flat_estimators"
SPEC = importlib.util.spec_from_file_location("make_flat_estimators", FOLDER / "make.py")
assert SPEC is not None
assert SPEC.loader is not None
MAKE = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(MAKE)


@pytest.fixture(scope="module")
def expected():
    return np.load(FOLDER / "expected.npz")


def must_agree(asked, expected, prefix):
    for what, value in asked.items():
        wanted = expected[f"{prefix}{what}"]
        if what == "scores":  # losses among them had no minus ahead of them
            value, wanted = np.abs(value), np.abs(wanted)
        assert np.asarray(value).dtype == wanted.dtype
        if wanted.dtype.kind in "fc":  # as near as other processors come
            assert_allclose(value, wanted, rtol=1e-4, atol=1e-5)
        else:
            assert_array_equal(value, wanted)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("name", sorted(MAKE.recipes()))
def test_an_estimator(name, expected, tmp_path):
    estimator = pel.load(FOLDER / f"{name}.pel")
    must_agree(MAKE.answers(name, estimator), expected, f"{name} ")
    estimator.save(tmp_path / "again.pel")
    again = pel.load(tmp_path / "again.pel")
    later = MAKE.go_on(name, again)
    if name == "calibrated":  # its new temperature is that of this version: what it has learned is the same
        assert later.fitted.calibration.doubt > estimator.fitted.calibration.doubt == 0.0
        told = replace(later.fitted, calibration=estimator.fitted.calibration)
        later = copy.copy(later).with_fitted(told, later)
    must_agree(MAKE.answers(name, later), expected, f"{name} later ")


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_fit_goes_on_from_a_checkpoint(expected, tmp_path):
    path = tmp_path / "fit.ckpt"
    shutil.copy(FOLDER / "fit.ckpt", path)
    estimator = MAKE.interrupted(path, resume=path)
    assert estimator.n_iter_ == 8
    assert_allclose(estimator.predict_proba(MAKE.data()[0]), expected["resumed"], rtol=1e-4, atol=1e-5)
