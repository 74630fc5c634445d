"""Ctrl-C while kernels are compiled is always heard, and leaves the cache as it should be."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from pellucid import Model, nn, optim
from pellucid.engine.native.code.llvm import loader
from pellucid.engine.native.runtime import cache
from tests.kernels import plus
from tests.processes import ROOT

KERNEL = plus(51)


@pytest.fixture(autouse=True)
def keyboard(monkeypatch):
    """Ctrl-C works, whatever started the tests; kernels are not yet in memory, whatever other tests have done."""
    monkeypatch.setattr(cache, "_addresses", {})
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


class Deaf:
    """Python drops what is raised in a finalizer; compilers have many of them."""

    def __del__(self):
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(0.01)


def interrupted(monkeypatch, place, function, after=None):
    """Press Ctrl-C in a finalizer inside of the next call of a function, which then does as before, or `after`."""
    real = getattr(place, function)

    def pressed(*args):
        monkeypatch.setattr(place, function, real)
        Deaf()
        return (after or real)(*args)

    monkeypatch.setattr(place, function, pressed)


def fail(*args):
    raise RuntimeError("no room")


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("after", [None, fail], ids=["compiled", "failed"])
def test_an_interrupt_in_a_finalizer_is_not_lost(monkeypatch, tmp_path, after):
    monkeypatch.setenv("PELLUCID_CACHE_DIR", str(tmp_path))
    interrupted(monkeypatch, cache, "machine_code", after)
    with pytest.raises(KeyboardInterrupt):
        cache.addresses([KERNEL])
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    assert cache.addresses([KERNEL])[0]
    assert not list(tmp_path.rglob(".part-*"))


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_training_ends_and_the_model_is_as_before(monkeypatch):
    X = np.random.default_rng(0).normal(size=(20, 2)).astype(np.float32)
    model = Model(nn.mlp((), 1), optimizer=optim.SGD(0.1), engine="native")
    interrupted(monkeypatch, loader, "load")
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, X[:, 0], epochs=2, verbose=False)
    assert not model.params
    model.fit(X, X[:, 0], epochs=2, verbose=False)
    assert model.history.stopped == "all 2 epochs done"


MANY = """
import os, pathlib, signal, threading, time

signal.signal(signal.SIGINT, signal.default_int_handler)  # whatever started the tests may ignore it

from pellucid.engine.native.runtime import cache

from tests.kernels import plus

def heard(number, delay):
    '''Is Ctrl-C after so many seconds heard while a kernel is compiled, or after it?'''
    press = threading.Timer(delay, os.kill, (os.getpid(), signal.SIGINT))
    try:
        press.start()
        cache.addresses([plus(number)])
        press.join()
        time.sleep(5)
    except KeyboardInterrupt:
        return True
    return False

cache.addresses([plus(0)])  # the compiler is loaded
begin = time.monotonic()
cache.addresses([plus(1)])
length = time.monotonic() - begin
moments = 40
print(all([heard(2 + k, length * k / (moments - 5)) for k in range(moments)]))
print(all(cache.addresses([plus(k) for k in range(2 + moments)])))
print(list(pathlib.Path(os.environ["PELLUCID_CACHE_DIR"]).rglob(".part-*")))
"""


def test_whenever_it_is_pressed(monkeypatch, tmp_path):
    monkeypatch.setenv("PELLUCID_CACHE_DIR", str(tmp_path))
    done = subprocess.run([sys.executable, "-c", MANY], cwd=ROOT, capture_output=True, text=True, timeout=300)
    assert done.stdout.splitlines() == ["True", "True", "[]"], done.stderr
    assert "ignored" not in done.stderr
