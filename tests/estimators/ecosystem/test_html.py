"""The picture that a notebook shows: parameters, and findings of a diagnosis that somebody has asked for."""

import gc
import weakref

import numpy as np
import pytest
import sklearn
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from pellucid import MLPClassifier, TabularMLPRegressor
from pellucid.estimators import seeing

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

X = np.random.default_rng(0).normal(size=(300, 2)) * [1, 1e6]
y = X[:, 0] > 0


def clf():
    return MLPClassifier((16,), max_iter=30, random_state=0)


def test_findings_stand_below_the_parameters():
    shown = clf().fit(X, y)
    assert "diagnose()" not in shown._repr_html_()
    assert shown.diagnose().codes[0] == "input-scale"
    page = shown._repr_html_()
    assert "hidden_layer_sizes" in page
    assert "diagnose(): 1 finding</summary>" in page
    assert "input-scale" in page
    assert "make_pipeline(StandardScaler(), ...)" in page
    assert shown._repr_mimebundle_()["text/html"].count("input-scale") == 1


def test_another_fit_has_its_own_findings():
    shown = clf().fit(X, y)
    shown.diagnose(X, y)
    old = weakref.ref(shown.model_)
    shown.fit(X / [1, 1e6], y)
    assert "diagnose()" not in shown._repr_html_()
    gc.collect()
    assert old() is None  # what is kept for the notebook keeps no model alive


def test_tables_and_what_is_not_fitted():
    assert "TabularMLPRegressor" in TabularMLPRegressor()._repr_html_()
    table = TabularMLPRegressor((8,), max_iter=2, random_state=0).fit(X, X[:, 0] * X[:, 1])
    table.diagnose()
    assert "diagnose(): " in table._repr_html_()


def test_nothing_is_computed_for_the_picture(monkeypatch):
    from pellucid import inspect

    shown = clf().fit(X, y)
    monkeypatch.setattr(inspect, "diagnose", None)  # who calls it fails
    assert "hidden_layer_sizes" in shown._repr_html_()
    assert shown.model_ not in seeing._FOUND


def test_pictures_can_be_switched_off():
    with sklearn.config_context(display="text"):
        assert not hasattr(clf(), "_repr_html_")
    assert "MLPClassifier" in make_pipeline(StandardScaler(), clf())._repr_html_()
