"""Where progress is drawn: one display in a notebook, few lines in a pipe, a bar on a terminal alone."""

import io
import sys
import types
import warnings
import xml.etree.ElementTree as ET
from typing import Any

import numpy as np
import pytest

import pellucid as pel
from pellucid import nn, train
from pellucid.train.callbacks import screens
from pellucid.train.callbacks.progress import ProgressView

rng = np.random.default_rng(0)
X = rng.normal(size=(64, 3))
y = (X[:, 0] > 0).astype(int)


class Notebook:
    """IPython's side of a notebook: what is displayed, and what is written over it."""

    def __init__(self, kernel=True):
        self.messages = []
        self.shell = types.SimpleNamespace(**({"kernel": object()} if kernel else {}))

    def display(self, bundle, raw=False, display_id=None):
        assert raw
        self.messages.append(("display", bundle))
        return types.SimpleNamespace(update=lambda bundle, raw: self.messages.append(("update", bundle)))

    def install(self, monkeypatch):
        module: Any = types.ModuleType("IPython")
        module.get_ipython = lambda: self.shell
        module.display = types.ModuleType("IPython.display")
        module.display.display = self.display
        monkeypatch.setitem(sys.modules, "IPython", module)
        monkeypatch.setitem(sys.modules, "IPython.display", module.display)
        return self


@pytest.fixture
def notebook(monkeypatch):
    return Notebook().install(monkeypatch)


def model(**options):
    return pel.Model(nn.mlp((4,), 1), "binary_cross_entropy", metrics=["accuracy"], engine="numpy", **options)


@pytest.mark.parametrize("verbose", [True, "bar"])
def test_a_fit_is_one_display(notebook, capfd, verbose):
    model().fit(X, y, epochs=500, validation=0.25, verbose=verbose)
    kinds = [kind for kind, _ in notebook.messages]
    assert kinds[0] == "display"
    assert set(kinds[1:]) == {"update"}
    assert capfd.readouterr() == ("", "")
    bundle = notebook.messages[-1][1]
    assert "500 epochs in" in bundle["text/plain"]
    assert "all 500 epochs done" in bundle["text/html"]
    assert "val_accuracy" in bundle["text/html"]
    assert all(a != b for (_, a), (_, b) in zip(notebook.messages, notebook.messages[1:], strict=False))


def test_fast_epochs_are_drawn_rarely(notebook, monkeypatch):
    now = [0.0]
    monkeypatch.setattr("time.monotonic", lambda: now[0])
    view = ProgressView(10_000, None)
    view.start()
    for epoch in range(1, 10_001):
        now[0] += 0.001
        view.epoch(epoch, {"loss": 1.0 / epoch}, lr=0.1, seconds=0.001)
    view.finish("all done")
    assert 40 < len(notebook.messages) < 60  # ten seconds
    assert "10000/10000 epochs" in notebook.messages[-1][1]["text/html"]


def test_batches_move_the_bar(notebook):
    view = ProgressView(1, 100)
    view.start()
    view._cell.next = 0.0
    view.batch(50, 0.25)
    assert "value='0.5000'" in notebook.messages[-1][1]["text/html"]
    assert "0.2500" in notebook.messages[-1][1]["text/plain"]
    view.finish()
    view.finish("again")
    assert "again" not in notebook.messages[-1][1]["text/plain"]


def test_an_open_end(notebook):
    view = ProgressView(None, None)
    view.start()
    assert "<progress max" in notebook.messages[-1][1]["text/html"]  # something happens
    view.epoch(1, {"loss": 0.5}, lr=0.1, seconds=1.0)
    view.finish("time is over")
    assert "value='1.0000'" in notebook.messages[-1][1]["text/html"]


def test_names_are_text_not_markup(notebook):
    view = ProgressView(1, None)
    view.start()
    view.epoch(1, {"<b>loss</b>": 0.5}, lr=0.1, seconds=1.0)
    view.finish("<script>alert(1)</script> & more")
    html = notebook.messages[-1][1]["text/html"]
    assert "<script>" not in html
    assert "&lt;b&gt;loss" in html
    ET.fromstring(f"<div>{html}</div>")


def test_an_error_ends_the_display(notebook):
    def fail(run):
        raise RuntimeError("no")

    with pytest.raises(train.CallbackError):
        model().fit(X, y, epochs=5, callbacks=[fail])
    assert " in " in notebook.messages[-1][1]["text/plain"]


def test_lines_and_silence_on_request(notebook, capsys):
    model().fit(X, y, epochs=3, verbose="lines")
    assert len(capsys.readouterr().out.splitlines()) == 5
    model().fit(X, y, epochs=3, verbose=False)
    assert notebook.messages == []


def test_ipython_in_a_terminal_is_no_notebook(monkeypatch):
    Notebook(kernel=False).install(monkeypatch)
    assert not screens.in_notebook()
    monkeypatch.delitem(sys.modules, "IPython")
    assert not screens.in_notebook()


@pytest.mark.parametrize("variable", ["FORCE_COLOR", "TTY_COMPATIBLE", "NO_COLOR"])
def test_a_pipe_gets_lines_even_where_colours_are_forced(monkeypatch, capsys, variable):
    """Kernels of notebooks and build servers set such."""
    monkeypatch.setenv(variable, "1")
    model().fit(X, y, epochs=100)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 23  # a head, about twenty of a hundred epochs, an end
    assert not any("\x1b" in line for line in lines)
    assert not screens.terminal(stderr=True).is_interactive


def test_a_terminal_has_a_bar(monkeypatch):
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(sys, "stdout", Terminal())
    assert screens.terminal().is_interactive
    assert ProgressView(1, 1).mode == "bar"
    monkeypatch.setattr(sys, "stdout", None)  # a program without a window
    assert not screens.terminal().is_interactive


def test_other_bars_are_one_display_as_well(notebook, capfd):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        pel.fit_many([model(), model()], X, y, epochs=2, verbose=True)
    assert [kind for kind, _ in notebook.messages].count("display") == 1
    assert notebook.messages[-1][1]["text/plain"] == "training: 2 of 2"
    with screens.bar("tuning") as draw:
        draw(0.5, "three trials")
    assert [kind for kind, _ in notebook.messages].count("display") == 2
    assert "three trials" in notebook.messages[-1][1]["text/html"]
    assert capfd.readouterr() == ("", "")


def test_a_search_is_one_display(notebook, capfd):
    space = lambda trial: {"learning_rate_init": trial.suggest_float("learning_rate_init", 0.001, 0.01)}
    small = pel.MLPClassifier((4,), max_iter=3)
    found = pel.tune(X, y, estimator=small, space=space, trials=2, n_jobs=1)
    assert [kind for kind, _ in notebook.messages].count("display") == 1
    assert notebook.messages[-1][1]["text/plain"].startswith("2 trials, best ")
    assert len(found.trials) == 2
    assert capfd.readouterr().err == ""


def test_no_bar_in_a_pipe(capfd):
    pel.fit_many([model(), model()], X, y, epochs=2, verbose=True)
    assert capfd.readouterr() == ("", "")
