"""An ONNX graph, followed from its output back to its input: constants, and the chain of operators between the two."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from pellucid.data.types import Array

PASSING = frozenset({"Identity", "ZipMap", "Dropout"})
"""Operators that hand numbers on, as far as a prediction is concerned."""

ELEMENTWISE = frozenset(
    {
        *("Abs", "Add", "Celu", "Clip", "Div", "Elu", "Erf", "Exp", "Gelu", "Greater", "HardSigmoid", "HardSwish"),
        *("LeakyRelu", "Less", "Log", "Max", "Min", "Mish", "Mul", "Neg", "Pow", "Reciprocal", "Relu", "Selu"),
        *("Sigmoid", "Softplus", "Softsign", "Sqrt", "Sub", "Tanh", "Where"),
    }
)
"""Operators that an activation may be made of."""


@dataclass(frozen=True, eq=False)
class Stretch:
    """Some nodes that lie between two values: one node, or several that are one function of `source`."""

    nodes: tuple[Any, ...]  # in their order; the last one gives the result
    source: str

    @property
    def operator(self) -> str:
        """In words."""
        return " and ".join(dict.fromkeys(str(node.op_type) for node in self.nodes))


@dataclass(frozen=True, eq=False)
class OnnxGraph:
    """A model of ONNX, read for one purpose: which operators lie between its input and an output."""

    graph: Any  # onnx.GraphProto
    opsets: Any

    @cached_property
    def producers(self) -> dict[str, int]:
        """The number of the node that gives each value."""
        return {value: i for i, node in enumerate(self.graph.node) for value in node.output if value}

    @cached_property
    def constants(self) -> dict[str, Array]:
        """Values that do not depend on the input: stored ones, and what is computed of them."""
        from onnx import numpy_helper
        from onnx.reference import ReferenceEvaluator

        values = {one.name: np.asarray(numpy_helper.to_array(one)) for one in self.graph.initializer}
        for node in self.graph.node:
            if all(name in values for name in node.input if name):
                feeds = {name: values[name] for name in node.input if name}
                evaluator = ReferenceEvaluator(self.model([node], list(feeds), list(node.output)))
                values |= dict(zip(node.output, map(np.asarray, evaluator.run(None, feeds)), strict=True))
        return values

    def model(self, nodes: list[Any], inputs: list[str], outputs: list[str]) -> Any:
        """Some nodes as a model of their own, to be evaluated."""
        from onnx import helper

        def info(name: str) -> Any:
            return helper.make_value_info(name, helper.make_tensor_type_proto(1, None))

        graph = helper.make_graph(nodes, "part", [info(name) for name in inputs], [info(name) for name in outputs])
        return helper.make_model(graph, opset_imports=self.opsets)

    @property
    def inputs(self) -> list[Any]:
        """What rows come in by."""
        stored = {one.name for one in self.graph.initializer}
        return [one for one in self.graph.input if one.name not in stored]

    def varying(self, node: Any) -> list[str]:
        """Those inputs of a node that depend on the rows."""
        return list(dict.fromkeys(name for name in node.input if name and name not in self.constants))

    def output(self, asked: str | None) -> str:
        """The name of the output that is meant: the one that is asked for, or the only one of numbers."""
        from onnx import TensorProto

        names = [one.name for one in self.graph.output]
        if asked is not None:
            if asked not in names:
                raise ValueError(f"from_onnx: the file has the outputs {', '.join(names)}, not {asked!r}")
            return asked
        numbers: list[str] = [
            one.name
            for one in self.graph.output
            if not one.type.HasField("tensor_type")
            or one.type.tensor_type.elem_type in (TensorProto.FLOAT, TensorProto.DOUBLE)
        ]
        if len(numbers) != 1:
            raise ValueError(
                f"from_onnx: the file has the outputs {', '.join(names)}, and several or none of numbers: say which "
                "is meant, output=..."
            )
        return numbers[0]

    def chain(self, output: str) -> tuple[str, list[Stretch]]:
        """The stretches between the input and an output, in their order; and the name of the input."""
        stretches: list[Stretch] = []
        value = output
        while value in self.producers:
            stretch = self._stretch(value)
            stretches.append(stretch)
            value = stretch.source
        return value, stretches[::-1]

    def _stretch(self, value: str) -> Stretch:
        """The node that gives a value; where it has several inputs, all nodes back to where these come from one."""
        last = self.producers[value]
        front, nodes = set(self.varying(self.graph.node[last])), {last}
        while len(front) > 1:
            if not front <= self.producers.keys():
                raise ValueError(
                    f"from_onnx: {self.graph.node[last].op_type} joins {', '.join(sorted(front))}, but a network of "
                    "one chain has one input: several inputs are not supported"
                )
            latest = max(front, key=lambda name: self.producers[name])
            number = self.producers[latest]
            front = (front - {latest}) | set(self.varying(self.graph.node[number]))
            nodes.add(number)
        return Stretch(tuple(self.graph.node[number] for number in sorted(nodes)), front.pop())


def settings(node: Any) -> Mapping[str, Any]:
    """The attributes of a node, by name."""
    from onnx import helper

    return {one.name: helper.get_attribute_value(one) for one in node.attribute}
