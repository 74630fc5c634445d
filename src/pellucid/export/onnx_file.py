"""A model as an ONNX file: one input for each column, and the answers."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from pellucid.data.types import Array
from pellucid.errors import ExportError
from pellucid.export.answers import LABEL
from pellucid.export.columns import Kind, as_data
from pellucid.export.onnx_operations import OPERATIONS, translate
from pellucid.export.program import Program
from pellucid.export.values import common_dtype, untranslated
from pellucid.graph import Dim, Graph, Node, Spec
from pellucid.graph.node import Literal

OPSET, OPSET_ML, IR = 18, 3, 8
"""What the file asks of a runtime: onnxruntime from 1.14 on."""

ROWS = "N"


class Writer:
    """The nodes of an ONNX graph, as they are written; values by name, with their dtypes."""

    def __init__(self, graph: Graph, taken: set[str]) -> None:
        self.graph, self.taken = graph, taken
        self.nodes: list[Any] = []
        self.initializers: list[Any] = []
        self.dtypes: dict[str, np.dtype[Any]] = {}
        self.scope = ""
        self.rows = ""  # the name of what holds the number of rows
        self._constants: dict[Any, str] = {}
        self._casts: dict[tuple[str, Any], str] = {}
        self._count = 0

    def fresh(self, word: str) -> str:
        """A name that nothing has: no column either."""
        while True:
            self._count += 1
            name = f"{self.scope}/{word}_{self._count}" if self.scope else f"{word}_{self._count}"
            if name not in self.taken:
                return name

    def node(self, op: str, inputs: list[str], *, domain: str = "", dtype: Any = None, **attributes: Any) -> str:
        """Write one down; the name of its result. The dtype is that of the last input unless it is said."""
        name = self.fresh(op)
        self.nodes.append(helper.make_node(op, inputs, [name], name, domain=domain, **attributes))
        self.dtypes[name] = np.dtype(dtype) if dtype is not None else self._dtype_of(op, inputs)
        return name

    def second(self, op: str, inputs: list[str], dtype: Any, **attributes: Any) -> str:
        """Write one down that has two results; the name of the second."""
        first, name = self.fresh(op), self.fresh(op)
        self.nodes.append(helper.make_node(op, inputs, [first, name], name, **attributes))
        self.dtypes[name] = np.dtype(dtype)
        return name

    def _dtype_of(self, op: str, inputs: list[str]) -> np.dtype[Any]:
        if op in ("Greater", "GreaterOrEqual", "Less", "LessOrEqual", "Equal", "And", "Or", "Xor", "Not"):
            return np.dtype(bool)
        if op in ("IsNaN", "IsInf"):
            return np.dtype(bool)
        if op in ("ArgMax", "ArgMin", "Shape"):
            return np.dtype(np.int64)
        return self.dtypes[inputs[1 if op == "Where" else 0]]

    def constant(self, array: Array) -> str:
        key = (array.dtype.str, array.shape, array.tobytes())
        if key not in self._constants:
            scope, self.scope = self.scope, ""
            name = self._constants[key] = self.fresh("constant")
            self.scope = scope
            self.initializers.append(numpy_helper.from_array(np.ascontiguousarray(array).reshape(array.shape), name))
            self.dtypes[name] = array.dtype
        return self._constants[key]

    def integers(self, values: Any) -> str:
        return self.constant(np.array(list(values), np.int64))

    def cast(self, name: str, dtype: Any) -> str:
        dtype = np.dtype(dtype)
        if self.dtypes[name] == dtype:
            return name
        if (name, dtype) not in self._casts:
            to = helper.np_dtype_to_tensor_dtype(dtype)
            self._casts[name, dtype] = self.node("Cast", [name], dtype=dtype, to=to)
        return self._casts[name, dtype]

    def alike(self, node: Node, args: list[str]) -> list[str]:
        """The arguments in one dtype."""
        dtype = common_dtype(self.graph, node)
        if np.dtype(node.dtype).kind == "f" and dtype.kind != "f":
            dtype = np.dtype(node.dtype)
        return [self.cast(a, dtype) for a in args]

    def spec(self, a: int | Literal) -> Spec:
        return a.spec if isinstance(a, Literal) else self.graph.nodes[a].spec

    # sizes, one of which is open

    def shape(self, shape: tuple[Any, ...]) -> str:
        """For Reshape: the open size is what is left."""
        unknown = [size for size in shape if isinstance(size, Dim)]
        if len(unknown) > 1:
            return self.sizes(shape)
        return self.integers(-1 if isinstance(size, Dim) else size for size in shape)

    def sizes(self, shape: tuple[Any, ...]) -> str:
        if not any(isinstance(size, Dim) for size in shape):
            return self.integers(shape)
        parts = [self.size(size) if isinstance(size, Dim) else self.integers((size,)) for size in shape]
        return self.node("Concat", parts, axis=0)

    def size(self, size: Dim) -> str:
        """a n + b, as an array of one number."""
        start, slope = size.resolve({"n": 0}), size.resolve({"n": 1}) - size.resolve({"n": 0})
        if size.resolve({"n": 2}) != start + 2 * slope:
            raise ExportError(f"the size {size} has no translation to ONNX: write shapes as multiples of the rows")
        many = self.node("Mul", [self.rows, self.integers((slope,))])
        return self.node("Add", [many, self.integers((start,))])

    def argument(self, a: Literal, node: Node) -> str:
        """A constant among the arguments; Python's numbers in the dtype of what they meet."""
        if isinstance(a.value, Dim):
            one = self.node("Squeeze", [self.size(a.value), self.integers((0,))])
            return self.cast(one, common_dtype(self.graph, node))
        return self.constant(np.asarray(a.value, common_dtype(self.graph, node) if a.spec.weak else None))


def model_proto(program: Program, version: str) -> Any:
    """The ONNX model."""
    graph = program.graph
    names = _output_names(program)
    if any(not column.name for column in program.columns):
        raise ExportError("a column has an empty name, and inputs of ONNX have none: rename it, and fit anew")
    write = Writer(graph, {column.name for column in program.columns} | set(names))
    inputs, values = [], dict[int, str]()
    for i, column in enumerate(program.columns):
        text = column.kind is Kind.CATEGORY
        dtype = TensorProto.STRING if text else helper.np_dtype_to_tensor_dtype(np.dtype(graph.nodes[i].dtype))
        inputs.append(helper.make_tensor_value_info(column.name, dtype, [ROWS, column.width]))
        write.dtypes[column.name] = np.dtype(object if text else graph.nodes[i].dtype)
        values[i] = column.name
        if text:
            write.scope = "preprocessing"
            values[i] = write.node(
                "LabelEncoder",
                [column.name],
                domain="ai.onnx.ml",
                dtype=np.int64,
                keys_strings=list(column.categories),
                values_int64s=list(range(1, len(column.categories) + 1)),
                default_int64=0,
            )
    write.scope = ""
    shape = write.node("Shape", [program.columns[0].name])
    write.rows = write.node("Slice", [shape, write.integers((0,)), write.integers((1,))])
    for i, node in enumerate(graph.nodes):
        if node.op is None:
            continue
        write.scope = node.scope
        args = [write.argument(a, node) if isinstance(a, Literal) else values[a] for a in node.args]
        result = translate(write, node, args)
        if result is None:
            raise untranslated(node, "ONNX", OPERATIONS)
        values[i] = result
    write.scope = ""
    outputs = [
        _output(write, program, name, answer, out, values)
        for name, answer, out in zip(names, program.outputs, graph.outputs, strict=True)
    ]
    body = helper.make_graph(write.nodes, program.estimator, inputs, outputs, write.initializers)
    opsets = [helper.make_opsetid("", OPSET), helper.make_opsetid("ai.onnx.ml", OPSET_ML)]
    model = helper.make_model(body, opset_imports=opsets, producer_name="pellucid", producer_version=version)
    model.ir_version = IR
    model.doc_string = f"{program.estimator}: columns of a table in, {', '.join(names)} out; preprocessing is inside."
    facts = {
        "columns": [as_data(column) for column in program.columns],
        "classes": None if program.classes is None else program.classes.tolist(),
        "networks": list(program.networks),
    }
    helper.set_model_props(model, {key: json.dumps(value, ensure_ascii=False) for key, value in facts.items()})
    _without_idle_rows(model)
    onnx.checker.check_model(model, full_check=True)
    return model


def _output_names(program: Program) -> list[str]:
    """Those of the answers, but where a column has such a name."""
    taken = {column.name for column in program.columns}
    return [name if name not in taken else f"{name}_output" for name in program.outputs]


def _output(write: Writer, program: Program, name: str, answer: str, out: Any, values: dict[int, str]) -> Any:
    spec = write.spec(out)
    value = write.constant(np.asarray(out.value)) if isinstance(out, Literal) else values[out]
    shape = [ROWS if isinstance(size, Dim) else int(size) for size in spec.shape]
    dtype: Any = np.dtype(np.int64 if answer == LABEL else np.float32)
    value = write.cast(value, dtype)
    if answer == LABEL and len(shape) == 1 and program.classes is not None:
        classes = np.asarray(program.classes)
        if classes.dtype.kind not in "biuf":
            classes = np.array([str(one) for one in classes], object)
        value = write.node("Gather", [write.constant(classes), value], axis=0)
        dtype = classes.dtype
    write.nodes.append(helper.make_node("Identity", [value], [name], name))
    kind = TensorProto.STRING if dtype.kind == "O" else helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
    return helper.make_tensor_value_info(name, kind, shape)


def _without_idle_rows(model: Any) -> None:
    """Take out the nodes that find the number of rows, where nothing asks for it."""
    nodes = model.graph.node
    for _ in range(2):
        used = {name for node in nodes for name in node.input}
        idle = [node for node in nodes if node.op_type in ("Shape", "Slice") and node.output[0] not in used]
        for node in idle:
            nodes.remove(node)
