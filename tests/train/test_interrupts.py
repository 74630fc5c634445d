"""Ctrl-C in a training, in a process of its own: what was learnt is kept, and what follows works."""

from __future__ import annotations

import signal
import subprocess
import sys
import textwrap
import time

import pytest

from tests.processes import environment

SLEEPER = """
import signal
signal.signal(signal.SIGINT, signal.default_int_handler)  # whatever started the tests may have switched it off
import numpy as np
import pellucid as pel
from pellucid import Model, nn
X = np.random.default_rng(0).normal(size=(4000, 20)).astype(np.float32)
make = lambda: Model(nn.mlp((64, 64), 1), engine="native", threads=2)
make().fit(X, X[:, 0], epochs=1, verbose=False)
one = make()
print("started", flush=True)
{call}
"""


ALONE = """
history = one.fit(X, X[:, 0], epochs=100_000_000, verbose=False)
print(history.stopped, len(history.epochs) > 0, all(np.isfinite(w).all() for w in one.params.values()), flush=True)
"""


MANY = """
try:
    pel.fit_many([one, make()], X, X[:, 0], epochs=100_000_000, verbose=False)
except KeyboardInterrupt:
    print("stopped", one.history.stopped, len(one.history.epochs) > 0, flush=True)
"""


@pytest.mark.parametrize(
    ("call", "said"),
    [(ALONE, "interrupted by the user (Ctrl-C) True True"), (MANY, "stopped interrupted by the user (Ctrl-C) True")],
)
def test_ctrl_c_ends_a_run_with_all_that_was_learnt(call, said):
    process = subprocess.Popen(
        [sys.executable, "-c", SLEEPER.format(call=call)], stdout=subprocess.PIPE, text=True, env=environment()
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "started\n"
    time.sleep(1.5)
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=60)
    assert out.strip() == said


INTERRUPTED = """
import signal
signal.signal(signal.SIGINT, signal.default_int_handler)  # whatever started the tests may ignore it
import os, signal, threading
import numpy as np
from pellucid import Model, nn, optim, train
from pellucid.engine.native.runtime import run, work

work.PER_THREAD = 1
rng = np.random.default_rng(0)
X = rng.normal(size=(2000, 20))
y = (X[:, 0] > 0).astype(int)


class Keep(train.Callback):
    def __init__(self, delay):
        self.delay = delay

    def on_fit_begin(self, run):
        threading.Timer(self.delay, lambda: os.kill(os.getpid(), signal.SIGINT)).start()

    def on_fit_end(self, run):
        self.step = run.step


def fit(threads, **call):
    net, rule = nn.mlp((64,), 2), optim.Adam(0.001)
    made = Model(net, "cross_entropy", rule, dtype=np.float64, engine="native", threads=threads)
    made.fit(X, y, batch_size=256, verbose=False, **call)
    return made


def equal(a, b):
    return all(np.array_equal(a.params[name], b.params[name]) for name in a.params)


reference = fit(2, epochs=3)
for threads, delay in ((1, 0.4), (2, 0.4), (2, 0.57)):
    keep = Keep(delay)
    one = fit(threads, epochs=10**7, callbacks=[keep])
    again = fit(threads, steps=max(1, keep.step))
    noted = keep.step // 8 == len(one.history.epochs)
    print(one.history.stopped, noted, equal(one, again), equal(fit(2, epochs=3), reference), flush=True)
print("no answer left over:", [crew.done.empty() for crew in run._free])
"""


def test_after_ctrl_c_step_parameters_and_threads_agree():
    """The parameters are those after `run.step` steps, and what follows in the process waits for all its threads."""
    child = [sys.executable, "-c", INTERRUPTED]
    done = subprocess.run(child, capture_output=True, text=True, env=environment(), timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == ["interrupted by the user (Ctrl-C) True True True"] * 3 + [
        "no answer left over: [True]"
    ]


STOPPING = """
import signal
signal.signal(signal.SIGINT, signal.default_int_handler)  # whatever started the tests may ignore it
import numpy as np
from pellucid import nn, optim, train
rng = np.random.default_rng(0)
X = rng.normal(size=(120, 4)); R = X[:, 0]
stopping = train.EarlyStopping(10**6)
model = train.Model(nn.mlp((8,), 1), "squared_error", optim.Adam(0.2))
def tell(run):
    if run.epoch == 20: print("ready", flush=True)
held, both = (X[:30], R[:30]), [stopping, tell]
history = model.fit(X, R, epochs=10**6, batch_size=16, validation=held, callbacks=both, verbose=False)
found = model.evaluate(X[:30], R[:30])["loss"]
print(history.stopped); print(found == stopping.best == min(history["val_loss"]))
"""


def test_ctrl_c_keeps_the_best_parameters_of_early_stopping():
    process = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(STOPPING)], stdout=subprocess.PIPE, text=True, env=environment()
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=60)
    assert out.splitlines() == ["interrupted by the user (Ctrl-C)", "True"]
