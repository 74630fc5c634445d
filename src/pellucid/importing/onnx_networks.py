"""from_onnx: a multilayer perceptron in an ONNX file as a model."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import numpy as np

from pellucid import nn
from pellucid.importing.assembly import model_of, named, precision
from pellucid.importing.onnx_graphs import OnnxGraph
from pellucid.importing.onnx_operators import fixed, parts_of
from pellucid.nn.layers.layer import Features
from pellucid.nn.surgery import Part
from pellucid.train import Model


def from_onnx(
    file: str | os.PathLike[str] | bytes | Any,
    *,
    output: str | None = None,
    loss: Any = None,
    optimizer: Any = "adam",
    metrics: Sequence[Any] = (),
    dtype: Any = None,
) -> Model:
    """A multilayer perceptron in ONNX as a `Model`, with its weights: it predicts the same, and can be trained on.

    The graph is one chain from one input of rows to the output: Gemm, MatMul, Add, Sub, Mul, Div, Scaler,
    BatchNormalization, LayerNormalization, Softmax, LogSoftmax, and activations of `nn.ACTIVATIONS`, also where they
    are spelled out in several operators (as GELU and SiLU often are). It needs the package onnx.

    A Softmax, LogSoftmax or Sigmoid at the end is left to the loss, whose link it is: `Model.scores` gives what goes
    into it, `Model.predict` probabilities; for two classes one column, that of the second.

    Parameters
    ----------
    file : str | PathLike | bytes | onnx.ModelProto
        the file, its content, or the model
    output : str | None
        the name of the output that is meant, where there are several of numbers
    loss : str | Loss | function
        what it was, or will be, trained with; None is what the last layer speaks of: "cross_entropy" for Softmax,
        "bce" or "multilabel" for Sigmoid, else "squared_error"
    optimizer : str | Rule | Optimizer
        for further training
    metrics : Sequence[Any]
        as for `Model`
    dtype : dtype
        precision; None is that of the file

    Returns
    -------
    Model
        with these parameters

    Examples
    --------
    >>> import pytest
    >>> onnx = pytest.importorskip("onnx")
    >>> import numpy as np
    >>> from onnx import helper, numpy_helper
    >>> rows = helper.make_tensor_value_info("X", 1, ["n", 3])
    >>> scores = helper.make_tensor_value_info("y", 1, ["n", 2])
    >>> nodes = [helper.make_node("MatMul", ["X", "W"], ["z"]), helper.make_node("Softmax", ["z"], ["y"])]
    >>> weight = numpy_helper.from_array(np.zeros((3, 2), np.float32), "W")
    >>> graph = helper.make_graph(nodes, "net", [rows], [scores], [weight])
    >>> from_onnx(helper.make_model(graph)).predict(np.ones((1, 3)))
    array([[0.5, 0.5]], dtype=float32)
    """
    try:
        import onnx
    except ImportError as error:
        raise ImportError("from_onnx reads files with the package onnx: pip install 'pellucid[onnx]'") from error
    if isinstance(file, bytes):
        proto = onnx.load_model_from_string(file)
    else:
        proto = onnx.load(os.fspath(file)) if isinstance(file, str | os.PathLike) else file
    if not isinstance(proto, onnx.ModelProto):
        raise TypeError(f"from_onnx takes a path, bytes or an onnx.ModelProto, got {type(file).__name__}")
    graph = OnnxGraph(proto.graph, proto.opset_import)
    source, stretches = graph.chain(graph.output(output))
    parts = parts_of(graph, stretches)
    columns = _columns(source, parts)
    parts = _named(_spread(parts, (columns,)))
    arrays = [array for part in parts for array in part.params.values()]
    return model_of(
        parts,
        (columns,),
        loss=loss,
        optimizer=optimizer,
        metrics=metrics,
        dtype=precision(arrays, dtype),
    )


def _named(parts: list[Part]) -> list[Part]:
    names = named([("", part.layer) for part in parts]) if parts else []
    return [part._replace(name=name) for name, part in zip(names, parts, strict=True)]


def _columns(source: str, parts: list[Part]) -> int:
    """How many numbers a row has: as many as the first weight takes, or as other arrays have numbers for."""
    for part in parts:
        if isinstance(part.layer, nn.Dense):
            return int(part.params["weight"].shape[0])
    sizes = [array.shape[0] for part in parts for array in (*part.params.values(), *part.state.values()) if array.ndim]
    if not sizes:
        raise ValueError(f"from_onnx: no layer with weights lies between {source!r} and the output")
    return int(max(sizes))


def _spread(parts: list[Part], features: Features) -> list[Part]:
    """The same, where one number is for all columns with that number for each."""
    each = []
    for part in parts:
        layer = part.layer
        if isinstance(layer, nn.FixedScale) and len(layer.center) == 1:
            center, scale = (np.broadcast_to(np.asarray(one), features) for one in (layer.center, layer.scale))
            part = fixed(center, scale)
        each.append(part)
        features = part.layer.output(features)
    return each
