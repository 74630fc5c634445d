"""Pellucid: fast multilayer perceptrons that you can see through.

>>> import numpy as np, pellucid as pel
>>> float(pel.grad(lambda x: np.sin(x))(0.0))
1.0
"""

from typing import TYPE_CHECKING, Any

from pellucid.autodiff import check_grads as check_grads
from pellucid.autodiff import grad as grad
from pellucid.autodiff import gradient_report as gradient_report
from pellucid.autodiff import hessian as hessian
from pellucid.autodiff import hvp as hvp
from pellucid.autodiff import jacobian as jacobian
from pellucid.autodiff import jvp as jvp
from pellucid.autodiff import numerical_grad as numerical_grad
from pellucid.autodiff import value_and_grad as value_and_grad
from pellucid.autodiff import vjp as vjp
from pellucid.engine import compile as compile
from pellucid.engine import run as run
from pellucid.graph import Graph as Graph
from pellucid.graph import Spec as Spec
from pellucid.graph import named as named
from pellucid.graph import record as record
from pellucid.graph import scope as scope
from pellucid.graph.core.primitive import elementwise as elementwise
from pellucid.graph.core.primitive import primitive as primitive
from pellucid.graph.core.tree import tree_map as tree_map
from pellucid.graph.numpy_api import log_softmax as log_softmax
from pellucid.graph.numpy_api import logsumexp as logsumexp
from pellucid.graph.numpy_api import softmax as softmax
from pellucid.graph.primitives import random as random
from pellucid.graph.primitives.control import custom_rule as custom_rule
from pellucid.graph.primitives.control import safe_where as safe_where
from pellucid.graph.primitives.control import stop_gradient as stop_gradient
from pellucid.graph.primitives.indexing import one_hot as one_hot

if TYPE_CHECKING:
    from pellucid.estimators import BaggedMLPClassifier as BaggedMLPClassifier
    from pellucid.estimators import BaggedMLPRegressor as BaggedMLPRegressor
    from pellucid.estimators import MLPClassifier as MLPClassifier
    from pellucid.estimators import MLPRegressor as MLPRegressor
    from pellucid.estimators import TabularMLPClassifier as TabularMLPClassifier
    from pellucid.estimators import TabularMLPRegressor as TabularMLPRegressor
    from pellucid.estimators import tune as tune
    from pellucid.estimators.warmup import warmup as warmup
    from pellucid.lab import plot_boundary as plot_boundary
    from pellucid.loading import describe as describe
    from pellucid.loading import load as load
    from pellucid.report import report as report
    from pellucid.train import Model as Model
    from pellucid.train import fit_many as fit_many

__version__ = "0.2.0"

_LATER = {
    "Model": "pellucid.train",
    "fit_many": "pellucid.train",
    "describe": "pellucid.loading",
    "load": "pellucid.loading",
    "plot_boundary": "pellucid.lab",
    "BaggedMLPClassifier": "pellucid.estimators",
    "BaggedMLPRegressor": "pellucid.estimators",
    "MLPClassifier": "pellucid.estimators",
    "MLPRegressor": "pellucid.estimators",
    "TabularMLPClassifier": "pellucid.estimators",
    "TabularMLPRegressor": "pellucid.estimators",
    "tune": "pellucid.estimators",
    "warmup": "pellucid.estimators.warmup",
}


_ROOMS = ("dask", "distributed", "export", "importing", "inspect", "lab", "nn", "optim", "report", "train")


def __getattr__(name: str) -> Any:
    """What brings larger rooms with it is imported when it is first asked for."""
    if name in _ROOMS:
        import importlib

        return importlib.import_module(f"pellucid.{name}")
    if name in _LATER:
        import importlib

        return getattr(importlib.import_module(_LATER[name]), name)
    raise AttributeError(f"module 'pellucid' has no attribute {name!r}")
