"""MLPClassifier: scikit-learn's, and what its users have asked for."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse, special
from sklearn.base import ClassifierMixin
from sklearn.utils.class_weight import compute_sample_weight
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import (
    _check_partial_fit_first_call,
    check_classification_targets,
    type_of_target,
    unique_labels,
)

from pellucid import nn
from pellucid.amounts import check_number
from pellucid.data.rows import warn_of_one_class
from pellucid.data.sparse import dense
from pellucid.errors import DataWarning as DataWarning
from pellucid.estimators.base import BaseMLP
from pellucid.estimators.build import training_settings
from pellucid.estimators.inputs import checked_weights, unchanged_on_failure
from pellucid.estimators.uncertainty import DRAWS, draws, temperature
from pellucid.graph.numpy_api import log_softmax


def weights_by_class(class_weight: Any, y: Any) -> Any:
    """A weight for each row, 1 for classes that a dict does not name; not all that it names need be in y."""
    if isinstance(class_weight, dict) and np.ndim(y) == 1:
        present = set(np.unique(y).tolist())
        class_weight = {label: weight for label, weight in class_weight.items() if label in present}
    return compute_sample_weight(class_weight, y)


def _stochastic(estimator: Any) -> bool:
    if estimator.solver == "lbfgs" and estimator.optimizer is None:
        raise AttributeError("partial_fit is only available for stochastic optimizers. lbfgs is not stochastic.")
    return True


class MLPClassifier(ClassifierMixin, BaseMLP):  # type: ignore[misc]
    """A multilayer perceptron that tells classes apart: scikit-learn's `MLPClassifier`, and more.

    All parameters of scikit-learn have its names, defaults and meaning. Beyond them:

    activation : a name, an object or function of one's own, or a list with one for each hidden layer
    loss : "log_loss", "focal", "hinge", ..., a loss of `pellucid.nn`, or a function f(scores, y)
    label_smoothing : share of each label that is spread over all classes
    class_weight : {class: weight} or "balanced"
    dropout : share of hidden units left out, or a list; `network=NetworkSettings(input_dropout=...)` for inputs
    norm : "batch", "layer", "rms" or a layer, for hidden layers
    penalty : L1, L2, elastic net on chosen layers, in place of alpha
    optimizer : any rule or chain of `pellucid.optim`, in place of solver
    monitor : what validation rows are scored by: "loss", a metric or scorer by name, a function (y, prediction)
    callbacks, max_time : see `pellucid.train`; verbose="bar" shows a progress bar
    network, training : `NetworkSettings` and `TrainingSettings`, the finer details
    compat : None, or "sklearn" for its faults too: alpha divided by the batch size, patience that counts one epoch
        more, an optimizer that forgets its state on a warm start, a shown loss that has a limit
    dtype, engine, threads : precision (None: that of X), "native", "numpy" or "auto", how many threads

    alpha is divided by the number of training rows, so that it means the same for every batch size. `coefs_` and
    `intercepts_` may be set before or after `fit`.

    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(200, 2))
    >>> y = np.where(X[:, 0] * X[:, 1] > 0, "same", "different")
    >>> clf = MLPClassifier((32,), learning_rate_init=0.01, tol=0.01, class_weight="balanced", random_state=0).fit(X, y)
    >>> clf.score(X, y) > 0.9, clf.classes_.tolist()
    (True, ['different', 'same'])
    """

    def __init__(
        self,
        hidden_layer_sizes: Any = (100,),
        activation: Any = "relu",
        *,
        solver: str = "adam",
        alpha: float = 0.0001,
        batch_size: int | str = "auto",
        learning_rate: str = "constant",
        learning_rate_init: float = 0.001,
        power_t: float = 0.5,
        max_iter: int = 200,
        shuffle: bool = True,
        random_state: Any = None,
        tol: float = 1e-4,
        verbose: Any = False,
        warm_start: bool = False,
        momentum: float = 0.9,
        nesterovs_momentum: bool = True,
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        beta_1: float = 0.9,
        beta_2: float = 0.999,
        epsilon: float = 1e-8,
        n_iter_no_change: int | float = 10,
        max_fun: int = 15000,
        loss: Any = "log_loss",
        label_smoothing: float = 0.0,
        class_weight: Any = None,
        dropout: Any = 0.0,
        norm: Any = None,
        penalty: nn.Penalty | None = None,
        optimizer: Any = None,
        monitor: Any = None,
        callbacks: Any = (),
        max_time: float | None = None,
        network: Any = None,
        training: Any = None,
        compat: str | None = None,
        dtype: Any = None,
        engine: str = "auto",
        threads: int | None = None,
    ) -> None:
        super().__init__(
            hidden_layer_sizes,
            activation,
            solver=solver,
            alpha=alpha,
            batch_size=batch_size,
            learning_rate=learning_rate,
            learning_rate_init=learning_rate_init,
            power_t=power_t,
            max_iter=max_iter,
            loss=loss,
            shuffle=shuffle,
            random_state=random_state,
            tol=tol,
            verbose=verbose,
            warm_start=warm_start,
            momentum=momentum,
            nesterovs_momentum=nesterovs_momentum,
            early_stopping=early_stopping,
            validation_fraction=validation_fraction,
            beta_1=beta_1,
            beta_2=beta_2,
            epsilon=epsilon,
            n_iter_no_change=n_iter_no_change,
            max_fun=max_fun,
            dropout=dropout,
            norm=norm,
            penalty=penalty,
            optimizer=optimizer,
            monitor=monitor,
            callbacks=callbacks,
            max_time=max_time,
            network=network,
            training=training,
            compat=compat,
            dtype=dtype,
            engine=engine,
            threads=threads,
        )
        self.label_smoothing = label_smoothing
        self.class_weight = class_weight

    _score_metric = "accuracy"

    # the target

    def _encode(self, y: Any, first: bool, incremental: bool) -> Any:
        if first and not incremental:
            check_classification_targets(y)
            self._find_classes(y)
        else:
            self._check_classes(y, incremental)
        if self._kind == "multilabel":
            return np.asarray(dense(y), float)
        return np.searchsorted(self.classes_, y)

    def _find_classes(self, y: Any) -> None:
        if type_of_target(y).startswith("multilabel"):
            self._kind, self.classes_ = "multilabel", np.arange(y.shape[1])
            return
        self.classes_ = unique_labels(y)
        self._kind = "binary" if len(self.classes_) <= 2 else "multiclass"
        if len(self.classes_) == 1:
            warn_of_one_class(self.classes_.tolist()[0], stacklevel=7)

    def _check_classes(self, y: Any, incremental: bool) -> None:
        multilabel = type_of_target(y).startswith("multilabel")
        if multilabel or self._kind == "multilabel":
            if not multilabel or y.shape[1] != len(self.classes_):
                raise ValueError(f"y has shape {y.shape}, but the network was made for {len(self.classes_)} labels")
            return
        found = unique_labels(y)
        if not incremental and set(found) != set(self.classes_):
            raise ValueError(
                "warm_start can only be used where `y` has the same classes as in the previous call to fit. "
                f"Previously got {self.classes_}, `y` has {found}"
            )
        if len(np.setdiff1d(found, self.classes_)):
            raise ValueError(
                f"`y` has classes not in `self.classes_`. `self.classes_` has {self.classes_}. 'y' has {found}."
            )

    def _loss_for(self, y: Any) -> tuple[nn.Loss, int, str]:
        kind = self._kind
        outputs = {"binary": 1, "multiclass": len(self.classes_), "multilabel": len(self.classes_)}[kind]
        usual: nn.Loss = nn.loss({"binary": "bce", "multiclass": "cross_entropy", "multilabel": "multilabel"}[kind])
        if isinstance(self.loss, str) and self.loss in ("log_loss", usual.name):
            loss = usual
        elif callable(self.loss) and not isinstance(self.loss, nn.Loss):
            loss = nn.loss(self.loss, like=usual)
        else:
            loss = nn.loss(self.loss)
        if kind == "multiclass" and not loss.labels:
            raise ValueError(
                f"the loss {loss.name} tells two classes apart, but y has {outputs}: use 'log_loss' or 'focal', or "
                "OneVsRestClassifier"
            )
        if kind == "binary" and isinstance(loss, nn.LOSSES["cross_entropy"].__class__):
            outputs = 2
        if self.label_smoothing:
            loss = loss.with_(smoothing=float(self.label_smoothing))
        elif loss is usual and self.compat == "sklearn":
            loss = nn.Capped(loss)
        if kind == "multilabel" and loss.name == "multilabel" and not isinstance(loss, nn.Capped):
            loss = nn.Summed(loss)
        return loss, outputs, "softmax" if outputs > 1 and kind != "multilabel" else "logistic"

    def _row_weights(self, y: Any, incremental: bool) -> Any:
        if self.class_weight is None:
            return None
        if incremental and self.class_weight == "balanced":
            raise ValueError(
                "class_weight='balanced' needs all rows, but partial_fit has a part of them: give a dict of class and "
                "weight (sklearn.utils.class_weight.compute_class_weight)"
            )
        if isinstance(self.class_weight, dict):
            of = {f"class_weight of {label!r}": weight for label, weight in self.class_weight.items()}
            check_number("a number from 0", **of)
            unknown = sorted(set(self.class_weight) - set(self.classes_.tolist()), key=str)
            if unknown and self._kind != "multilabel":
                raise ValueError(f"class_weight names {unknown}, but the classes are {self.classes_.tolist()}")
        return weights_by_class(self.class_weight, y)

    def _strata(self, y: Any) -> Any:
        if self._kind == "binary":
            return y.astype(bool)[:, None]
        if self._kind == "multilabel" or self.compat == "sklearn":  # it keeps the shares of two classes alone
            return None
        share = min(self.validation_fraction, 1 - self.validation_fraction) * len(y)
        counts = np.bincount(y)
        return y if counts[counts > 0].min() > 1 and share >= len(self.classes_) else None

    @available_if(_stochastic)  # type: ignore[untyped-decorator]
    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None, classes: Any = None) -> MLPClassifier:
        """One epoch over these rows; the first call names all `classes`. The optimizer goes on where it was."""
        with unchanged_on_failure(self):
            if _check_partial_fit_first_call(self, classes):
                if type_of_target(y).startswith("multilabel"):
                    self._find_classes(np.asarray(y) if not sparse.issparse(y) else y)
                else:
                    self._kind = "binary" if len(self.classes_) <= 2 else "multiclass"
            self._fit(X, y, sample_weight, incremental=True)
        return self

    # prediction

    def logits(self, X: Any) -> Any:
        """The network's scores, one column for each output.   (n, features) -> (n, outputs)"""
        return self._scores(X)

    def decision_function(self, X: Any) -> Any:
        """The scores: (n,) for two classes, positive for the second; else (n, classes)."""
        scores = self._scores(X)
        if self._kind == "binary":
            return scores[:, 0] if scores.shape[1] == 1 else scores[:, 1] - scores[:, 0]
        return scores

    def predict(self, X: Any) -> Any:
        """The most likely class of each row, (n,); for several labels zeros and ones, (n, labels)."""
        scores = self.decision_function(X)
        if self._kind == "multilabel":
            return (scores > 0).astype(int)
        if self._kind == "multiclass":
            return self.classes_[np.argmax(scores, axis=1)]
        return self.classes_[np.minimum(scores > 0, len(self.classes_) - 1).astype(int)]

    @property
    def temperature_(self) -> float:
        """What scores are divided by before they become probabilities (see `calibrate`)."""
        return float(self._calibration.get("temperature", 1.0)) if hasattr(self, "_calibration") else 1.0

    def _probabilities(self, scores: Any, log: bool = False) -> Any:
        """(n, outputs) -> (n, classes)"""
        scores = scores / scores.dtype.type(self.temperature_)
        if self._kind != "multilabel" and len(self.classes_) == 1:
            return np.full((len(scores), 1), 0.0 if log else 1.0, scores.dtype)
        shared = scores.shape[1] > 1 and self._kind != "multilabel"  # one label a row: they add up to 1
        if scores.shape[1] == 1 and self._kind != "multilabel":
            scores = np.concatenate([-scores, scores], axis=1)
        found = special.softmax(scores, axis=1) if shared else special.expit(scores)
        if not log:
            return found
        # small ones from the scores, so that none is -inf; large ones by the probability, so that ties stay ties
        exact = log_softmax(scores) if shared else special.log_expit(scores)
        return np.where(found > 0.5, np.log(np.maximum(found, 0.5)), exact)

    def _has_probabilities(self) -> bool:
        which = self.loss
        name = which if isinstance(which, str) else getattr(which, "name", "")
        if "hinge" in str(name) or name == "perceptron":
            raise AttributeError(f"the loss {name} gives no probabilities: use loss='log_loss'")
        return True

    @available_if(_has_probabilities)  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any, *, return_std: bool = False, n_draws: int = DRAWS) -> Any:
        """Probabilities, (n, classes) in the order of `classes_`.

        With `return_std` the mean and the deviation over `n_draws` networks with dropout at work (Gal and Ghahramani,
        2016).
        """
        if return_std:
            return draws(self, X, n_draws, self._probabilities)
        return self._probabilities(self._scores(X))

    @available_if(_has_probabilities)  # type: ignore[untyped-decorator]
    def predict_log_proba(self, X: Any) -> Any:
        """Logarithms of the probabilities, computed from the scores so that none is -inf."""
        return self._probabilities(self._scores(X), log=True)

    def calibrate(self, X: Any, y: Any, sample_weight: Any = None) -> MLPClassifier:
        """Fit the temperature on rows that were not trained on: better probabilities, the same classes."""
        X, y = self._known(X, y)
        if sample_weight is not None:
            sample_weight = checked_weights(sample_weight, X.shape[0])
        target = self._encode(y, False, True)
        self._calibration["temperature"] = temperature(self.model_.loss, self._scores_of(X), target, sample_weight)
        return self

    def _keep_held(self, held: Any) -> None:
        if training_settings(self).calibrate:
            X, target, weights = held
            scores = self.model_.scores(np.asarray(X, self.model_.dtype))
            self._calibration["temperature"] = temperature(self.model_.loss, scores, target, weights)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        return tags
