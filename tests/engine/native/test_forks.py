"""A process that forks while its other threads predict, compile or train: the child can do all of it, too."""

import subprocess
import sys
import textwrap

import pytest

SETUP = """
import os, threading, time, traceback, warnings
import numpy as np
import pellucid as pel
from pellucid import nn
warnings.simplefilter("ignore")  # newer Pythons warn of forks with threads
rng = np.random.default_rng(0)
X = rng.normal(size=(600, 32)).astype(np.float32)
y = rng.integers(0, 4, 600)

def fresh():
    return pel.Model(nn.mlp((64,), 4), "cross_entropy", engine="native", threads=2)

model = fresh()
model.fit(X, y, epochs=1, verbose=False)
double = pel.compile(lambda a: np.tanh(a) * 2.0, engine="native")
expected, doubled = model.predict(X), double(X)

def child():
    assert np.array_equal(model.predict(X), expected)
    assert np.array_equal(double(X), doubled)
    np.testing.assert_allclose(pel.compile(lambda a: np.cos(a) + 1.0, engine="native")(X), np.cos(X) + 1.0, atol=1e-6)
    again = fresh()
    again.fit(X, y, epochs=1, verbose=False)
    assert np.array_equal(again.predict(X), expected)

def forked():
    pid = os.fork()
    if not pid:
        code = 1
        try:
            child()
            code = 0
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(code)
    end = time.monotonic() + 60  # a hang is told apart from a slow machine
    while time.monotonic() < end:
        done, status = os.waitpid(pid, os.WNOHANG)
        if done:
            return status
        time.sleep(0.01)
    os.kill(pid, 9)
    os.waitpid(pid, 0)
    return "the child hangs"
"""

AT_WORK = {
    "predicting": "model.predict(X[: 1 + turn % 600])",
    "calling a compiled function": "double(X)",
    "training": "fresh().fit(X, y, epochs=1, verbose=False)",
    "binding": "fresh().initialize(32).predict(X[:3])",
}


@pytest.mark.skipif(sys.platform == "win32", reason="there are no forks on Windows")
@pytest.mark.parametrize("what", AT_WORK)
def test_a_child_of_a_busy_process_works(what):
    script = textwrap.dedent(SETUP) + textwrap.dedent(f"""
        stop = threading.Event()

        def work():
            turn = 0
            while not stop.is_set():
                {AT_WORK[what]}
                turn += 1

        threads = [threading.Thread(target=work, daemon=True) for _ in range(3)]
        for thread in threads:
            thread.start()
        for number in range(6):
            status = forked()
            assert status == 0, (number, status)
        stop.set()
        for thread in threads:
            thread.join()
        """)
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
