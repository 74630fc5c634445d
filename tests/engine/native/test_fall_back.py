"""Where nothing can be compiled, NumPy computes, and that is said once."""

from __future__ import annotations

import os
import subprocess
import sys

SCRIPT = """
import os, sys, warnings

class Blocked:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {blocked!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)

sys.meta_path.insert(0, Blocked())

import numpy as np
import pellucid as pel
from pellucid import Model, nn, optim
from pellucid.train import ProgressBar

X = np.random.default_rng(0).normal(size=(40, 3)).astype(np.float32)

def fitted(engine):
    model = Model(nn.mlp((5,), 1), optimizer=optim.Adam(0.01), engine=engine, metrics=["r2"])
    model.pays = 0.0
    model.fit(X, X[:, 0], epochs=3, batch_size=16, validation=0.2, verbose=False)
    return model

with warnings.catch_warnings(record=True) as told:
    warnings.simplefilter("always")
    models = [fitted(engine) for engine in ("auto", "native", "auto")]
    predictions = [model.predict(X) for model in models]
    batches = [(X[:16], X[:16, 0]), (X[16:], X[16:, 0])]
    models[0].fit(batches, epochs=1, callbacks=[ProgressBar("silent")])
    total = pel.compile(lambda v: np.sum(np.tanh(v) * v), engine="native")(X)
reference = fitted("numpy")
assert np.isclose(total, np.sum(np.tanh(X) * X))
for model, prediction in zip(models[1:], predictions[1:]):
    assert all(np.array_equal(model.params[name], reference.params[name]) for name in reference.params)
    assert np.array_equal(prediction, reference.predict(X))
print(len(told), told[0].category.__name__, told[0].message)
"""


def test_numpy_computes_where_nothing_can_be_compiled(tmp_path):
    environment = {**os.environ, "PELLUCID_CACHE_DIR": str(tmp_path)}
    script = SCRIPT.format(blocked=("llvmlite",))
    done = subprocess.run([sys.executable, "-c", script], env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("1 FallbackWarning"), done.stdout
    assert "No module named 'llvmlite'" in done.stdout
    assert "NumPy" in done.stdout
    assert not done.stderr  # nothing is announced that will not happen


HOMELESS = """
import os, pwd, warnings

def nobody(number):
    raise KeyError(number)

pwd.getpwuid = nobody
import numpy as np
import pellucid as pel

with warnings.catch_warnings(record=True) as told:
    warnings.simplefilter("always")
    results = [float(pel.compile(f, engine="native")(np.arange(3.0))) for f in (np.sum, np.max)]
print(len(told), results, told[0].message)
"""


def test_without_a_home_directory_nothing_fails(tmp_path):
    environment = {k: v for k, v in os.environ.items() if k not in ("HOME", "XDG_CACHE_HOME", "PELLUCID_CACHE_DIR")}
    done = subprocess.run(
        [sys.executable, "-c", HOMELESS], env=environment, cwd=tmp_path, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("1 [3.0, 2.0]"), done.stdout
    assert "PELLUCID_CACHE_DIR" in done.stdout
    assert not list(tmp_path.iterdir())
