"""ONNX Runtime: prediction only. The graph is built from the weights, layer by layer."""

from __future__ import annotations

import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

from benchmarks.cases import TrainCase, data, initial
from benchmarks.contestants import Work


def exported(case: TrainCase) -> bytes:
    """Gemm, Relu, ..., Gemm, Softmax."""
    nodes, weights, last = [], [], "X"
    for i, (W, b) in enumerate(initial(case)):
        weights += [numpy_helper.from_array(W, f"W{i}"), numpy_helper.from_array(b, f"b{i}")]
        nodes.append(helper.make_node("Gemm", [last, f"W{i}", f"b{i}"], [f"z{i}"]))
        kind = ("Relu", {}) if i < len(case.hidden) else ("Softmax", {"axis": 1})
        nodes.append(helper.make_node(kind[0], [f"z{i}"], [f"h{i}"], **kind[1]))
        last = f"h{i}"
    x = helper.make_tensor_value_info("X", TensorProto.FLOAT, [None, case.features])
    y = helper.make_tensor_value_info(last, TensorProto.FLOAT, [None, case.classes])
    graph = helper.make_graph(nodes, "mlp", [x], [y], weights)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=10)
    onnx.checker.check_model(model)
    return model.SerializeToString()


def predict(case: TrainCase, rows: int, threads: int) -> Work:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
    session = onnxruntime.InferenceSession(exported(case), options, providers=["CPUExecutionProvider"])
    Z = data(case, rows)[0]

    def work(n: int) -> None:
        for _ in range(n):
            session.run(None, {"X": Z})

    return work
