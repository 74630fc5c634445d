"""Targets of classes: one of two, one of many, or several labels for each row."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from sklearn.metrics import accuracy_score
from sklearn.utils.multiclass import check_classification_targets, type_of_target, unique_labels

from pellucid import nn
from pellucid.data.rows import warn_of_one_class
from pellucid.data.sparse import dense
from pellucid.data.types import Array
from pellucid.data.weights import class_weights
from pellucid.estimators.mlp_parameters import COMPAT, ClassWeight, Compat, Loss
from pellucid.estimators.target import Calibration, Target
from pellucid.nn.losses.link import Link, LinkKind
from pellucid.train import METRICS, Metric
from pellucid.train.temperature import temperature


@dataclass(frozen=True, eq=False)
class ClassTarget(Target):
    """Classes in their order; `several` says that a row may have any number of them."""

    classes: Array
    several: bool = False
    strata_of_two: bool = False

    @property
    def two(self) -> bool:
        """One of two classes (or the only one)?"""
        return not self.several and len(self.classes) <= 2

    @property
    def link_name(self) -> str:
        return "softmax" if self.outputs > 1 and not self.several else "logistic"

    @property
    def usual_metric(self) -> Metric | None:
        return METRICS["accuracy"]

    def check(self, y: Array, *, every: bool = False) -> None:
        """Raise for labels that the network was not made for; `every`: all classes must be there, too."""
        labels = is_several(y)
        if labels or self.several:
            if not labels or y.shape[1] != len(self.classes):
                raise ValueError(f"y has shape {y.shape}, but the network was made for {len(self.classes)} labels")
            return
        present = unique_labels(y)
        if every and set(present) != set(self.classes):
            raise ValueError(
                "warm_start can only be used where `y` has the same classes as in the previous call to fit. "
                f"Previously got {self.classes}, `y` has {present}"
            )
        if len(np.setdiff1d(present, self.classes)):
            raise ValueError(
                f"`y` has classes not in `self.classes_`. `self.classes_` has {self.classes}. 'y' has {present}."
            )

    def encode(self, y: Array) -> Array:
        if self.several:
            return np.asarray(dense(y), float)
        return np.searchsorted(self.classes, y)

    def row_weights(self, y: Array, class_weight: ClassWeight, *, part: bool = False) -> Array | None:
        """A weight for each row by its class, or None; `part`: y is only some of the rows.   y: as the user has it"""
        if class_weight is None:
            return None
        if part and class_weight == "balanced":
            raise ValueError(
                "class_weight='balanced' needs all rows, but partial_fit has a part of them: give a dict of class and "
                "weight (sklearn.utils.class_weight.compute_class_weight)"
            )
        weights: Array = class_weights(class_weight, dense(y), others=1.0)
        if isinstance(class_weight, dict):
            unknown = sorted(set(class_weight) - set(self.classes.tolist()), key=str)
            if unknown:
                raise ValueError(f"class_weight names {unknown}, but the classes are {self.classes.tolist()}")
        return weights

    def strata(self, encoded: Array, share: float) -> Array | None:
        if self.two:
            return encoded.astype(bool)[:, None]
        if self.several or self.strata_of_two:
            return None
        counts = np.bincount(encoded)
        fits = counts[counts > 0].min() > 1 and min(share, 1 - share) * len(encoded) >= len(self.classes)
        return encoded if fits else None

    def learn_from(self, scores: Array, encoded: Array, weights: Array | None) -> Calibration:
        return Calibration(temperature(scores, encoded, weights), doubt=1 / (len(scores) + 1))

    # answers

    def decision(self, scores: Array) -> Array:
        """(n,) for two classes, positive for the second; else (n, classes)."""
        if self.two:
            return scores[:, 0] if scores.shape[1] == 1 else scores[:, 1] - scores[:, 0]
        return scores

    def decode(self, scores: Array) -> Array:
        places = self.places(scores)
        return places if self.several else np.asarray(self.classes[places])

    def places(self, scores: Array) -> Array:
        """Numbers of the classes by the scores, (n,); for several labels zeros and ones, (n, labels)."""
        decision = self.decision(scores)
        if self.several:
            return (decision > 0).astype(int)
        if self.two:
            return np.minimum(decision > 0, len(self.classes) - 1).astype(int)
        best: Array = np.argmax(decision, axis=1)
        return best

    def score(self, scores: Array, encoded: Array, weights: Array | None) -> float:
        """Accuracy; of several labels the share of rows that have all of them right."""
        truth = encoded.astype(int) if self.several else self.classes[encoded]
        return float(accuracy_score(truth, self.decode(scores), sample_weight=weights))

    def probabilities(self, scores: Array, doubt: float = 0.0, *, log: bool = False) -> Array:
        """How likely each class is, or the logarithm of it; with a share of `doubt`.   (n, outputs) -> (n, classes)"""
        if not self.several and len(self.classes) == 1:
            return np.full_like(scores[:, :1], 0.0 if log else 1.0)
        if log and not doubt:
            return np.asarray(self.link.log_probabilities(scores))
        likely: Array = self.link.probabilities(scores)
        if doubt:
            even = 0.5 if self.several else 1 / likely.shape[1]
            likely = likely * likely.dtype.type(1 - doubt) + likely.dtype.type(doubt * even)
        return np.log(likely) if log else likely

    def calibrated(self, scores: Array, told: Calibration, *, log: bool = False) -> Array:
        """The same by scores over their temperature, with the doubt that rows have taught."""
        return self.probabilities(scores / scores.dtype.type(told.temperature), told.doubt, log=log)

    def chosen(self, likely: Array) -> Array:
        """The most likely class; zeros and ones for several labels.   (n, classes) -> (n,) or (n, labels)"""
        places = self.likeliest(likely)
        return places if self.several else np.asarray(self.classes[places])

    def likeliest(self, likely: Array) -> Array:
        """Numbers of the most likely classes, (n,); for several labels zeros and ones, (n, labels)."""
        return (likely > 0.5).astype(int) if self.several else np.argmax(likely, axis=1)

    @property
    def link(self) -> Link:
        """The loss's own; that of the log-loss where the loss speaks of numbers."""
        own: Link = self.loss.link
        shared = own.kind.for_scores(self.outputs) is LinkKind.PROBABILITIES
        fits = own.kind.gives_probabilities and not (self.several and shared)
        return own if fits else usual_loss(self.several, self.outputs > 1).link


def class_target(y: Array, loss: Loss, smoothing: float, compat: Compat) -> ClassTarget:
    """The target that these labels are of.   y: (n,), or (n, labels) of zeros and ones"""
    check_classification_targets(y)
    several = is_several(y)
    classes = np.arange(y.shape[1]) if several else unique_labels(y)
    if len(classes) == 1 and not several:
        warn_of_one_class(classes.tolist()[0])
    return target_of(classes, several, loss, smoothing, compat)


def target_of(
    classes: Array, several: bool, loss: Loss, smoothing: float, compat: Compat = COMPAT[None]
) -> ClassTarget:
    """The target of these classes, with the loss that is asked for."""
    many = several or len(classes) > 2
    usual = usual_loss(several, many)
    if isinstance(loss, str) and loss in ("log_loss", usual.name):
        record = usual
    elif callable(loss) and not isinstance(loss, nn.Loss):
        record = nn.loss(loss, like=usual)
    else:
        record = nn.loss(loss)
    outputs = len(classes) if many else 1
    if several and record.labels:
        raise ValueError(
            f"the loss {record.name} is for one class in each row, but y has {outputs} labels that are there or not: "
            "use 'log_loss', or MultiOutputClassifier"
        )
    if many and not several and not record.labels:
        raise ValueError(
            f"the loss {record.name} tells two classes apart, but y has {outputs}: use 'log_loss' or 'focal', or "
            "OneVsRestClassifier"
        )
    if not many and record.link.kind is LinkKind.PROBABILITIES:
        outputs = 2
    if smoothing:
        record = record.with_(smoothing=float(smoothing))
    elif record is usual and compat.limited_loss:
        record = nn.Capped(record)
    if several and isinstance(record, type(usual)):
        record = nn.Summed(record)
    return ClassTarget(record, outputs, classes, several, compat.strata_of_two)


def usual_loss(several: bool, many: bool) -> nn.Loss:
    """The log-loss of such a target."""
    return nn.loss("multilabel" if several else "cross_entropy" if many else "bce")


def is_several(y: object) -> bool:
    """Zeros and ones in columns, one for each label?"""
    return bool(type_of_target(y).startswith("multilabel"))
