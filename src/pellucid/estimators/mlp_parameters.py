"""The parameters of MLPClassifier and MLPRegressor: scikit-learn's, those beyond it, and those of the target."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import TypeAlias

import numpy as np

from pellucid import nn, optim
from pellucid.amounts import (
    ABOVE_0,
    FLOATS,
    FROM_0,
    SHARE,
    WHOLE,
    YES_NO,
    Condition,
    an,
    each,
    is_number,
    is_whole,
    one_of,
    or_each,
    or_none,
)
from pellucid.data.types import Array
from pellucid.engine.compile import ENGINES
from pellucid.estimators.parameters import WHOLE_OR_AUTO, Parameters, parameter
from pellucid.estimators.settings import NetworkSettings, TrainingSettings
from pellucid.graph.primitives.products import PRECISIONS
from pellucid.train import Callback, Metric, Run

Activation: TypeAlias = str | nn.Activation | Callable[[Array], Array]
Loss: TypeAlias = str | nn.Loss | Callable[[Array, Array], Array]
Monitor: TypeAlias = str | Metric | Callable[[Array, Array], float] | None
RandomState: TypeAlias = int | np.random.RandomState | None
ClassWeight: TypeAlias = Mapping[object, float] | str | None


@dataclass(frozen=True)
class Compat:
    """Behaviours of scikit-learn's that `compat="sklearn"` asks for, all of them."""

    penalty_per_batch: bool = False
    """alpha is divided by the rows of each batch, although the documentation says the sample."""

    limited_loss: bool = False
    """The log-loss that is shown never exceeds that of a probability of the smallest float."""

    mean_of_outputs: bool = False
    """With several outputs the mean of the squared errors is shown, with the gradient of the sum."""

    late_patience: bool = False
    """Training stops one epoch later than `n_iter_no_change` says."""

    forgets: bool = False
    """A warm start draws another split and order, and the optimizer begins anew."""

    scipy_tolerance: bool = False
    """L-BFGS ends by SciPy's own share of the loss, whatever `tol` is."""

    strata_of_two: bool = False
    """The random split keeps the shares of classes only where there are two."""


COMPAT = {None: Compat(), "sklearn": Compat(*[True] * 7)}
"""By the parameter `compat`."""


class SklearnParameters(Parameters):
    """Those of scikit-learn's networks, with its names, defaults and meaning."""

    hidden_layer_sizes: int | Sequence[int] = parameter(default=(100,), doc="units of each hidden layer", kw_only=False)
    activation: Activation | Sequence[Activation] = parameter(
        default="relu",
        doc="a name, an object or function of one's own, or a list with one for each hidden layer",
        kw_only=False,
    )
    solver: str = parameter(
        default="adam",
        condition=one_of(
            "lbfgs", "sgd", "adam", words="'lbfgs', 'sgd' or 'adam' (other rules: optimizer=optim.RMSprop())"
        ),
        doc='"adam", "sgd" or "lbfgs"',
    )
    alpha: float = parameter(
        default=0.0001,
        condition=FROM_0,
        doc="strength of the L2 penalty; it is divided by the number of training rows, whatever the batch size",
    )
    batch_size: int | str = parameter(
        default="auto",
        condition=WHOLE_OR_AUTO,
        doc='rows of a step; "auto" is 200, or all',
    )
    learning_rate: str = parameter(
        default="constant",
        condition=one_of("constant", "invscaling", "adaptive"),
        doc='how the rate of solver="sgd" goes: "constant", "invscaling" or "adaptive"',
    )
    learning_rate_init: float = parameter(default=0.001, condition=ABOVE_0, doc="the learning rate, or its start")
    power_t: float = parameter(default=0.5, condition=FROM_0, doc='the power of "invscaling"')
    max_iter: int = parameter(default=200, condition=WHOLE, doc="epochs at most")
    shuffle: bool = parameter(default=True, condition=YES_NO, doc="another order of the rows in every epoch")
    random_state: RandomState = parameter(default=None, doc="a seed or generator, for first weights, splits and orders")
    tol: float = parameter(default=1e-4, condition=FROM_0, doc="an improvement by less than this is none")
    verbose: bool | float | str = parameter(
        default=False,
        condition=an((Real, np.bool_), "").or_(
            one_of("auto", "bar", "lines", "silent"),
            "True, False, a number, or 'bar' for a progress bar ('auto', 'lines')",
        ),
        doc='print the epochs; "bar" shows a progress bar',
    )
    warm_start: bool = parameter(
        default=False, condition=YES_NO, doc="the next fit goes on from the parameters of this one"
    )
    momentum: float = parameter(
        default=0.9,
        condition=Condition(lambda v: is_number(v, 0, 1, closed=True), "a number in [0, 1]"),
        doc='of solver="sgd"',
    )
    nesterovs_momentum: bool = parameter(default=True, condition=YES_NO, doc="the momentum of Nesterov")
    early_stopping: bool = parameter(
        default=False, condition=YES_NO, doc="validation rows decide when to stop, and which epoch is kept"
    )
    validation_fraction: float = parameter(
        default=0.1, condition=SHARE, doc="share of the rows that early stopping sets aside"
    )
    beta_1: float = parameter(default=0.9, condition=SHARE, doc='of solver="adam": decay of the average of gradients')
    beta_2: float = parameter(default=0.999, condition=SHARE, doc="and of their squares")
    epsilon: float = parameter(default=1e-8, condition=ABOVE_0, doc="and what keeps its divisor from 0")
    n_iter_no_change: int | float = parameter(
        default=10,
        condition=Condition(lambda v: is_whole(v) or v == np.inf, "a whole number from 1, or infinity"),
        doc="epochs without improvement after which it stops",
    )
    max_fun: int = parameter(default=15000, condition=WHOLE, doc='calls of the loss by solver="lbfgs" at most')


class MoreParameters(Parameters):
    """Those beyond scikit-learn's."""

    dropout: float | Sequence[float] = parameter(
        default=0.0,
        condition=or_each(SHARE, "a number in [0, 1), or a list with one for each hidden layer"),
        doc="share of hidden units left out, or a list with one for each hidden layer",
    )
    norm: str | nn.Layer | None = parameter(default=None, doc='"batch", "layer", "rms" or a layer, for hidden layers')
    penalty: nn.Penalty | None = parameter(
        default=None,
        condition=or_none(an(nn.Penalty, ""), "one of pellucid.nn, such as nn.L1(1e-4) + nn.L2(1e-3)"),
        doc="L1, L2, elastic net on chosen layers, in place of alpha",
    )
    optimizer: str | optim.Rule | optim.Optimizer | None = parameter(
        default=None,
        condition=or_none(an((str, optim.Rule, optim.Optimizer), ""), "a rule of pellucid.optim, its name, or a chain"),
        doc="any rule or chain of `pellucid.optim`, in place of solver",
    )
    monitor: Monitor = parameter(
        default=None,
        doc='what validation rows are scored by: "loss", a metric or scorer by name, a function (y, prediction)',
    )
    callbacks: Sequence[Callback | Callable[[Run], object]] = parameter(
        default=(),
        condition=each(
            Condition(lambda v: isinstance(v, Callback) or (callable(v) and not isinstance(v, type)), ""),
            "a list of callbacks (objects of pellucid.train, functions of the run)",
        ),
        doc="see `pellucid.train`",
    )
    max_time: float | None = parameter(
        default=None,
        condition=or_none(ABOVE_0, "a number of seconds, or None"),
        doc="seconds after which training ends",
    )
    network: NetworkSettings | None = parameter(
        default=None,
        condition=or_none(an(NetworkSettings, "NetworkSettings(...)")),
        doc="finer details of the network: `NetworkSettings`",
    )
    training: TrainingSettings | None = parameter(
        default=None,
        condition=or_none(an(TrainingSettings, "TrainingSettings(...)")),
        doc="finer details of training: `TrainingSettings`",
    )
    compat: str | None = parameter(
        default=None,
        condition=one_of(*COMPAT),
        doc='"sklearn" for its faults too: alpha divided by the batch size, patience that counts one epoch more, an '
        "optimizer that forgets its state on a warm start, a shown loss that has a limit",
    )
    dtype: str | type | np.dtype[np.floating] | None = parameter(
        default=None,
        condition=or_none(FLOATS, "'float32', 'float64' or None"),
        doc="precision; None is that of X",
    )
    engine: str = parameter(
        default="auto",
        condition=one_of(*ENGINES, words="'auto', 'native', 'numpy' or 'jax'"),
        doc='"native" (compiled), "numpy", or "auto": what pays; "jax" for GPUs and TPUs (the extra `jax`)',
    )
    threads: int | None = parameter(default=None, condition=or_none(WHOLE), doc="how many threads at most")
    precision: str = parameter(
        default="full",
        condition=one_of(*PRECISIONS),
        doc='of the matrix products of training: "full", or "bfloat16", which rounds float32 numbers before they are '
        "multiplied and takes some processors half the time",
    )


class ClassParameters(Parameters):
    """Those of a target of classes."""

    loss: Loss = parameter(
        default="log_loss",
        doc='"log_loss", "focal", "hinge", ..., a loss of `pellucid.nn`, or a function f(scores, y)',
        after="max_fun",
    )
    label_smoothing: float = parameter(
        default=0.0, condition=SHARE, doc="share of each label that is spread over all classes", after="loss"
    )
    class_weight: ClassWeight = parameter(
        default=None,
        condition=or_none(
            one_of("balanced").or_(an(dict, "a dict"), ""), "a dict of class and weight, 'balanced' or None"
        ),
        doc='{class: weight} or "balanced": how much rows of a class count',
        after="label_smoothing",
    )


class NumberParameters(Parameters):
    """That of a target of numbers."""

    loss: Loss = parameter(
        default="squared_error",
        doc='"squared_error" (halved, as in scikit-learn), "poisson", "absolute_error", "huber", "gamma", "quantile" '
        'or `nn.loss("quantile", quantiles=(0.1, 0.5, 0.9))` for several at once (one column each, never crossing), '
        '"gaussian" for a mean and a deviation of each row (`predict(X, return_std=True)`), a '
        "loss of `pellucid.nn`, or a function f(scores, y)",
        kw_only=False,
    )
