"""What a fit needs of a data set larger than memory: its target, learned in a pass, and its rows, encoded in parts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
import pandas as pd

from pellucid.data.dataset import Dataset
from pellucid.data.dataset_stream import SEEN
from pellucid.data.parts import Part
from pellucid.data.samples import Samples, StreamedSamples
from pellucid.data.target_summary import TargetSummary, target_summary
from pellucid.data.types import Array
from pellucid.data.weights import balanced, joint
from pellucid.errors import ShapeError
from pellucid.estimators.class_target import ClassTarget
from pellucid.estimators.mlp_parameters import ClassWeight
from pellucid.estimators.target import Target

E = TypeVar("E")


@dataclass(frozen=True, eq=False)
class LearnedTarget:
    """The target of a data set. factors: the weight of each class, (k,), or None."""

    target: Target
    summary: TargetSummary
    factors: Array | None = None

    def encoded(self, data: Dataset, rows: Callable[[Part], Array]) -> Dataset:
        """The data set whose batches are rows of the network, with the target as its loss takes it."""

        return data.encoded(lambda part: self.samples(part, rows(part)))

    def samples(self, part: Part, rows: Array) -> Samples:
        """These rows with the target and the weights of a part."""
        if part.target is None:
            raise ShapeError(f"{part.where}: the rows have no target: name its column, dataset(..., target='name')")
        codes = self.codes(part.target, part.where)
        by_class = None if self.factors is None else self.factors[codes]
        return Samples(rows, codes, joint(part.weights, by_class))

    def codes(self, y: Array, where: str) -> Array:
        """The target as its loss takes it; each different label is looked up once."""
        if not isinstance(self.target, ClassTarget) or y.ndim == 2:
            self.target.check(y)
            return self.target.encode(y)
        places, distinct = pd.factorize(y)
        labels = np.array(distinct.tolist())
        unknown = np.setdiff1d(labels, self.target.classes)
        if len(unknown):
            known = ", ".join(map(repr, self.target.classes.tolist()[:20]))
            raise ValueError(f"{where}: the target is {unknown.tolist()[0]!r}, which is none of {known}")
        return np.asarray(self.target.encode(labels)[places])

    def streamed(self, data: Dataset) -> StreamedSamples:
        """Rows to train on, of an encoded data set: all that were learned from, or some of them."""
        whole = data.counted()
        rows = whole.rows or 0
        some = data.encoder(np.float32)(data.some(SEEN))
        return StreamedSamples(whole, rows, self.total * rows / self.summary.rows, some)

    @property
    def total(self) -> float:
        """The sum of the weights of all rows."""
        return self.summary.total if self.factors is None else float(np.sum(self.factors * self.summary.weights))


def learned_target(
    data: Dataset,
    target_of: Callable[[Array], Target],
    *,
    classes: bool,
    class_weight: ClassWeight,
    shown: Array | None = None,
) -> LearnedTarget:
    """The target of a data set, by a pass over it: `target_of` is given each class once, or some of the numbers.

    shown: these numbers, where some have been drawn
    """
    if not data.has_target:
        raise ShapeError("the data set has no target: name its column, dataset(..., target='name')")
    summary = target_summary(data, classes=classes)
    if len(summary.classes):
        labels = summary.classes
    else:
        some = data.target_alone().some(SEEN).target if shown is None else shown
        assert some is not None
        labels = some
    if not classes and labels.dtype.kind not in "fiub":
        raise ValueError(
            f"the target {', '.join(data.read.target)} holds {labels.ravel()[0]!r:.40}: a regressor predicts numbers, "
            "for classes take a classifier"
        )
    target = target_of(labels)
    return LearnedTarget(target, summary, _factors(target, summary, class_weight))


def _factors(target: Target, summary: TargetSummary, class_weight: ClassWeight) -> Array | None:
    """The weight of each class that `class_weight` asks for; None where it asks for none."""
    if class_weight is None or not isinstance(target, ClassTarget):
        return None
    if target.several:
        raise ValueError("class_weight of several labels needs all rows in memory: give a weight column in its place")
    if class_weight == "balanced":
        return balanced(summary.counts)
    return target.row_weights(target.classes, class_weight)


def note_columns(estimator: E, data: Dataset) -> E:
    """Note the number of features of a data set, and their names, as scikit-learn does of a frame."""
    vars(estimator).pop("feature_names_in_", None)
    vars(estimator)["n_features_in_"] = len(data.columns)
    if data.source.named:
        vars(estimator)["feature_names_in_"] = np.array(data.columns, object)
    return estimator


def refuse_other_targets(*, y: object, sample_weight: object) -> None:
    """A data set brings its own."""
    if y is not None or sample_weight is not None:
        raise TypeError("a Dataset brings its target and weights: dataset(..., target='name', weight='name')")
