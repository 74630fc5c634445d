"""How a network is made and trained, complete: built once from an estimator's parameters, never changed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from pellucid import nn, optim
from pellucid.amounts import is_whole
from pellucid.estimators.convergence import Patience, Rates
from pellucid.estimators.mlp_parameters import COMPAT, Activation, Compat, Monitor, MoreParameters, SklearnParameters
from pellucid.estimators.settings import NetworkSettings, Path, TrainingSettings
from pellucid.estimators.target import Target
from pellucid.notices import notice
from pellucid.train import METRICS, Callback, Metric, Model, Run
from pellucid.train.metrics import metric as find_metric

PAYS = 0.1
"""Seconds of NumPy from which a fit is compiled: most fits share their kernels, so each need not pay for them alone."""

SKLEARN = {"identity": 6.0, "logistic": 2.0, "tanh": 6.0, "relu": 6.0}
"""scikit-learn's activations and the factor of their first weights: with them, weights start as scikit-learn's."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Recipe:
    """What `fit` needs to know.

    `start` is scikit-learn's factor of the bound of first weights, None where the network's initialisers say it.
    `alpha` is divided by the sum of the sample weights, unless a `penalty` takes its place. `metric` scores validation
    rows; None is the loss. `max_fun` is None unless L-BFGS is to do it. `early`: validation rows decide.
    """

    who: str  # the estimator's class, for messages
    target: Target
    network: nn.Layer
    members: int = 1  # of the network
    start: float | None
    optimizer: optim.Optimizer
    alpha: float
    penalty: nn.Penalty | None
    metric: Metric | None
    batch_size: int | None  # None: up to 200
    epochs: int
    patience: Patience
    early: bool
    rates: Rates = field(default_factory=Rates)
    shuffle: bool = True
    max_fun: int | None = None
    scheduled: Mapping[str, optim.Schedule] | None = None
    callbacks: Sequence[Callback | Callable[[Run], object]] = ()
    checkpoint: Path | None = None
    resume: Path | None = None
    max_time: float | None = None
    calibrate: bool = False
    verbose: bool | float | str = False
    dtype: np.dtype[np.floating]
    engine: str = "auto"
    threads: int | None = None
    precision: str = "full"
    compat: Compat = COMPAT[None]

    def model(self) -> Model:
        """The model, without parameters and without penalty."""
        loss = self.target.loss
        model = Model(
            self.network,
            loss if self.members == 1 else nn.EachMember(loss, self.members),
            self.optimizer,
            [] if self.metric is None else [self.target.scored(self.metric)],
            dtype=self.dtype,
            settings=None if self.scheduled is None else dict(self.scheduled),
            engine=self.engine,
            threads=self.threads,
            precision=self.precision,
        )
        model.pays, model.tells = PAYS, False
        return model

    def penalty_for(self, total: float) -> nn.Penalty | None:
        """½ alpha Σ w² / total, the sum of the sample weights; or the penalty given in its place."""
        if self.penalty is not None or not self.alpha:
            return self.penalty
        if self.compat.penalty_per_batch:
            return nn.PerRow(nn.L2(self.alpha))
        strength = self.alpha / total
        if not strength < np.finfo(self.dtype).max ** 0.5:
            raise ValueError(
                f"{self.who}: the sample weights add up to {total:.3g}. alpha is divided by that sum, for a weight of "
                f"2 is the same as a row twice; alpha={self.alpha:g} would be {strength:.3g}: scale the weights, "
                "w / w.mean(), or set alpha=0"
            )
        return nn.L2(strength)


class PlainParameters(MoreParameters, SklearnParameters):
    """All parameters of a network on arrays but those of the target."""

    @property
    def stochastic(self) -> bool:
        """Is it trained step by step, rather than by L-BFGS?"""
        return self.solver != "lbfgs" or self.optimizer is not None


def plain_recipe(parameters: PlainParameters, target: Target, dtype: np.dtype[np.floating]) -> Recipe:
    """The recipe that scikit-learn's parameters, and those beyond them, ask for.   dtype: that of X"""
    compat = COMPAT[parameters.compat]
    network = parameters.network or NetworkSettings()
    training = parameters.training or TrainingSettings()
    by_steps = parameters.stochastic
    start = sklearn_start(parameters.activation, network)
    metric = monitored(parameters.monitor, target)
    recipe = Recipe(
        who=type(parameters).__name__,
        target=target,
        network=network_of(
            layer_sizes(parameters.hidden_layer_sizes),
            target.outputs,
            parameters.activation,
            network,
            dropout=parameters.dropout,
            norm=parameters.norm,
            ready=start is not None,
        ),
        members=network.members,
        start=start,
        optimizer=_optimizer(parameters, training),
        alpha=float(parameters.alpha),
        penalty=parameters.penalty,
        metric=metric,
        batch_size=None if parameters.batch_size == "auto" else int(parameters.batch_size),
        epochs=int(parameters.max_iter),
        patience=Patience(
            tol=float(parameters.tol),
            epochs=float(parameters.n_iter_no_change),
            sign=sign_of(metric),
            late=compat.late_patience,
            keep=training.keep,
        ),
        early=bool(parameters.early_stopping) and by_steps,
        rates=_rates(parameters) if by_steps else Rates(),
        shuffle=bool(parameters.shuffle),
        max_fun=None if by_steps else int(parameters.max_fun),
        scheduled=training.scheduled,
        callbacks=parameters.callbacks,
        checkpoint=training.checkpoint,
        resume=training.resume,
        max_time=parameters.max_time,
        calibrate=bool(training.calibrate) or target.always_calibrated,
        verbose=parameters.verbose,
        dtype=np.dtype(parameters.dtype) if parameters.dtype is not None else dtype,
        engine=parameters.engine,
        threads=parameters.threads,
        precision=parameters.precision,
        compat=compat,
    )
    if not by_steps:
        _tell_of_idle(parameters, training)
    return recipe


def layer_sizes(asked: object) -> list[int]:
    """hidden_layer_sizes as a list of positive whole numbers; () is a network without hidden layers."""
    array = np.asarray(asked)
    sizes: list[Any] = array.reshape(-1).tolist() if array.ndim <= 1 else [asked]
    if not all(is_whole(size) for size in sizes):
        raise ValueError(
            f"hidden_layer_sizes must be > 0, got {sizes}: whole numbers, one for each hidden layer, such as (100, 50)"
        )
    return sizes


def sklearn_start(activation: object, network: NetworkSettings) -> float | None:
    """scikit-learn's factor of first weights; None where initialisers make them."""
    named = activation if isinstance(activation, str) else ""
    if network.init is not None:
        asked = isinstance(network.init, str) and network.init == "sklearn"
        return SKLEARN.get(named, 6.0) if asked else None
    return SKLEARN.get(named) if network.scaling == "standard" else None


def network_of(
    sizes: Sequence[int],
    outputs: int,
    activation: Activation | Sequence[Activation],
    settings: NetworkSettings,
    *,
    dropout: float | Sequence[float],
    norm: str | nn.Layer | None,
    ready: bool,
    left_out: nn.LeaveOut | None = None,
    unknown: float = 0.0,
) -> nn.Layer:
    """The layers. `ready`: first weights come from elsewhere, so no initialiser is asked for.

    unknown: the share of codes that are taken for unknown in training
    """
    net: nn.Layer = nn.mlp(
        sizes,
        outputs,
        activation=activation,
        norm=norm,
        norm_place=settings.norm_place,
        dropout=_plain(dropout),
        input_dropout=settings.input_dropout,
        init="auto" if ready or settings.init is None else _plain(settings.init),
        output_init="auto" if settings.output_init is None else settings.output_init,
        bias=0.0 if settings.bias is None else settings.bias,
        output_bias="same" if settings.output_bias is None else settings.output_bias,
        scaling=settings.scaling,
        members=settings.members,
    )
    ahead: list[tuple[str, nn.Layer]] = [] if left_out is None else [("input.columns", left_out)]
    if settings.fixed_scale is not None:
        ahead.append(("input.fixed_scale", settings.fixed_scale))
    if settings.embeddings:
        sizes_of_codes, dims = tuple(settings.embeddings), _plain(settings.embedding_dim)
        ahead.append(("input.embed", nn.Embed(sizes_of_codes, dims, unknown=unknown)))
    if settings.piecewise:
        pieces = settings.piecewise
        layer = pieces if isinstance(pieces, nn.PiecewiseLinear) else nn.PiecewiseLinear(pieces)
        ahead.append(("input.piecewise", layer))
    if settings.periodic:
        ahead.append(("input.periodic", nn.Periodic(settings.periodic)))
    if settings.input_scale:
        ahead.append(("input.scale", nn.Scale()))
    return nn.Sequential(*ahead, *net.children) if ahead else net


def _plain(value: Any) -> Any:
    """An array or a list as a tuple, anything else as it is."""
    if isinstance(value, np.ndarray):
        value = value.tolist()
    return tuple(value) if isinstance(value, list) else value


def monitored(which: Monitor, target: Target) -> Metric | None:
    """What the validation rows are scored by; None is the loss itself."""
    if which is None:
        return target.usual_metric
    if isinstance(which, str) and which == "loss":
        return None
    return scorer(which)


def sign_of(metric: Metric | None) -> float:
    """-1 where a smaller score of the validation rows is better; None is the loss."""
    return -1.0 if metric is None or metric.mode == "min" else 1.0


def name_of(metric: Metric | None) -> str:
    """What histories call it; None is the loss."""
    return "loss" if metric is None else metric.name


def scorer(which: object) -> Metric:
    """A metric by name, a scorer of scikit-learn by name or object, or a function (y, prediction)."""
    if isinstance(which, str) and which not in METRICS:
        from sklearn.metrics import get_scorer, get_scorer_names

        if which not in get_scorer_names():
            raise ValueError(
                f"monitor is 'loss', a metric ({', '.join(METRICS)}), a scorer of scikit-learn by name or object, or a "
                f"function (y, prediction), got {which!r}"
            )
        which = get_scorer(which)
    try:
        return find_metric(which)
    except TypeError as error:
        raise ValueError(f"monitor: {error}") from None


# the optimizer


def _optimizer(parameters: PlainParameters, training: TrainingSettings) -> optim.Optimizer:
    """The solver's rule, or the one given, with clipping, decay and averages around it."""
    asked, start = parameters.optimizer, parameters.learning_rate_init
    if asked is None and parameters.solver == "sgd":
        asked = optim.SklearnSGD(start, float(parameters.momentum), bool(parameters.nesterovs_momentum))
    elif asked is None:
        asked = optim.SklearnAdam(start, float(parameters.beta_1), float(parameters.beta_2), float(parameters.epsilon))
    base = optim.optimizer(asked, lr=start) if isinstance(asked, str) else optim.optimizer(asked)
    if training.schedule is not None:
        rate = training.schedule
        if isinstance(rate, str):  # by name, with the rate as its start
            rate = optim.schedule(rate, start=float(base.rule.lr))  # type: ignore[arg-type]
        base = replace(base, rule=replace(base.rule, lr=rate))
    return around(base, training)


def around(base: optim.Optimizer | optim.Rule, training: TrainingSettings) -> optim.Optimizer:
    """A rule with what the settings put ahead of it and behind it."""
    links: list[optim.Optimizer | optim.Rule | optim.Link] = [base]
    if training.clip_norm is not None:
        links.insert(0, optim.ClipNorm(training.clip_norm))
    if training.clip_value is not None:
        links.insert(0, optim.ClipValue(training.clip_value))
    if isinstance(training.weight_decay, optim.Schedule) or training.weight_decay:
        links.append(optim.WeightDecay(training.weight_decay))
    if training.ema is not None:
        links.append(optim.EMA(training.ema))
    return optim.chain(*links, groups=tuple(training.groups))


def _rates(parameters: PlainParameters) -> Rates:
    kind = parameters.learning_rate
    if kind != "constant" and (parameters.solver != "sgd" or parameters.optimizer is not None):
        notice(
            f"learning_rate={kind!r} is for solver='sgd' and has no effect here: give a schedule, "
            "training=TrainingSettings(schedule='cosine')"
        )
        kind = "constant"
    return Rates(kind, float(parameters.learning_rate_init), float(parameters.power_t))


def _tell_of_idle(parameters: PlainParameters, training: TrainingSettings) -> None:
    """Warn of what was asked for of steps that L-BFGS does not make."""
    asked = {name: getattr(parameters, name) for name in ("early_stopping", "callbacks", "max_time")}
    names = ("schedule", "clip_norm", "clip_value", "weight_decay", "ema", "groups", "checkpoint", "resume")
    asked |= {f"training.{name}": getattr(training, name) for name in names}
    asked["precision"] = parameters.precision != "full"
    idle = [name for name, value in asked.items() if value]
    if idle:
        notice(f"{', '.join(idle)}: no effect with solver='lbfgs', use 'adam'")
