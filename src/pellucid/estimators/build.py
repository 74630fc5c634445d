"""From an estimator's parameters to a `Model`: network, loss, optimizer, penalty, first weights."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from pellucid import nn, optim
from pellucid.estimators.checks import layer_sizes
from pellucid.estimators.settings import NetworkSettings, TrainingSettings
from pellucid.train import Metric, Model

PAYS = 0.1
"""Seconds of NumPy from which a fit is compiled: most fits share their kernels, so each need not pay for them alone."""

SKLEARN = ("identity", "logistic", "tanh", "relu")
"""scikit-learn's activations: with them, weights start as scikit-learn's."""


def network_settings(estimator: Any) -> NetworkSettings:
    return estimator.network if estimator.network is not None else NetworkSettings()


def training_settings(estimator: Any) -> TrainingSettings:
    return estimator.training if estimator.training is not None else TrainingSettings()


def starts_like_sklearn(estimator: Any) -> bool:
    init = network_settings(estimator).init
    if init is not None:
        return isinstance(init, str) and init == "sklearn"
    plain = isinstance(estimator.activation, str) and estimator.activation in SKLEARN
    return plain and network_settings(estimator).scaling == "standard"


def build(estimator: Any, outputs: int, loss: nn.Loss, dtype: Any, metric: Metric | None) -> Model:
    """The model, without parameters and without penalty."""
    settings, training = network_settings(estimator), training_settings(estimator)
    ready = starts_like_sklearn(estimator)
    default = "auto" if ready or settings.init is None else settings.init
    net: nn.Layer = nn.mlp(
        layer_sizes(estimator),
        outputs,
        activation=estimator.activation,
        norm=estimator.norm,
        norm_place=settings.norm_place,
        dropout=_listed(estimator.dropout),
        input_dropout=settings.input_dropout,
        init=_listed(default),
        output_init="auto" if settings.output_init is None else settings.output_init,
        bias=0.0 if settings.bias is None else settings.bias,
        output_bias="same" if settings.output_bias is None else settings.output_bias,
        scaling=settings.scaling,
    )
    net = estimator._with_inputs(net, settings.input_scale)
    model = Model(
        net,
        loss,
        optimizer(estimator),
        [metric] if metric is not None else [],
        dtype=dtype,
        settings=training.scheduled,
        engine=estimator.engine,
        threads=estimator.threads,
    )
    model.pays, model.tells = PAYS, False
    return model


def rebuilt(estimator: Any, old: Model, outputs: int, loss: nn.Loss, metric: Metric | None) -> Model:
    """The model of an earlier fit, with the parameters that have been changed since; its weights stay."""
    new = build(estimator, outputs, loss, old.dtype, metric)
    parts = ("net", "loss", "optimizer", "metrics", "settings", "engine", "threads")
    if all(getattr(new, part) == getattr(old, part) for part in parts):
        return old
    fresh = new.net.initialize(old.features, dtype=old.dtype)
    for tree, known in zip(fresh, (old.params, old.state), strict=True):
        wanted, found = ({name: np.shape(a) for name, a in one.items()} for one in (tree, known))
        if wanted != found:
            raise ValueError(
                f"{type(estimator).__name__}: the network was made with arrays {found}, the parameters now ask for "
                f"{wanted}: a warm start goes on with the same layers; set warm_start=False to begin anew"
            )
    new.params, new.state, new.features, new.history = old.params, old.state, old.features, old.history
    if old.progress is not None and new.optimizer.init(old.params).keys() == old.progress.rule.keys():
        new.progress = old.progress
    return new


def _listed(value: Any) -> Any:
    return value.tolist() if isinstance(value, np.ndarray) else value


def optimizer(estimator: Any) -> optim.Optimizer:
    """The solver's rule, or the one given, with clipping, decay and averages around it."""
    training, rate = training_settings(estimator), estimator.learning_rate_init
    given = estimator.optimizer
    base = given if isinstance(given, optim.Optimizer) else optim.optimizer(_rule(estimator, given, rate))
    if training.schedule is not None:
        base = replace(base, rule=_with_rate(base.rule, _schedule(training.schedule, base.rule.lr)))
    parts: list[Any] = [base]
    if training.clip_norm is not None:
        parts.insert(0, optim.ClipNorm(training.clip_norm))
    if training.clip_value is not None:
        parts.insert(0, optim.ClipValue(training.clip_value))
    if isinstance(training.weight_decay, optim.Schedule) or training.weight_decay:
        parts.append(optim.WeightDecay(training.weight_decay))
    if training.ema is not None:
        parts.append(optim.EMA(training.ema))
    return optim.chain(*parts, groups=tuple(training.groups))


def _rule(estimator: Any, given: Any, rate: float) -> optim.Rule:
    if given is None and estimator.solver == "sgd":
        return optim.SklearnSGD(rate, float(estimator.momentum), bool(estimator.nesterovs_momentum))
    if given is None:
        return optim.SklearnAdam(rate, float(estimator.beta_1), float(estimator.beta_2), float(estimator.epsilon))
    if isinstance(given, str):
        return optim.optimizer(given, lr=rate).rule
    if isinstance(given, optim.Rule):
        return given
    raise ValueError(
        f"{type(estimator).__name__}: optimizer is a rule of pellucid.optim, its name, or a chain, got {given!r}"
    )


def _with_rate(rule: optim.Rule, rate: Any) -> optim.Rule:
    return replace(rule, lr=rate)  # type: ignore[type-var,unused-ignore]


def _schedule(which: Any, rate: Any) -> Any:
    """A schedule by object, or by name with the rate as its start."""
    return optim.schedule(which, start=float(rate)) if isinstance(which, str) else which


def penalty(estimator: Any, rows: float) -> nn.Penalty | None:
    """½ alpha Σ w² / rows (the sum of the sample weights), or the penalty given in its place.

    scikit-learn divides by the rows of each batch, although its documentation says the sample: `compat="sklearn"`.
    """
    if estimator.penalty is not None:
        if not isinstance(estimator.penalty, nn.Penalty):
            raise ValueError(
                f"{type(estimator).__name__}: penalty is one of pellucid.nn, such as nn.L1(1e-4) + nn.L2(1e-3), "
                f"got {estimator.penalty!r}"
            )
        return estimator.penalty
    if not estimator.alpha:
        return None
    if estimator.compat == "sklearn":
        return nn.PerRow(nn.L2(float(estimator.alpha)))
    strength, reach = float(estimator.alpha) / rows, np.finfo(estimator.model_.dtype).max ** 0.5
    if not strength < reach:
        raise ValueError(
            f"{type(estimator).__name__}: the sample weights add up to {rows:.3g}. alpha is divided by that sum, for a "
            f"weight of 2 is the same as a row twice; alpha={estimator.alpha:g} would be {strength:.3g}: scale the "
            "weights, w / w.mean(), or set alpha=0"
        )
    return nn.L2(strength)


def start(estimator: Any, model: Model, features: int, rng: np.random.RandomState) -> None:
    """First parameters: scikit-learn's draws in scikit-learn's order, or what the initialisers say."""
    if not starts_like_sklearn(estimator):
        model.initialize(features, seed=int(rng.randint(2**31 - 1)))
        return
    model.initialize(features)
    factor = 2.0 if estimator.activation == "logistic" else 6.0
    for weight, bias in layer_names(model):
        shape = model.params[weight].shape
        bound = np.sqrt(factor / sum(shape))
        model.params[weight] = rng.uniform(-bound, bound, shape).astype(model.dtype, copy=False)
        if bias is not None:
            model.params[bias] = rng.uniform(-bound, bound, shape[1]).astype(model.dtype, copy=False)


def layer_names(model: Model) -> list[tuple[str, str | None]]:
    """Names of the weight and the bias of each layer."""
    found: list[tuple[str, str | None]] = []
    for name in model.params:
        if name.endswith(".weight") and (name.startswith("hidden") or name == "output.weight"):
            bias = f"{name.removesuffix('.weight')}.bias"
            found.append((name, bias if bias in model.params else None))
    return found
