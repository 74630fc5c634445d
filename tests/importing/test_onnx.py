"""from_onnx: chains of operators as layers, activations known by their values."""

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import special

from pellucid import nn
from pellucid.importing import from_onnx

onnx = pytest.importorskip("onnx")
helper, numpy_helper = onnx.helper, onnx.numpy_helper

rng = np.random.default_rng(0)
X = rng.normal(size=(30, 4)).astype(np.float32)
W1, b1 = rng.normal(size=(4, 6)).astype(np.float32), rng.normal(size=6).astype(np.float32)
W2, b2 = rng.normal(size=(6, 3)).astype(np.float32), rng.normal(size=3).astype(np.float32)


def model(nodes, opset=20, outputs=("y",), inputs=("X",), **stored):
    """A model of (operator, inputs, output, settings); arrays are stored under their names."""
    made = [
        helper.make_node(kind, names.split(), result.split(), domain="ai.onnx.ml" if kind == "Scaler" else "", **more)
        for kind, names, result, more in nodes
    ]
    info = lambda name: helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, None)
    graph = helper.make_graph(
        made,
        "net",
        [info(name) for name in inputs],
        [info(name) for name in outputs],
        [numpy_helper.from_array(np.asarray(array), name) for name, array in stored.items()],
    )
    versions = [helper.make_opsetid("", opset), helper.make_opsetid("ai.onnx.ml", 3)]
    return helper.make_model(graph, opset_imports=versions)


def reference(proto, rows=X):
    from onnx.reference import ReferenceEvaluator

    evaluator: Any = ReferenceEvaluator(proto)
    return evaluator.run(["y"], {"X": rows})[0]


def between(*nodes, **stored):
    """A hidden layer of six units, some nodes from h to a, and three outputs."""
    ends: tuple = ("Gemm", "X W1 b1", "h", {}), ("Gemm", "a W2 b2", "y", {})
    return model([ends[0], *nodes, ends[1]], W1=W1, b1=b1, W2=W2, b2=b2, **stored)


def half(value):
    return np.asarray(value, np.float32)


CHAINS = {
    "one number for all columns": lambda: model(
        [
            ("Div", "X d", "x", {}),
            ("Gemm", "x W1 b1", "h", {}),
            ("Relu", "h", "r", {}),
            ("Mul", "r m", "a", {}),
            ("Gemm", "a W2 b2", "y", {}),
        ],
        W1=W1,
        b1=b1,
        W2=W2,
        b2=b2,
        d=np.float32(255),
        m=np.full((1, 1), 3, np.float32),
    ),
    "Cast to floats": lambda: between(("Cast", "h", "d", {"to": 11}), ("Cast", "d", "a", {"to": 1})),
    "Softplus of exp": lambda: between(
        ("Exp", "h", "e", {}), ("Add", "e one", "p", {}), ("Log", "p", "a", {}), one=np.float32(1)
    ),
    "Gemm, transposed": lambda: model(
        [("Gemm", "X A c", "y", {"transB": 1, "alpha": 2.0, "beta": 0.5})], A=W1.T.copy(), c=b1[None]
    ),
    "MatMul and Add": lambda: model([("MatMul", "X W1", "z", {}), ("Add", "b1 z", "y", {})], W1=W1, b1=b1),
    "MatMul and Sub": lambda: model([("MatMul", "X W1", "z", {}), ("Sub", "z b1", "y", {})], W1=W1, b1=b1),
    "a scaler ahead": lambda: model(
        [("Sub", "X m", "c", {}), ("Div", "c s", "z", {}), ("MatMul", "z W1", "y", {})],
        m=half([1, 2, 3, 4]),
        s=half([2, 2, 4, 4]),
        W1=W1,
    ),
    "a factor ahead": lambda: model(
        [("Mul", "X s", "c", {}), ("Add", "c m", "z", {}), ("MatMul", "z W1", "y", {})],
        m=half([1, 2, 3, 4]),
        s=half([2, 2, 4, 4]),
        W1=W1,
    ),
    "Scaler": lambda: model(
        [("Scaler", "X", "z", {"offset": [1.0, 2.0, 3.0, 4.0], "scale": [2.0]}), ("MatMul", "z W1", "y", {})], W1=W1
    ),
    "BatchNormalization": lambda: between(
        ("BatchNormalization", "h s t m v", "a", {"epsilon": 0.01}),
        **{name: np.abs(b1) + i for i, name in enumerate(("s", "t", "m", "v"))},
    ),
    "LayerNormalization": lambda: between(("LayerNormalization", "h s t", "a", {"axis": -1}), s=b1, t=b1 + 1),
    "PRelu": lambda: between(("PRelu", "h slope", "a", {}), slope=np.abs(b1)),
    "PRelu, shared": lambda: between(("PRelu", "h slope", "a", {}), slope=half([0.3])),
    "LeakyRelu": lambda: between(("LeakyRelu", "h", "a", {"alpha": 0.2})),
    "Elu": lambda: between(("Elu", "h", "a", {"alpha": 0.5})),
    "Celu": lambda: between(("Celu", "h", "a", {"alpha": 2.0})),
    "GELU of five operators": lambda: between(
        ("Div", "h root", "u", {}),
        ("Erf", "u", "e", {}),
        ("Add", "e one", "f", {}),
        ("Mul", "h f", "g", {}),
        ("Mul", "g half", "a", {}),
        root=half(np.sqrt(2)),
        one=half(1),
        half=half(0.5),
    ),
    "SiLU of two": lambda: between(("Sigmoid", "h", "s", {}), ("Mul", "h s", "a", {})),
    "ReLU as a maximum": lambda: between(("Max", "h zero", "a", {}), zero=half(0)),
    "log sigmoid of two": lambda: between(("Sigmoid", "h", "s", {}), ("Log", "s", "a", {})),
    "tanh, halved": lambda: between(("Tanh", "h", "s", {}), ("Mul", "s half", "a", {}), half=half([0.5] * 6)),
    "what does nothing": lambda: between(
        ("Identity", "h", "i", {}), ("Dropout", "i", "d", {}), ("Flatten", "d", "a", {"axis": 1})
    ),
    "computed weights": lambda: model([("Transpose", "A", "W", {}), ("MatMul", "X W", "y", {})], A=W1.T.copy()),
}
ACTIVATIONS = {
    "Relu": "relu",
    "Sigmoid": "sigmoid",
    "Tanh": "tanh",
    "Softplus": "softplus",
    "Softsign": "softsign",
    "Selu": "selu",
    "Mish": "mish",
    "HardSwish": "hardswish",
    "Gelu": "gelu",
}


@pytest.mark.parametrize("chain", CHAINS)
def test_chains_predict_the_same(chain):
    proto = CHAINS[chain]()
    assert_allclose(from_onnx(proto).predict(X), reference(proto), rtol=2e-5, atol=2e-5)


@pytest.mark.parametrize("operator", ACTIVATIONS)
def test_activations_are_known_by_their_values(operator):
    imported = from_onnx(between((operator, "h", "a", {})))
    names = [getattr(layer, "activation", None) for _, layer in imported.net.children]
    assert names[1] is nn.ACTIVATIONS[ACTIVATIONS[operator]]


def test_the_end_tells_the_loss(tmp_path):
    scores = X @ W1 + b1
    nodes = [("Gemm", "X W1 b1", "z", {}), ("Softmax", "z", "y", {"axis": 1})]
    onnx.save(model(nodes, W1=W1, b1=b1), tmp_path / "net.onnx")
    many = from_onnx(tmp_path / "net.onnx", metrics=["accuracy"])
    assert many.loss == nn.loss("cross_entropy")
    assert_allclose(many.predict(X), special.softmax(scores, axis=1), rtol=1e-5)
    two = model(
        [
            ("Gemm", "X W1 b1", "z", {}),
            ("Sigmoid", "z", "p", {}),
            ("Sub", "one p", "q", {}),
            ("Concat", "q p", "y", {"axis": 1}),
        ],
        W1=W1[:, :1].copy(),
        b1=b1[:1],
        one=half([1.0]),
    )
    one = from_onnx(two.SerializeToString())
    assert one.loss == nn.loss("bce")
    assert_allclose(one.predict(X), special.expit(scores[:, :1]), rtol=1e-5)
    classes = np.arange(len(X)) % 6
    before = many.evaluate(X, classes)["loss"]
    many.fit(X, classes, epochs=3, verbose=False)
    assert many.evaluate(X, classes)["loss"] < before


@pytest.mark.parametrize(
    ("proto", "words"),
    [
        (lambda: between(("HardSigmoid", "h", "a", {"alpha": 0.2})), "HardSigmoid is not supported with .*0.2"),
        (lambda: between(("ReduceMax", "h", "a", {})), "ReduceMax is not supported: a network is one chain of Gemm"),
        (
            lambda: between(("Gemm", "h W3", "g", {}), ("Add", "g h", "a", {}), W3=np.eye(6, dtype=np.float32)),
            "Gemm and Add is not supported",
        ),
        (lambda: model([("Gemm", "W1 X", "y", {})], W1=W1), "Gemm is not supported where its input 1"),
        (lambda: model([("Add", "X Z", "y", {})], inputs=("X", "Z")), "several inputs are not supported"),
        (lambda: model([("Relu", "X", "y", {})]), "no layer with weights lies between 'X'"),
        (
            lambda: model([("Gemm", "X W1 b1", "y", {}), ("Relu", "y", "z", {})], outputs=("y", "z"), W1=W1, b1=b1),
            "outputs y, z.*output=",
        ),
    ],
    ids=["settings", "operator", "branch", "sides", "inputs", "no weights", "outputs"],
)
def test_errors_name_the_operator(proto, words):
    with pytest.raises(ValueError, match=words):
        from_onnx(proto())


def test_outputs_are_chosen_by_name():
    proto = model([("Gemm", "X W1 b1", "y", {}), ("Relu", "y", "z", {})], outputs=("y", "z"), W1=W1, b1=b1)
    assert_allclose(from_onnx(proto, output="z").predict(X), np.maximum(X @ W1 + b1, 0), rtol=1e-5, atol=1e-6)
    with pytest.raises(ValueError, match="outputs y, z, not 'w'"):
        from_onnx(proto, output="w")
    with pytest.raises(TypeError, match=r"takes a path, bytes or an onnx\.ModelProto, got int"):
        from_onnx(3)


NEARLY = {
    "a ReLU that ends at 10": (("Clip", "h low high", "a", {}), {"low": np.float32(0), "high": np.float32(10)}),
    "numbers that end at 100": (("Clip", "h low high", "a", {}), {"low": np.float32(-100), "high": np.float32(100)}),
    "whole numbers": (("Cast", "h", "a", {"to": 6}), {}),
}


@pytest.mark.parametrize("case", NEARLY)
def test_what_is_nearly_a_layer_is_refused(case):
    node, stored = NEARLY[case]
    with pytest.raises(ValueError, match=r"from_onnx: (Clip|Cast) is not supported"):
        from_onnx(between(node, **stored))
