"""Operators of ONNX as layers of ours. Activations are recognised by their values, whatever they are made of."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import takewhile
from typing import Any

import numpy as np

from pellucid import nn
from pellucid.data.types import Array
from pellucid.importing.onnx_graphs import ELEMENTWISE, PASSING, OnnxGraph, Stretch, settings
from pellucid.nn.activations.layers import Activate
from pellucid.nn.surgery import Part

NEAR = np.linspace(-8.0, 8.0, 641)
FAR = np.array([9.0, 11.0, 15.0, 20.0, 30.0, 50.0, 80.0, 150.0, 1e3, 1e4, 1e5, 1e6])
POINTS = np.concatenate([NEAR, -FAR, FAR]).astype(np.float32)[:, None]
"""Where a function is compared with the activations: a ReLU that ends at 10 is another one."""

TOLERANCE = 2e-6
"""How far apart they may be, over the size of the value: both are computed in float32."""


def parts_of(graph: OnnxGraph, stretches: Sequence[Stretch]) -> list[Part]:
    """Layers with their arrays, in their order; shifts behind a product are its bias."""
    parts: list[Part] = []
    waiting = list(stretches)
    while waiting:
        stretch = waiting[0]
        name = stretch.nodes[-1].op_type if len(stretch.nodes) == 1 else ""
        used = 1
        if name in OPERATORS:
            parts += OPERATORS[name](graph, stretch, parts)
        elif name not in PASSING and stretch.operator != "Sub and Concat":  # columns 1 - p and p: one probability
            part, used = _activation(graph, waiting)
            parts.append(part)
        del waiting[:used]
    return parts


def _unknown(stretch: Stretch, why: str = "") -> ValueError:
    names = ", ".join(filter(None, (node.name for node in stretch.nodes)))
    return ValueError(
        f"from_onnx: {stretch.operator}{f' ({names})' if names else ''} is not supported{why}: a network is one chain "
        f"of {', '.join(OPERATORS)}, and of activations of pellucid.nn"
    )


def _constant(graph: OnnxGraph, stretch: Stretch, place: int) -> Array:
    """An input of the node that must be stored in the file."""
    name = stretch.nodes[-1].input[place]
    if name not in graph.constants:
        raise _unknown(stretch, f" where its input {place} is computed from the rows")
    return graph.constants[name]


# layers with arrays


def _dense(weight: Array, bias: Array | None) -> Part:
    arrays = {"weight": weight} if bias is None else {"weight": weight, "bias": bias}
    return Part("", nn.Dense(int(weight.shape[1]), bias=None if bias is None else 0.0), arrays, {})


def _gemm(graph: OnnxGraph, stretch: Stretch, before: list[Part]) -> list[Part]:
    node = stretch.nodes[-1]
    told = settings(node)
    if told.get("transA", 0):
        raise _unknown(stretch, " with transA=1")
    weight = _constant(graph, stretch, 1) * told.get("alpha", 1.0)
    weight = weight.T if told.get("transB", 0) else weight
    if len(node.input) < 3:
        return [_dense(weight, None)]
    bias = _constant(graph, stretch, 2) * told.get("beta", 1.0)
    return [_dense(weight, np.broadcast_to(bias.reshape(-1), (weight.shape[1],)))]


def _matmul(graph: OnnxGraph, stretch: Stretch, before: list[Part]) -> list[Part]:
    if stretch.nodes[-1].input[0] != stretch.source:
        raise _unknown(stretch, " where the rows stand on the right")
    return [_dense(_constant(graph, stretch, 1), None)]


def _batch_norm(graph: OnnxGraph, stretch: Stretch, before: list[Part]) -> list[Part]:
    told = settings(stretch.nodes[-1])
    scale, shift, mean, var = (_constant(graph, stretch, place) for place in range(1, 5))
    layer = nn.BatchNorm(told.get("epsilon", 1e-5), 1.0 - told.get("momentum", 0.9))
    return [Part("", layer, {"scale": scale, "shift": shift}, {"mean": mean, "var": var, "batches": np.zeros(())})]


def _layer_norm(graph: OnnxGraph, stretch: Stretch, before: list[Part]) -> list[Part]:
    told = settings(stretch.nodes[-1])
    if told.get("axis", -1) not in (-1, 1):
        raise _unknown(stretch, f" with axis={told['axis']}")
    scale = _constant(graph, stretch, 1)
    shift = _constant(graph, stretch, 2) if len(stretch.nodes[-1].input) > 2 else np.zeros_like(scale)
    return [Part("", nn.LayerNorm(told.get("epsilon", 1e-5)), {"scale": scale, "shift": shift}, {})]


# fixed numbers


def fixed(center: Array, scale: Array) -> Part:
    """(x - center) / scale, which is not learned."""
    layer = nn.FixedScale(tuple(center), tuple(scale))
    return Part("", layer, {}, {"center": np.asarray(layer.center), "scale": np.asarray(layer.scale)})


def _scaler(graph: OnnxGraph, stretch: Stretch, before: list[Part]) -> list[Part]:
    """ai.onnx.ml: (x - offset) · scale."""
    told = settings(stretch.nodes[-1])
    offset, factor = np.atleast_1d(told["offset"]), np.atleast_1d(told["scale"])
    offset, factor = np.broadcast_arrays(np.asarray(offset, np.float64), np.asarray(factor, np.float64))
    return [fixed(offset, 1.0 / factor)]


def _arithmetic(graph: OnnxGraph, stretch: Stretch, before: list[Part]) -> list[Part]:
    """Rows and stored numbers, one for each column: a bias, or a part of a scaler."""
    node = stretch.nodes[-1]
    place = 1 if node.input[0] == stretch.source else 0
    numbers = _constant(graph, stretch, place).astype(np.float64).reshape(-1)
    kind = node.op_type
    if place == 0 and kind in ("Sub", "Div"):
        raise _unknown(stretch, " where the stored number comes first")
    last = before[-1] if before else None
    if last is not None and isinstance(last.layer, nn.Dense):
        if kind in ("Add", "Sub") and "bias" not in last.params:
            before.pop()
            signed = numbers if kind == "Add" else -numbers
            return [_dense(last.params["weight"], np.broadcast_to(signed, (last.layer.units,)))]
        numbers = np.broadcast_to(numbers, (last.layer.units,))
    zero, one = np.zeros_like(numbers), np.ones_like(numbers)
    if kind in ("Add", "Sub"):
        return [fixed(-numbers if kind == "Add" else numbers, one)]
    if kind == "Mul" and not numbers.all():
        raise _unknown(stretch, " by a number that is 0")
    return [fixed(zero, 1.0 / numbers if kind == "Mul" else numbers)]


# without arrays


def _over_features(name: str) -> Callable[[OnnxGraph, Stretch, list[Part]], list[Part]]:
    def made(graph: OnnxGraph, stretch: Stretch, before: list[Part]) -> list[Part]:
        if (axis := settings(stretch.nodes[-1]).get("axis", -1)) not in (-1, 1):
            raise _unknown(stretch, f" with axis={axis}")
        return [_activate(nn.activation(name))]

    return made


def _with_alpha(name: str, usual: float) -> Callable[[OnnxGraph, Stretch, list[Part]], list[Part]]:
    def made(graph: OnnxGraph, stretch: Stretch, before: list[Part]) -> list[Part]:
        alpha = settings(stretch.nodes[-1]).get("alpha", usual)
        return [_activate(nn.activation(name).with_(alpha=float(alpha)))]

    return made


def _cast(graph: OnnxGraph, stretch: Stretch, before: list[Part]) -> list[Part]:
    """Nothing, as long as numbers stay such."""
    from onnx import TensorProto

    to = settings(stretch.nodes[-1])["to"]
    if to not in (TensorProto.FLOAT, TensorProto.DOUBLE, TensorProto.FLOAT16, TensorProto.BFLOAT16):
        raise _unknown(stretch, f" to {TensorProto.DataType.Name(to)}")
    return []


def _prelu(graph: OnnxGraph, stretch: Stretch, before: list[Part]) -> list[Part]:
    slope = _constant(graph, stretch, 1).reshape(-1)
    shared = slope.size == 1
    return [Part("", nn.PReLU(shared=shared), {"alpha": slope[0] if shared else slope}, {})]


def _rows(graph: OnnxGraph, stretch: Stretch, before: list[Part]) -> list[Part]:
    """Flatten, or Reshape to rows: nothing, where rows come in."""
    if stretch.nodes[-1].op_type == "Reshape" and _constant(graph, stretch, 1).size != 2:
        raise _unknown(stretch, " to other than rows")
    return []


def _activate(activation: nn.Activation) -> Part:
    return Part("", Activate(activation), {}, {})


def _activation(graph: OnnxGraph, stretches: Sequence[Stretch]) -> tuple[Part, int]:
    """The activation that has the values of the first stretch, or of as many as possible, and of how many.

    ONNX writes some activations as one operator, others as several.
    """
    runs = takewhile(lambda one: all(node.op_type in ELEMENTWISE for node in one.nodes), stretches)
    first = stretches[0]
    for count in range(len(list(runs)), 0, -1):
        nodes = [node for stretch in stretches[:count] for node in stretch.nodes]
        record = _recognised(_values(graph, nodes, first.source))
        if record is not None:
            return _activate(record), count
    told = {key: value for node in first.nodes for key, value in settings(node).items()}
    raise _unknown(first, f" with {told}" if told else "")


def _values(graph: OnnxGraph, nodes: list[Any], source: str) -> Array:
    """What these nodes make of `POINTS`."""
    from onnx.reference import ReferenceEvaluator

    result = nodes[-1].output[0]
    stored = {name: graph.constants[name] for node in nodes for name in node.input if name in graph.constants}
    feeds = {name: value.astype(np.float32) if value.dtype.kind == "f" else value for name, value in stored.items()}
    evaluator: Any = ReferenceEvaluator(graph.model(nodes, [source, *feeds], [result]))
    with np.errstate(all="ignore"):
        return np.asarray(evaluator.run([result], {source: POINTS, **feeds})[0])


def _recognised(values: Array) -> nn.Activation | None:
    """The activation with these values at `POINTS`."""
    points = POINTS.astype(np.float64)
    for record in nn.ACTIVATIONS.values():
        if record.learned or values.shape != points.shape:
            continue
        with np.errstate(all="ignore"):
            own = record(points)
            same = np.abs(values - own) <= TOLERANCE * (1.0 + np.abs(own))
        same[len(NEAR) :] |= ~np.isfinite(values[len(NEAR) :])  # far away, exp may have left float32 on the way
        if same.all():
            return record
    return None


OPERATORS: dict[str, Callable[[OnnxGraph, Stretch, list[Part]], list[Part]]] = {
    "Gemm": _gemm,
    "MatMul": _matmul,
    "Add": _arithmetic,
    "Sub": _arithmetic,
    "Mul": _arithmetic,
    "Div": _arithmetic,
    "Scaler": _scaler,
    "BatchNormalization": _batch_norm,
    "LayerNormalization": _layer_norm,
    "LeakyRelu": _with_alpha("leaky_relu", 0.01),
    "Elu": _with_alpha("elu", 1.0),
    "Celu": _with_alpha("celu", 1.0),
    "PRelu": _prelu,
    "Softmax": _over_features("softmax"),
    "LogSoftmax": _over_features("log_softmax"),
    "Cast": _cast,
    "Flatten": _rows,
    "Reshape": _rows,
}
"""By name: the layers for an operator, given those before it."""
