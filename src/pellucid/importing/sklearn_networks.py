"""from_sklearn: a fitted MLP of scikit-learn, with the scalers ahead of it, as an estimator of ours."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
from sklearn import neural_network
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from pellucid.estimators import MLPClassifier, MLPRegressor, NetworkSettings
from pellucid.estimators.base import put_layers
from pellucid.estimators.class_target import target_of
from pellucid.estimators.convergence import Curves
from pellucid.estimators.fitted import Fitted, begin
from pellucid.estimators.number_target import number_target
from pellucid.estimators.recipe import Recipe, plain_recipe
from pellucid.estimators.target import Target
from pellucid.importing.sklearn_scalers import layer_of
from pellucid.train.model import Progress


def from_sklearn(estimator: Any) -> MLPClassifier | MLPRegressor:
    """A fitted `MLPClassifier` or `MLPRegressor` of scikit-learn as one of ours: the same parameters and predictions.

    It predicts, is saved, diagnosed and trained on: `partial_fit` goes on with the state of scikit-learn's optimizer,
    `fit` with `warm_start=True` with its weights. Scalers of a pipeline become a layer in front of the network
    (`NetworkSettings.fixed_scale`), so that raw rows go in; further training leaves their numbers alone.

    Parameters
    ----------
    estimator : sklearn.neural_network.MLPClassifier | MLPRegressor | Pipeline
        fitted; or a fitted pipeline of StandardScaler, MinMaxScaler, MaxAbsScaler or RobustScaler and one of them

    Returns
    -------
    MLPClassifier | MLPRegressor
        fitted

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.neural_network import MLPRegressor as Theirs
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> X = np.random.default_rng(0).normal(5.0, 2.0, size=(100, 3))
    >>> pipeline = make_pipeline(StandardScaler(), Theirs(hidden_layer_sizes=8, solver="lbfgs", tol=0.1))
    >>> ours = from_sklearn(pipeline.fit(X, X[:, 0] * X[:, 1]))
    >>> bool(np.allclose(ours.predict(X), pipeline.predict(X), rtol=0, atol=1e-10))
    True
    """
    steps = [step for _, step in estimator.steps] if isinstance(estimator, Pipeline) else [estimator]
    theirs = steps[-1]
    if not isinstance(theirs, neural_network.MLPClassifier | neural_network.MLPRegressor):
        raise TypeError(
            f"from_sklearn takes a fitted MLPClassifier or MLPRegressor of sklearn.neural_network, or a Pipeline that "
            f"ends with one, got {_described(estimator, theirs)}"
        )
    check_is_fitted(theirs)
    scaler = layer_of(steps[:-1])
    network = None if scaler is None else NetworkSettings(fixed_scale=scaler)
    kind = MLPClassifier if isinstance(theirs, neural_network.MLPClassifier) else MLPRegressor
    known = {name: value for name, value in theirs.get_params(deep=False).items() if name in kind.declared}
    ours = kind(**known, network=network)
    recipe = plain_recipe(ours, _target(theirs), theirs.coefs_[0].dtype)
    return ours.with_fitted(_fitted(theirs, recipe), _columns(steps))


def _described(estimator: Any, last: Any) -> str:
    """What was given, and what to give instead, where that is known."""
    inner = getattr(estimator, "best_estimator_", None) or getattr(estimator, "regressor_", None)
    words = f"a {type(estimator).__name__}"
    if last is not estimator:
        return f"{words} that ends with a {type(last).__name__}"
    if inner is None:
        return words
    name = "best_estimator_" if hasattr(estimator, "best_estimator_") else "regressor_"
    return f"{words}: give its {name}, which is a {type(inner).__name__}"


def _columns(steps: list[Any]) -> SimpleNamespace:
    """The number of columns that go in, and their names if they have any."""
    first = next(step for step in steps if hasattr(step, "n_features_in_"))
    names = ("n_features_in_", "feature_names_in_")
    return SimpleNamespace(**{name: getattr(first, name) for name in names if hasattr(first, name)})


def _target(theirs: Any) -> Target:
    """What it was trained to predict."""
    if isinstance(theirs, neural_network.MLPClassifier):
        several = theirs.n_outputs_ > 1 and theirs.out_activation_ == "logistic"
        return target_of(np.asarray(theirs.classes_), several, "log_loss", 0.0)
    outputs = theirs.n_outputs_
    loss = getattr(theirs, "loss", "squared_error")
    return number_target(np.zeros(1) if outputs == 1 else np.zeros((1, outputs)), loss)


def _fitted(theirs: Any, recipe: Recipe) -> Fitted:
    """Weights, curves, and what a further training goes on from."""
    start = begin(recipe, theirs.coefs_[0].shape[0], np.random.RandomState(0))
    put_layers(start, "coefs_", [weight.copy() for weight in theirs.coefs_])
    put_layers(start, "intercepts_", [bias.copy() for bias in theirs.intercepts_])
    model = start.model
    rows = max(int(theirs.t_) // max(theirs.n_iter_, 1), 1)  # of an epoch; L-BFGS counts none
    model.penalty = recipe.penalty_for(rows)
    factor = 1.0
    optimizer = vars(theirs).get("_optimizer")
    if optimizer is not None:
        model.progress = _progress(theirs, optimizer, start, rows)
        factor = optimizer.learning_rate / theirs.learning_rate_init if theirs.solver == "sgd" else 1.0
    return replace(
        start, curves=_curves(theirs, factor), epochs=theirs.n_iter_, limit=theirs.max_iter, early=recipe.early
    )


def _curves(theirs: Any, factor: float) -> Curves:
    losses = [float(loss) for loss in getattr(theirs, "loss_curve_", [theirs.loss_])]
    scores = [float(score) for score in getattr(theirs, "validation_scores_", None) or []]
    return Curves(
        losses,
        scores=scores,
        best_loss=min(losses),
        best_score=max(scores, default=-np.inf),
        best_iter=int(np.argmax(scores)) + 1 if scores else 0,
        waited=int(getattr(theirs, "_no_improvement_count", 0)),
        rows=int(theirs.t_),
        factor=factor,
    )


def _progress(theirs: Any, optimizer: Any, start: Fitted, rows: int) -> Progress:
    """The state of its optimizer under the names of ours, so that the next step is the one that it would have made."""
    model = start.model
    names = [weight for weight, _ in start.layers] + [bias for _, bias in start.layers if bias is not None]
    size = min(200, rows) if theirs.batch_size == "auto" else min(theirs.batch_size, rows)
    steps = int(getattr(optimizer, "t", theirs.n_iter_ * -(-rows // size)))
    arrays = {"v": getattr(optimizer, "velocities", ()), "m": getattr(optimizer, "ms", ())}
    arrays["s"] = getattr(optimizer, "vs", ())
    rule = dict(model.optimizer.init(model.params))
    for kind, each in arrays.items():
        rule |= {f"rule.{name}.{kind}": array.copy() for name, array in zip(names, each, strict=False)}
    if theirs.solver == "adam":  # averages of a constant 1, after as many steps
        corrections = {"c1": 1.0 - theirs.beta_1**steps, "c2": 1.0 - theirs.beta_2**steps}
        for name in names:
            rule |= {f"rule.{name}.{key}": np.asarray(value) for key, value in corrections.items()}
    return Progress(rule, steps, theirs.n_iter_, model.params, model.params)
