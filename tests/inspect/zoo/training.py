"""How a case is trained: a `Setup` says all of it, and `Trained` is what `diagnose` is asked about."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline

import pellucid as pel
from pellucid import nn, optim, train
from pellucid.inspect.subject import subject
from tests.inspect.zoo.data import CLASSES, Rows


@dataclass(frozen=True)
class Trained:
    """A model (or estimator, or pipeline) after its training, and what its owner has at hand."""

    model: Any
    X: Any
    y: Any
    history: Any
    validation: tuple[Any, Any] | None
    rows: Rows
    budget: dict[str, Any] = field(default_factory=dict)  # how `fit` was called, for a second time
    refused: str = ""  # why `fit` did not even begin

    @property
    def inside(self) -> pel.Model:
        """The model itself, also of an estimator and of a pipeline that ends with one."""
        last = self.model[-1] if isinstance(self.model, Pipeline) else self.model
        return last if isinstance(last, pel.Model) else last.model_

    def seen(self, X: Any) -> Any:
        """Inputs as the model inside takes them (numbers; scaled by the pipeline)."""
        return self.model[:-1].transform(X) if isinstance(self.model, Pipeline) else X

    def again(self, model: pel.Model, **changes: Any) -> Trained:
        """A repaired model of the same rows, trained with the same budget but for these changes."""
        return fitted(model, self.encoded, self.validation is not None, **self.budget | changes)

    @property
    def encoded(self) -> Rows:
        """The rows as the model inside takes them."""
        if isinstance(self.model, pel.Model):
            return self.rows
        here, there = (subject(self.model, X, y) for X, y in ((self.X, self.y), (self.rows.Xv, self.rows.yv)))
        return Rows(here.X, np.ravel(here.y), there.X, np.ravel(there.y), self.rows.task)


@dataclass(frozen=True)
class Setup:
    """A network, how it is trained, and on which rows. What is broken is one change of it."""

    rows: Callable[[], Rows]
    hidden: tuple[int, ...] = (24,)
    activation: Any = "relu"
    norm: Any = None
    dropout: Any = 0.0
    input_dropout: float = 0.0
    init: Any = "auto"
    output_init: Any = "auto"
    bias: Any = 0.0
    output_bias: Any = 0.0
    output: Any = None  # an activation behind the last layer
    outputs: int | None = None  # as the rows ask for
    net: nn.Layer | None = None  # in the place of all these
    loss: Any = None  # by the target
    rule: Any = field(default_factory=lambda: optim.Adam(0.01))
    penalty: nn.Penalty | None = None
    metrics: tuple[Any, ...] | None = None  # accuracy or R²
    epochs: int = 40
    batch: int = 32
    patience: int | None = None  # early stopping
    monitor: str | None = None
    class_weight: Any = None
    seed: int = 0
    checked: bool = True  # is there a validation set?
    lbfgs: bool = False
    dtype: Any = np.float32

    def network(self, outputs: int) -> nn.Layer:
        """The network that is described."""
        if self.net is not None:
            return self.net
        usual = nn.mlp(
            self.hidden,
            self.outputs or outputs,
            activation=self.activation,
            norm=self.norm,
            dropout=self.dropout,
            input_dropout=self.input_dropout,
            init=self.init,
            output_init=self.output_init,
            bias=self.bias,
            output_bias=self.output_bias,
        )
        return usual if self.output is None else nn.Sequential(*usual.children, ("last", self.output))

    def model(self, rows: Rows) -> pel.Model:
        """The model, before it is trained."""
        outputs = rows.outputs
        classes = "binary_cross_entropy" if (self.outputs or outputs) == 1 else "cross_entropy"
        loss = self.loss or (classes if rows.task == CLASSES else "squared_error")
        usual = ("accuracy",) if rows.task == CLASSES else ("r2",)
        return pel.Model(
            self.network(outputs),
            loss,
            self.rule,
            usual if self.metrics is None else self.metrics,
            penalty=self.penalty,
            dtype=self.dtype,
            engine="numpy",
        )

    def __call__(self) -> Trained:
        """Train it. A fit that is refused leaves the model as it was."""
        rows = self.rows()
        budget: dict[str, Any] = {"epochs": self.epochs, "batch_size": self.batch, "seed": self.seed}
        budget |= {"patience": self.patience, "monitor": self.monitor, "lbfgs": self.lbfgs}
        return fitted(self.model(rows), rows, self.checked, class_weight=self.class_weight, **budget)


def fitted(
    model: pel.Model,
    rows: Rows,
    checked: bool = True,
    *,
    patience: int | None = None,
    monitor: str | None = None,
    lbfgs: bool = False,
    **budget: Any,
) -> Trained:
    """A model, trained on these rows."""
    validation = (rows.Xv, rows.yv) if checked else None
    stopping = [] if patience is None else [train.EarlyStopping(patience, monitor=monitor)]
    refused, history = "", None
    again = {**budget, "patience": patience, "monitor": monitor, "lbfgs": lbfgs}
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")  # a loss that does not fit the last layer, one class only
        try:
            if lbfgs:
                train.fit_lbfgs(model, rows.X, rows.y, max_iter=budget["epochs"], seed=budget["seed"])
                history = model.history
            else:
                history = model.fit(
                    rows.X,
                    rows.y,
                    validation=validation,
                    callbacks=stopping,
                    verbose=False,
                    on_divergence="stop",
                    **budget,
                )
        except (ValueError, pel.errors.PellucidError) as error:
            refused = str(error)
    return Trained(model, rows.X, rows.y, history, validation, rows, again, refused)


def estimator(
    rows: Callable[[], Rows], shell: Any, *, steps: tuple[Any, ...] = (), checked: bool = True
) -> Callable[[], Trained]:
    """An estimator, perhaps at the end of a pipeline, ready to be fitted."""

    def make() -> Trained:
        data = rows()
        last = copy.deepcopy(shell).set_params(engine="numpy")
        whole = Pipeline([(str(i), copy.deepcopy(step)) for i, step in enumerate((*steps, last))]) if steps else last
        refused, history = "", None
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            try:
                whole.fit(data.X, data.y)
                history = last.model_.history if not steps else whole[-1].model_.history
            except (ValueError, pel.errors.PellucidError, ArithmeticError) as error:
                refused = str(error)
        budget: dict[str, Any] = {}
        if history is not None:
            size = history.batch_size or len(data.y)
            budget = {"epochs": max(len(history), 1), "batch_size": size, "seed": 0}
        return Trained(whole, data.X, data.y, history, (data.Xv, data.yv) if checked else None, data, budget, refused)

    return make
