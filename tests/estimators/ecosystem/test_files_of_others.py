"""Files of skops, and runs of MLflow as docs/ecosystem.md says."""

import re
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from pellucid import BaggedMLPClassifier, MLPClassifier, MLPRegressor, TabularMLPRegressor

PAGE = Path(__file__).parents[3] / "docs" / "ecosystem.md"
X = np.random.default_rng(0).normal(size=(80, 3))
y = X[:, 0] > 0


@pytest.fixture
def net():
    return MLPClassifier((4,), tol=0.1, random_state=0).fit(X, y)


def blocks(heading):
    """Code below a heading of the page that does not run with the others: it needs what few have installed."""
    section = re.search(rf"^## {heading}\n(.*?)(?=^## |\Z)", PAGE.read_text("utf-8"), flags=re.M | re.S).group(1)
    return re.findall(r"```py\n(.*?)```", section, flags=re.S)


ESTIMATORS = {
    "classes": lambda: MLPClassifier((4,), norm="batch", dropout=0.1, activation="gelu", tol=0.1, random_state=0),
    "numbers": lambda: MLPRegressor(hidden_layer_sizes=(4,), activation="tanh", tol=0.1, random_state=0),
    "pipeline": lambda: make_pipeline(StandardScaler(), MLPClassifier((4,), tol=0.1, random_state=0)),
    "table": lambda: TabularMLPRegressor((4,), max_iter=2, random_state=0),
    "ensemble": lambda: BaggedMLPClassifier(MLPClassifier((4,), tol=0.1), n_estimators=2, random_state=0),
}


@pytest.mark.parametrize("kind", ESTIMATORS)
@pytest.mark.filterwarnings("ignore::pellucid.errors.DataWarning")  # two members are few
def test_skops_restores_estimators(kind):
    skops = pytest.importorskip("skops.io")
    target = X[:, 0] if kind in ("numbers", "table") else y
    estimator = ESTIMATORS[kind]().fit(X, target)
    stored = skops.dumps(estimator)
    types = skops.get_untrusted_types(data=stored)
    assert all(name.startswith(("pellucid.", "numpy.")) for name in types)
    loaded = skops.loads(stored, trusted=types)
    assert_array_equal(loaded.predict(X), estimator.predict(X))
    if kind in ("classes", "numbers"):
        loaded.partial_fit(X, target)
    with pytest.raises(TypeError, match="Untrusted types"):
        skops.loads(stored)


@pytest.mark.filterwarnings("ignore")  # of packages that it brings along
def test_the_mlflow_of_the_page(net, tmp_path):
    mlflow = pytest.importorskip("mlflow")
    mlflow.set_tracking_uri(f"sqlite:///{tmp_path / 'runs.db'}")
    mlflow.create_experiment("nets", artifact_location=(tmp_path / "artifacts").as_uri())
    mlflow.set_experiment("nets")
    (code,) = blocks("MLflow")
    namespace = {"ours": net, "__name__": "page"}
    exec(compile(code.replace("/tmp/net.pel", str(tmp_path / "net.pel")), str(PAGE), "exec"), namespace)
    assert_array_equal(namespace["served"].predict(X), net.predict(X))
    skops = pytest.importorskip("skops.io")
    types = skops.get_untrusted_types(data=skops.dumps(net))
    info = mlflow.sklearn.log_model(net, name="by skops", skops_trusted_types=types)
    assert_array_equal(mlflow.sklearn.load_model(info.model_uri).predict(X), net.predict(X))


def test_the_torch_of_the_page():
    torch = pytest.importorskip("torch")
    (code,) = blocks("From PyTorch")
    namespace: dict = {}
    exec(compile(code, str(PAGE), "exec"), namespace)
    rows = np.random.default_rng(0).normal(size=(5, 64)).astype(np.float32)
    scores = namespace["net"](torch.tensor(rows)).detach().numpy()
    np.testing.assert_allclose(namespace["model"].scores(rows), scores, atol=1e-5)
