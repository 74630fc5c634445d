"""Settings in groups, for what most users leave alone: the network's details, and those of training.

They are parameters of the estimators like any other: `clone` copies them, a search reaches inside by two underscores
(`training__clip_norm`).
"""

from __future__ import annotations

from typing import Any

from sklearn.base import BaseEstimator


class NetworkSettings(BaseEstimator):  # type: ignore[misc]
    """Details of the network.

    `init`: an initialiser by name or object, or one for each hidden layer; "sklearn" is scikit-learn's (uniform, biases
    too); None takes "sklearn" for its four activations and what suits the activation for others. `norm_place` is
    "before" or "after" the activation. `scaling` is "standard" or "ntk"; `input_scale` puts a learned factor on every
    feature. `output_init` is the last layer's initialiser, `bias` what biases start with (`output_bias`: those of the
    last layer). `embeddings`: the last columns hold codes 0 ... size - 1 of so many categories each, in place of which
    vectors of `embedding_dim` numbers are learned (`nn.Embed`). `periodic`: so many first columns get learned waves
    beside them (`nn.Periodic`).

    >>> NetworkSettings(input_dropout=0.1)
    NetworkSettings(input_dropout=0.1)
    """

    def __init__(
        self,
        *,
        input_dropout: float = 0.0,
        norm_place: str = "before",
        init: Any = None,
        output_init: Any = None,
        bias: Any = None,
        output_bias: Any = None,
        scaling: str = "standard",
        input_scale: bool = False,
        embeddings: tuple[int, ...] = (),
        embedding_dim: Any = 8,
        periodic: int = 0,
    ) -> None:
        self.input_dropout = input_dropout
        self.norm_place = norm_place
        self.init = init
        self.output_init = output_init
        self.bias = bias
        self.output_bias = output_bias
        self.scaling = scaling
        self.input_scale = input_scale
        self.embeddings = embeddings
        self.embedding_dim = embedding_dim
        self.periodic = periodic


class TrainingSettings(BaseEstimator):  # type: ignore[misc]
    """Details of training.

    `schedule`: a schedule of `optim` by object, or its name, for the learning rate. `clip_norm`, `clip_value`: limits
    of the gradient. `weight_decay`: decoupled. `ema`: decay of an average of the parameters, which then predicts.
    `groups`: `optim.Group`s, factors for the rates of some parameters. `scheduled`: numbers of layers or the loss that
    follow schedules ({"hidden1.dropout.rate": ...}). `checkpoint`: a path to write checkpoints to; `resume`: one to go
    on from. `calibrate`: fit a temperature on the validation rows when training ends. `keep`: among equally good epochs
    keep the "first" or the "last".

    >>> TrainingSettings(clip_norm=1.0, ema=0.99)
    TrainingSettings(clip_norm=1.0, ema=0.99)
    """

    def __init__(
        self,
        *,
        schedule: Any = None,
        clip_norm: float | None = None,
        clip_value: float | None = None,
        weight_decay: Any = 0.0,
        ema: float | None = None,
        groups: Any = (),
        scheduled: Any = None,
        checkpoint: Any = None,
        resume: Any = None,
        calibrate: bool = False,
        keep: str = "first",
    ) -> None:
        self.schedule = schedule
        self.clip_norm = clip_norm
        self.clip_value = clip_value
        self.weight_decay = weight_decay
        self.ema = ema
        self.groups = groups
        self.scheduled = scheduled
        self.checkpoint = checkpoint
        self.resume = resume
        self.calibrate = calibrate
        self.keep = keep


def check_no_checkpoint(estimator: Any, who: str) -> None:
    """An error where several fits would write one checkpoint, or go on from one."""
    training = getattr(estimator, "training", None)
    if training is not None and (training.checkpoint is not None or training.resume is not None):
        raise ValueError(f"{who} cannot share a checkpoint: leave checkpoint and resume out of TrainingSettings")
