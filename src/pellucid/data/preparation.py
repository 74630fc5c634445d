"""What `fit` is given, as rows or batches that a network can be trained on."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from pellucid.data.dataset import Dataset
from pellucid.data.dataset_stream import DatasetStream, checking_rows, first_samples, held_out, prepared
from pellucid.data.inputs import as_inputs, refuse_containers
from pellucid.data.rows import Rows, prepared_rows
from pellucid.data.shared_rows import read_into_memories
from pellucid.data.sparse import is_sparse, sparse_inputs
from pellucid.data.splits import split_rows
from pellucid.data.streams import OutsideBatches, Stream, first_of, is_stream, parts_of
from pellucid.data.weights import class_weights
from pellucid.errors import ShapeError
from pellucid.nn.losses.loss import Loss


def training_data(
    X: Any,
    y: Any,
    validation: Any,
    weights: Any,
    class_weight: Any,
    *,
    loss: Loss,
    dtype: Any,
    outputs_for: Callable[[Any], int | None],
    stratify: bool,
    seed: int,
    several: bool,
    sparse: bool = False,
) -> tuple[Rows | Stream, Rows | None]:
    """Rows (or batches from outside) to train on, and rows to check by, or None; every X is looked at once.

    `outputs_for(inputs)` says how many outputs the network has for such inputs (n, ...), and raises where they are not
    for it. `stratify` splits so that the classes keep their shares; `several` epochs read a stream more than once. With
    `sparse` the network takes sparse rows, and a sparse matrix stays one.
    """

    def inputs_of(X: Any) -> Any:
        return sparse_inputs(X, dtype) if sparse and is_sparse(X) else as_inputs(X, dtype)

    if not (sparse and is_sparse(X)):
        refuse_containers(X)
    data: Rows | Stream
    held = validation
    if isinstance(X, Dataset):
        if y is not None or weights is not None or class_weight is not None:
            raise TypeError("a Dataset brings its target and weights: dataset(..., target='name', weight='name')")
        if isinstance(validation, float | np.floating):
            X, held = held_out(X, float(validation), seed)
        some = first_samples(X, dtype)
        outputs = outputs_for(some.X)
        example = prepared(some, loss, outputs, dtype, part=True)
        source = X, loss, outputs, dtype, example
        data = DatasetStream(*source) if X.sharing is None else read_into_memories(*source)
        if held is not None and not isinstance(held, tuple | Dataset):
            raise TypeError("with a Dataset, validation is a share, another Dataset, or a tuple (X, y) of arrays")
    elif is_stream(X):
        if y is not None or weights is not None or class_weight is not None:
            raise TypeError("batches bring their own targets and weights: give them inside, (X, y, weights)")
        first, begun = first_of(X, several)
        inputs, y, weights = parts_of(first)
        inputs = as_inputs(inputs, dtype)
        outputs = outputs_for(inputs)
        example = prepared_rows(inputs, y, weights, loss, outputs, dtype, part=True)
        data = OutsideBatches(X, loss, outputs, dtype, example, [begun])
        if validation is not None and not isinstance(validation, tuple):
            raise TypeError("with batches from outside, validation is a tuple (X, y) of arrays")
    else:
        if y is None:
            raise TypeError("fit needs y: model.fit(X, y), or batches (X, y)")
        inputs = inputs_of(X)
        if validation is not None and not isinstance(validation, tuple):
            by_class = stratify and np.ndim(y) == 1
            (inputs, y, weights), held = split_rows(validation, inputs, y, weights, stratify=by_class, seed=seed)
        if class_weight is not None:  # of the training rows alone
            weights = class_weights(class_weight, y, weights)
        outputs = outputs_for(inputs)
        data = prepared_rows(inputs, y, weights, loss, outputs, dtype)
    if held is None:
        return data, None
    if isinstance(held, Dataset):
        held = checking_rows(held, dtype).arrays(sparse=False)
    inputs, y, weights = (*held, None)[:3]
    if held is validation:  # else a part of X, or made of floats already
        inputs = inputs_of(inputs)
    return data, prepared_rows(inputs, y, weights, loss, outputs_for(inputs), dtype)


def check_features(X: Any, features: tuple[int, ...]) -> None:
    """Raise where samples have another shape than those that a model was made for, if it was made for any."""
    if features and X.shape[1:] != features:
        raise ShapeError(
            f"the model was made for samples of shape {features}, got X of shape {X.shape}: other columns?"
        )
