"""Kernels are compiled once: the cache in memory and on disk."""

from __future__ import annotations

import contextvars
import io
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from pellucid import Model, nn, optim
from pellucid.engine.native.code.llvm import loader
from pellucid.engine.native.code.llvm.processor import executable, processor
from pellucid.engine.native.runtime import cache
from tests.kernels import plus
from tests.processes import environment

rng = np.random.default_rng(0)


def fit(features=5, hidden=(7, 6), classes=3, batch=16, rows=50, rate=0.01, **more):
    X = rng.normal(size=(rows, features)).astype(np.float32)
    y = rng.integers(0, classes, rows)
    model = Model(nn.mlp(hidden, classes), "cross_entropy", optim.Adam(rate), engine="native", **more)
    model.fit(X, y, epochs=2, batch_size=batch, verbose=False)
    model.predict(X)
    return model


def compiled_by(work):
    before = cache.compilations
    work()
    return cache.compilations - before


def test_shapes_never_recompile():
    fit()
    assert compiled_by(fit) == 0  # the second fit
    assert compiled_by(lambda: fit(features=11, hidden=(20, 9), classes=4)) == 0  # other widths
    assert compiled_by(lambda: fit(batch=10)) == 0  # another batch size
    assert compiled_by(lambda: fit(rows=64)) == 0  # no short batch at the end
    assert compiled_by(lambda: fit(rate=0.5)) == 0  # another rate
    assert compiled_by(lambda: fit(hidden=(40,))) <= 1  # one layer less: only the sum over all parameters is new


SCRIPT = """
import sys
import numpy as np
from pellucid import Model, nn, optim
X = np.random.default_rng(0).normal(size=(50, 5)).astype(np.float32)
y = np.random.default_rng(1).integers(0, 3, 50)
model = Model(nn.mlp((7, 6), 3), "cross_entropy", optim.Adam(0.01), engine="native")
model.fit(X, y, epochs=2, batch_size=16, validation=(X, y), verbose={verbose})
model.predict(X)
model.fit([(X[:20], y[:20]), (X[20:], y[20:])], epochs=1, verbose={verbose})
from pellucid.engine.native.runtime import cache
from pellucid.engine.native.code.llvm import loader
from pellucid.engine.native.code.llvm.processor import executable, processor
from tests.kernels import plus
print(cache.compilations, sum(float(np.sum(w)) for w in model.params.values()))
"""


def in_process(folder, verbose=False):
    return subprocess.Popen(
        [sys.executable, "-c", SCRIPT.format(verbose=verbose)],
        env=environment(PELLUCID_CACHE_DIR=str(folder)),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def result(process):
    out, errors = process.communicate(timeout=300)
    assert process.returncode == 0, errors
    count, total = out.splitlines()[-1].split()
    return int(count), float(total), errors


@pytest.fixture(scope="module")
def filled(tmp_path_factory):
    """A folder that two processes filled at the same time, and what they got."""
    folder = tmp_path_factory.mktemp("kernels")
    both = [in_process(folder), in_process(folder)]
    return folder, [result(p) for p in both]


def test_two_processes_fill_an_empty_folder_at_once(filled):
    folder, found = filled
    assert all(count > 0 for count, *_ in found)
    assert found[0][1] == found[1][1]
    assert not list(folder.rglob(".part-*"))


def test_nothing_is_said_unless_the_user_wants_to_hear_of_it(filled):
    """Neither while fitting nor while validating, predicting or reading batches from outside."""
    assert not any("compiling" in errors for *_, errors in filled[1])


def test_a_warm_start_compiles_nothing(filled):
    folder, found = filled
    count, total, errors = result(in_process(folder))
    assert (count, total) == (0, found[0][1])
    assert "compiling" not in errors


def test_broken_files_are_compiled_again(filled):
    folder, found = filled
    victims = sorted(folder.rglob("*.o"))
    victims[0].write_bytes(victims[0].read_bytes()[:-10])
    victims[1].write_bytes(b"")
    assert result(in_process(folder))[:2] == (2, found[0][1])
    assert result(in_process(folder))[0] == 0  # and mended


def test_without_a_folder_kernels_live_in_memory(tmp_path, filled):
    blocked = tmp_path / "file"
    blocked.write_text("not a folder")
    count, total, errors = result(in_process(blocked / "below", verbose="'lines'"))
    assert count > 0
    assert total == filled[1][0][1]
    assert "compiling" not in errors  # which is for terminals
    assert blocked.read_text() == "not a folder"


def test_the_folder_is_named_after_all_that_shapes_the_code(monkeypatch, tmp_path):
    monkeypatch.setenv("PELLUCID_CACHE_DIR", str(tmp_path))
    here, compiler = cache.directory(), loader.compiler
    assert here.parent == tmp_path
    monkeypatch.setattr(loader, "compiler", lambda: "another")
    cache._signature_for.cache_clear()
    assert cache.directory() != here
    monkeypatch.setattr(loader, "compiler", compiler)
    cache._signature_for.cache_clear()
    assert cache.directory() == here
    for name in executable():
        monkeypatch.setenv("PELLUCID_PROCESSOR", name)
        assert cache.directory() != here
    monkeypatch.delenv("PELLUCID_CACHE_DIR")
    assert "pellucid" in str(cache.directory())


def test_code_that_needs_what_is_not_there_is_compiled_again(monkeypatch, tmp_path):
    """LLVM would end the process."""
    from pellucid.engine.native.code.llvm.loader import Code

    monkeypatch.setenv("PELLUCID_CACHE_DIR", str(tmp_path))
    kernel = plus(61)
    name = kernel.name
    for code in (Code(("pellucid_no_such_function",), b""), Code((), b"no code"), Code((), b"")):
        cache._addresses.pop((kernel.name, processor()), None)
        cache._store("", name, code)
        assert compiled_by(lambda: cache.addresses([kernel])) == 1
        assert cache.stored(name) not in (None, code)  # and mended


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.mark.parametrize(
    ("long", "terminal", "quiet", "setting", "lines"),
    [
        (0, True, False, "", 1),
        (60, True, False, "", 0),
        (0, False, False, "", 0),
        (0, True, True, "", 0),
        (0, True, False, "1", 0),
    ],
    ids=["a bar", "it takes no time", "a pipe", "not asked for", "PELLUCID_QUIET"],
)
def test_one_bar_while_compiling_takes_long(monkeypatch, long, terminal, quiet, setting, lines):
    from pellucid.engine.native.runtime import announcement

    def compile_three(folder):
        with announcement.compiling(3, folder) as one_more:
            for _ in range(3):
                one_more()

    def work():
        for _ in range(3):
            with cache.silent(quiet):
                compile_three(Path("folder"))
                with cache.silent(not quiet):  # what the user called decides
                    compile_three(None)

    screen = Terminal() if terminal else io.StringIO()
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setattr(announcement, "_told", False)
    monkeypatch.setattr(announcement, "LONG", long)
    monkeypatch.setenv("PELLUCID_QUIET", setting)
    contextvars.Context().run(work)  # the tests themselves are silent
    said = screen.getvalue().splitlines()
    assert sum(bool(line) for line in said) == 3 * lines  # drawn again for each kernel, once in the process
    assert screen.getvalue().count("\n") == lines
    assert all("compiling" in line and "folder" in line for line in said if line)
