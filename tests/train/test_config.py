"""Records as plain JSON and back: every layer, activation, loss, penalty, optimiser; and files that mean harm."""

import builtins
import contextlib
import dataclasses
import functools
import importlib
import inspect
import json
import math
import os
import subprocess
import sys
import typing
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given as draw
from hypothesis import settings
from hypothesis import strategies as st
from scipy import special

from pellucid import nn, optim
from pellucid.nn.initialisers.initializer import scaled
from pellucid.train.files.records import TAGS, ConfigError, describe, known_classes, restore


def through_json(record, custom=None):
    text = json.dumps(describe(record), allow_nan=False)
    again = restore(json.loads(text), custom)
    assert json.dumps(describe(again), allow_nan=False) == text
    return again


def same(record, custom=None):
    again = through_json(record, custom)
    assert type(again) is type(record)
    assert again == record
    return again


def same_network(net, features=4, custom=None):
    """Equal, and the same numbers to the bit: at the start, at prediction, in training."""
    again = same(net, custom)
    (params, state), started = net.initialize(features, seed=3), again.initialize(features, seed=3)
    assert list(params) == list(started.params)
    for name, value in params.items():
        np.testing.assert_array_equal(value, started.params[name], strict=True)
    x = np.random.default_rng(0).normal(size=(5, features))
    for inputs in (x, x.astype(np.float32)):
        np.testing.assert_array_equal(
            net.predict(params, inputs, state), again.predict(params, inputs, state), strict=True
        )
        trained = [one.apply(params, inputs, state, training=True, key=1)[0] for one in (net, again)]
        np.testing.assert_array_equal(*trained, strict=True)
    return again


LAYERS: dict[str, list[nn.Layer]] = {
    "Activate": [nn.PReLU(0.1, shared=True), nn.Activate(nn.activation("soboleva").learning("b", "a").with_(a=2.0))],
    "Mixed": [nn.Mixed("relu", "prelu", nn.activation("elu").with_(alpha=2.0))],
    "Dense": [
        nn.Dense(3),
        nn.Dense(np.int64(3), init="he", bias=None),
        nn.Dense(2, nn.INITIALIZERS["orthogonal"], nn.INITIALIZERS["zeros"], "ntk"),
        nn.Dense(2, init=[[1.0, 0.1], [1.0, 2.0], [1.0, 2.0], [1.0, 1 / 3]]),
    ],
    "Maxout": [nn.Maxout(3, 4, init="lecun", bias=0.1)],
    "GLU": [nn.GLU(3, "silu", bias=None), nn.GLU(3, nn.activation("leaky_relu").with_(alpha=0.3))],
    "Scale": [nn.Scale(), nn.Scale(0.5)],
    "Embed": [nn.Embed((3,)), nn.Embed((2, 5), (1, 4), init="lecun")],
    "CodedDense": [nn.CodedDense(2, (3,)), nn.CodedDense(3, (2, 5), init="lecun", bias=0.1, table="standard_normal")],
    "Members": [nn.Members(3), nn.Members(2, init=nn.normal(0.5))],
    "Heads": [nn.Heads(2, 1), nn.Heads(2, 5, init="he", bias=None, scaling="ntk")],  # five rows come
    "PiecewiseLinear": [nn.PiecewiseLinear(2), nn.PiecewiseLinear(3, 8, 2)],
    "Periodic": [nn.Periodic(2), nn.Periodic(3, 8, 2, sigma=0.5)],
    "Sequential": [nn.Sequential(("a", nn.Dense(4)), "relu", nn.Sequential(nn.Dense(2), nn.Tanh()))],
    "Residual": [nn.Residual(nn.Sequential(nn.Dense(4), "gelu"))],
    "Concat": [nn.Concat(nn.Dense(2), ("b", nn.Dense(3)))],
    "Flatten": [nn.Flatten()],
    "LeaveOut": [nn.LeaveOut((1,)), nn.LeaveOut((0, 2))],
    "FixedScale": [nn.FixedScale((1.0, 2.0, 0.0, -1e9), (0.1, 1.0, 3.0, 1e-9))],
    "Compute": [
        nn.Compute(nn.Dense(3)),
        nn.Compute(nn.Dense(3), np.float32),
        nn.Compute(nn.Dense(3), np.dtype("float64")),
        nn.Compute(nn.Dense(3), float),
    ],
    "Dropout": [nn.Dropout(0.25, "classical"), nn.Dropout(np.float64(0.25), "classical"), nn.Dropout(np.float32(0.1))],
    "GaussianNoise": [nn.GaussianNoise(0.3)],
    "AlphaDropout": [nn.AlphaDropout(0.2)],
    "BatchNorm": [nn.BatchNorm(1e-3, 0.3, "cumulative", affine=False), nn.BatchNorm()],
    "LayerNorm": [nn.LayerNorm(1e-4, affine=False)],
    "RMSNorm": [nn.RMSNorm(1e-4)],
}
SETTINGS = {
    "gaussian": {"floor": 0.25, "beta": 0.5},
    "huber": {"delta": 2.5},
    "quantile": {"quantiles": (0.1, 0.5, 0.9)},
    "poisson": {"constant": True},
    "cross_entropy": {"smoothing": 0.1},
    "binary_cross_entropy": {"smoothing": np.float32(0.1)},
    "multilabel": {"smoothing": 0.2},
    "focal": {"gamma": 1.5, "alpha": (0.2, 0.3, 0.5)},
}


@pytest.mark.parametrize("name", [name for name, cls in known_classes().items() if issubclass(cls, nn.Layer)])
def test_every_layer(name):
    for layer in LAYERS[name]:
        assert type(layer).__name__ == name
        same_network(layer)


@pytest.mark.parametrize("name", [name for name in nn.ACTIVATIONS if "example" not in name])
def test_every_activation(name):
    usual = nn.activation(name)
    assert same(usual) is usual
    numbers = {**usual.parameters, **usual.learned}
    for record in (usual, usual.with_(**dict.fromkeys(numbers, 0.7)), usual.learning(*numbers), usual.learning()):
        assert same(record).gain == record.gain
        same_network(
            nn.Sequential(nn.Dense(4), nn.Activate(record, shared=True), nn.Mixed(record, "relu"), nn.Dense(2))
        )


@pytest.mark.parametrize("name", [name for name in nn.LOSSES if "example" not in name])
def test_every_loss(name):
    usual = nn.loss(name)
    same(usual)
    settings = SETTINGS.get(usual.name, {})
    assert len(settings) == len(dataclasses.fields(usual)), "give a case for every setting"
    loss, again = usual.with_(**settings), same(usual.with_(**settings))
    y = (
        loss.prepare([0, 1, 1] if usual.name != "multilabel" else [[0, 1]] * 3)
        if usual.name != "gamma"
        else np.ones((3, 1))
    )
    outputs = 3 if usual.name in ("focal", "cross_entropy", "brier") else y.shape[1] * loss.per_output
    scores = np.random.default_rng(0).normal(size=(3, outputs))
    y = np.array([0, 1, 1]) if usual.name in ("focal", "cross_entropy", "brier") else y
    assert loss(scores, y) == again(scores, y)
    np.testing.assert_array_equal(loss.link(scores), again.link(scores))


@pytest.mark.parametrize(
    "record",
    [
        nn.L1(0.1, on="out.*"),
        nn.L2(np.float64(0.1)),
        nn.L2(0.5, on=["a.weight", "b.weight"]),
        nn.ElasticNet(0.1, 0.2, on=("a.weight", "b.*")),
        nn.L1(0.1) + nn.L2(0.3) + nn.ElasticNet(1, 2),
        nn.Penalties(),
        nn.MaxNorm(3),
        nn.Interval(0, math.inf, "[)"),
    ],
)
def test_penalties_and_the_like(record):
    same(record)


def test_penalties_and_constraints_are_all_known():
    assert {"L1", "L2", "ElasticNet", "Penalties", "MaxNorm"} <= known_classes().keys()


@pytest.mark.parametrize("name", [*nn.INITIALIZERS])
def test_every_initializer_by_name_and_object(name):
    assert same(nn.INITIALIZERS[name]) is nn.INITIALIZERS[name]
    same_network(nn.Dense(2, init=name))
    same_network(nn.Dense(2, init=nn.INITIALIZERS[name]))


@pytest.mark.parametrize("make", [nn.constant, nn.normal, nn.uniform])
@pytest.mark.parametrize("number", [0.1, 1, 1e-7, 1e22, 123456.789, np.float64(0.3)])
def test_initializers_with_a_number(make, number):
    record = make(number)
    again = through_json(record)
    assert again.name == record.name
    start = lambda one: one(np.random.default_rng(1), (3, 2), 3, 2, 1.0)
    np.testing.assert_array_equal(start(record), start(again), strict=True)


def test_given_arrays_come_back_as_zeros_and_say_so():
    net = nn.Dense(2, init=nn.given(np.ones((3, 2))))
    again = through_json(net)
    assert "not stored" in again.init.name
    with pytest.warns(UserWarning, match="zeros instead"):
        assert not again.initialize(3).params["weight"].any()
    x = np.ones((2, 3))
    np.testing.assert_array_equal(net.predict(net.initialize(3).params, x), again.predict(net.initialize(3).params, x))


@pytest.mark.parametrize(
    "value",
    [None, True, 0, -3, 0.1, math.inf, -math.inf, "text", "", (), (1, (2.0, None)), [], [1, (2,)],
     {1: 0.1, "type": (3,)},
     np.float32(0.1), np.float16(0.1), np.int8(-3), np.bool_(True), np.uint64(2**64 - 1), np.float64(np.inf), 2**70],
)  # fmt: skip
def test_plain_values(value):
    again = same(value)
    assert getattr(again, "dtype", None) == getattr(value, "dtype", None)


def test_nan_and_arrays():
    assert math.isnan(through_json(math.nan))
    for array in (
        np.array([[0.1, np.nan, -np.inf]], np.float32),
        np.zeros((2, 0)),
        np.array([True, False]),
        np.arange(6),
    ):
        np.testing.assert_array_equal(through_json(array), array, strict=True)


@pytest.mark.parametrize("activation", ["relu", "swish", "maxout", "swiglu", nn.activation("elu").with_(alpha=0.5)])
@pytest.mark.parametrize("norm", [None, "batch", "layer", nn.RMSNorm(1e-3)])
@pytest.mark.parametrize("place", ["before", "after"])
def test_mlp(activation, norm, place):
    net = nn.mlp(
        (5, 4),
        3,
        activation=[activation, "tanh"],
        norm=norm,
        norm_place=place,
        dropout=[0.5, 0.0],
        input_dropout=0.1,
        init=["he", "orthogonal"],
        output_init="zeros",
        bias=0.1,
        scaling="ntk",
    )
    same_network(net)


# optimisers


def sample(hint):
    """Some value of this kind."""
    args = typing.get_args(hint)
    kinds = [known_classes()[name] for name in known_classes() if name.startswith("optim.")]
    simple = {float: 0.25, int: 3, str: "*.weight", bool: True, typing.Any: 0.25}
    if hint in simple:
        return simple[hint]
    if typing.get_origin(hint) is tuple:
        return tuple(sample(one) for one in args if one is not Ellipsis)
    if args and typing.get_origin(hint) is not type:
        return sample(args[0])
    fits = [cls for cls in kinds if isinstance(hint, type) and issubclass(cls, hint)]
    assert fits, f"no example for {hint}: give the class one in EXAMPLES"
    return example(fits[0])


EXAMPLES = {
    "Piecewise": lambda cls: cls((0.1, 0.01), at=(3,)),
    "Constraint": lambda cls: cls(nn.MaxNorm(3.0)),
    "OneCycle": lambda cls: cls(0.1, 100, divide=10.0),
}


def example(cls):
    if cls.__name__ in EXAMPLES:
        return EXAMPLES[cls.__name__](cls)
    required = [f for f in dataclasses.fields(cls) if f.default is f.default_factory is dataclasses.MISSING]
    hints = typing.get_type_hints(cls)
    if all(f.name in cls.__init__.__annotations__ for f in required):
        return cls(**{f.name: sample(hints[f.name]) for f in required if f.init})
    return cls(*sample(hints[required[-1].name]))


OPTIM = {name: cls for name, cls in known_classes().items() if name.startswith("optim.")}


@pytest.mark.parametrize("name", OPTIM)
def test_every_record_of_optim(name):
    record = example(OPTIM[name])
    same(record)
    for one in dataclasses.fields(record):  # any setting may be a schedule
        if typing.get_type_hints(OPTIM[name])[one.name] == optim.Number:
            same(replace(record, **{one.name: optim.Warmup(optim.Epochs(2), optim.Cosine(0.1, restarts=2))}))


def test_the_tables_of_optim_are_known():
    kinds = {*optim.RULES.values(), *optim.SCHEDULES.values()}
    public = {c for c in vars(optim).values() if isinstance(c, type) and dataclasses.is_dataclass(c)}
    assert {cls for cls in kinds | public if not inspect.isabstract(cls)} <= set(OPTIM.values())


class SignDescent(optim.Rule):
    def init(self, w):
        return {}

    def step(self, w, g, s, lr, t):
        return w - lr * np.sign(g), {}


def test_whole_optimizers_take_the_same_steps():
    rate = optim.Warmup(3, optim.Piecewise((0.1, 0.01), at=(optim.Epochs(1),)))
    links = optim.ClipNorm(1.0), optim.WeightDecay(0.1, on=("a.*",)), optim.Constraint(nn.MaxNorm(2)), optim.EMA()
    for rule in (optim.Adam(rate), SignDescent(np.float32(0.1)), optim.Nesterov(0.1)):
        parts = (links[0], rule, *links[1:])
        opt = optim.chain(*parts, groups=[optim.Group("*.bias", lr=0.5, decay=0.0)])
        again = same(opt, {"SignDescent": SignDescent})
        results = []
        for one in (opt, again):
            one = one.fit(20, 5.0)
            w = {"a.weight": np.ones((2, 3)), "a.bias": np.ones(3)}
            s = one.init(w)
            for t in range(6):
                w, s = one.update(w, {k: 0.1 * v + t for k, v in w.items()}, s, t + 1, one.numbers(t))
            results.append({**w, **s})
        for name, value in results[0].items():
            np.testing.assert_array_equal(value, results[1][name], strict=True)
    with pytest.raises(ConfigError, match="a rule 'SignDescent' that pellucid does not know"):
        restore(describe(SignDescent(0.1)))


# the user's own


@dataclass(frozen=True)
class Fourier(nn.Layer):
    waves: int = 2
    phases: typing.Any = None
    f: typing.Any = np.sin
    made: int = field(default=0, init=False)

    def output(self, features):
        return (self.waves * features[0],)

    def __call__(self, p, x, ctx):
        return np.concatenate(
            [self.f(x * k) + (0 if self.phases is None else self.phases) for k in range(self.waves)], 1
        )


def wave(x):
    return np.sin(3 * x)


def cosh_error(s, y):
    return np.log(np.cosh(s - y))


def make_lambda(k):
    return lambda x: x * k


def test_layers_of_ones_own():
    net = nn.Sequential(Fourier(3, f=wave), nn.Dense(2))
    same_network(net, custom={"Fourier": Fourier, "wave": wave})
    with pytest.raises(ConfigError) as error:
        restore(describe(net), {"wave": wave})
    assert str(error.value) == (
        "the file describes a layer 'Fourier' that pellucid does not know: pass custom={'Fourier': Fourier}"
    )
    with pytest.raises(ConfigError, match=r"a function 'wave' that .* not know: pass custom={'wave': wave}"):
        restore(describe(net), {"Fourier": Fourier})
    with pytest.raises(ConfigError, match="is to be a class"):
        restore(describe(net), {"Fourier": wave, "wave": wave})
    phases = np.array([[0.1, 0.2, 1 / 3, np.pi]])
    again = through_json(Fourier(2, phases), {"Fourier": Fourier, "sin": np.sin})
    np.testing.assert_array_equal(again.phases, phases, strict=True)


def test_a_class_called_like_one_of_pellucid():
    own: Any = dataclass(frozen=True)(
        type("Dense", (nn.Layer,), {"__call__": lambda self, p, x, ctx: x, "__module__": "mine"})
    )
    data = describe(own())
    assert data == {"type": "mine.Dense", "is": "layer"}
    assert type(restore(data, {"mine.Dense": own})) is own
    with pytest.raises(ConfigError, match=r"mine\.Dense"):
        restore(data)


def test_functions_of_ones_own():
    net = nn.Sequential(nn.Dense(3), wave, nn.Mixed(wave, "relu"), nn.GLU(2, gate=wave))
    same_network(net, custom={"wave": wave})
    same_network(nn.Sequential(nn.Dense(3), np.tanh), custom={})  # in the table
    lambdas = [make_lambda(2.0), make_lambda(3.0)]
    same_network(nn.Sequential(nn.Dense(3), lambdas[0]), custom={"<lambda>": lambdas[0]})
    with pytest.raises(ConfigError, match="two different things are called '<lambda>'"):
        describe(nn.Sequential(nn.Dense(3), *lambdas))
    loss = nn.Loss.from_function(cosh_error, link=special.expit, like=nn.loss("bce", smoothing=0.1))
    same(loss, {"cosh_error": cosh_error, "expit": special.expit})
    with pytest.raises(ConfigError, match="a function 'cosh_error'"):
        restore(describe(loss))
    partial = functools.partial(wave)
    same(nn.GLU(2, gate=partial), {"partial": partial})


def test_a_table_activation_with_another_function_is_not_taken_for_the_one_in_the_table():
    record = replace(nn.activation("relu"), function=wave)
    with pytest.raises(ConfigError, match="function 'wave'"):
        restore(describe(record))
    same(record, {"wave": wave})
    other = replace(nn.activation("relu"), gain=np.float32(0.5))
    assert same(other).gain == 0.5
    own = nn.Activation("cubic", wave, range=nn.Interval(-1, 1), kinks=(0.5,), parameters={}, reference="me")
    same(own, {"wave": wave})


def test_initializers_of_ones_own():
    for own in (
        nn.Initializer("he", lambda rng, shape, i, o, gain: np.ones(shape)),
        scaled(lambda i, o, gain: 7.0, name="mine"),
        nn.Initializer("constant(0.1)", lambda rng, shape, i, o, gain: np.ones(shape)),
    ):
        with pytest.raises(ConfigError, match="a function"):
            restore(describe(nn.Dense(2, init=own)))
        same(nn.Dense(2, init=own), {own.name: own})


class Plain:
    """No record at all."""


@dataclass(frozen=True)
class Typed:
    type: str = "a"


@pytest.mark.parametrize(
    "record",
    [Plain(), nn.Residual(nn.Dense(2, bias=Plain())), object(), {1, 2}, 1j, np.longdouble(1), b"x", Typed()],
)
def test_what_cannot_be_described(record):
    with pytest.raises(ConfigError, match="cannot be stored"):
        describe(record)


# files that are wrong, or mean harm


def bomb(*args, **kwargs):
    raise AssertionError("something was called")


DEEP = functools.reduce(lambda inner, _: {"type": "Residual", "layer": inner}, range(100_000), None)
BAD = [
    {"type": "os.system"}, {"type": "__import__"}, {"type": "__class__"}, {"type": "Layer"}, {"type": "Loss"},
    {"type": "bomb"}, {"type": "bomb", "is": "layer"}, {"type": "builtins.eval"}, {"type": ""}, {"type": None},
    {"type": 3}, {"type": ["Dense"]}, {"type": {"type": "Dense"}}, {}, {"units": 3}, {"name": "relu"}, object(), {1, 2},
    {"type": "Dense"}, {"type": "Dense", "units": "3"}, {"type": "Dense", "units": -1},
    {"type": "Dense", "units": None},
    {"type": "Dense", "units": 3, "__class__": "x"}, {"type": "Dense", "units": 3, "__init__": 1},
    {"type": "Dense", "units": 3, "self": 1}, {"type": "Dense", "units": 3, "rate": 1}, {"type": "Dense", "units": [3]},
    {"type": "Dropout", "rate": "0.5"}, {"type": "Dropout", "rate": {"type": "Flatten"}},
    {"type": "Dropout", "rate": 2},
    {"type": "LayerNorm", "eps": "x"}, {"type": "LayerNorm", "eps": None}, {"type": "LayerNorm", "affine": "no"},
    {"type": "Sequential"}, {"type": "Sequential", "parts": []}, {"type": "Sequential", "parts": 5},
    {"type": "Sequential", "parts": "relu"}, {"type": "Sequential", "parts": [["a", {"type": "Huber"}]]},
    {"type": "Sequential", "parts": [["a", "os.system"]]}, {"type": "Sequential", "parts": [{"type": "Flatten"}]},
    {"type": "Sequential", "parts": [["a", {"type": "function", "name": "bomb"}]]},
    {"type": "Sequential", "parts": [["a", {"type": "Flatten"}], ["a", {"type": "Flatten"}]]},
    {"type": "Residual", "layer": None}, {"type": "Residual", "layer": {"type": "L2", "strength": 0.1}},
    {"type": "Residual", "layer": {"type": "function", "name": "bomb"}}, DEEP,
    {"type": "Activate", "activation": "relu"}, {"type": "Mixed", "activations": ["relu"]},
    {"type": "Activate", "activation": {"type": "activation", "name": "__import__"}},
    {"type": "activation", "name": "elu"}, {"type": "activation", "name": "elu", "parameters": {"alpha": "x"}},
    {"type": "activation", "name": "elu", "parameters": [1]}, {"type": "activation", "name": "elu", "learned": "alpha"},
    {"type": "activation", "name": "relu", "parameters": {"function": 1}}, {"type": "activation", "name": 3},
    {"type": "activation", "name": "relu", "function": "os.system"},
    {"type": "activation", "name": "relu", "gain": "x"},
    {"type": "activation", "name": "elu", "parameters": {"alpha": 1.0}, "learned": {"alpha": 1.0}},
    {"type": "Activation", "name": "x", "function": "os.system"}, {"type": "Activation", "name": "x"},
    {"type": "initializer", "name": "__import__('os')"}, {"type": "initializer", "name": "constant(__import__('os'))"},
    {"type": "initializer", "name": "given"}, {"type": "initializer", "name": "normal(-1)"},
    {"type": "initializer", "name": "constant(1.2.3)"}, {"type": "initializer", "name": "constant(" + "9" * 5000 + ")"},
    {"type": "initializer"}, {"type": "function"}, {"type": "function", "name": "os.system"},
    {"type": "function", "name": "__import__"}, {"type": "function", "name": ["bomb"]},
    {"type": "function", "name": "five"},
    {"type": "dtype", "name": "object"}, {"type": "dtype", "name": "f4,(eval"}, {"type": "dtype", "name": None},
    {"type": "array", "dtype": "object", "shape": [], "values": [1]}, {"type": "list", "items": 3}, {"type": "list"},
    {"type": "array", "dtype": "float64", "shape": [10**15], "values": [1.0]},
    {"type": "array", "dtype": "float64", "shape": ["x"], "values": [1.0]},
    {"type": "array", "dtype": "float64", "shape": [], "values": ["1"]},
    {"type": "array", "dtype": "int8", "shape": [], "values": [300]},
    {"type": "float", "value": "1e3"}, {"type": "float", "value": [1]}, {"type": "float", "value": "inf", "more": 1},
    {"type": "dict", "items": [[1]]}, {"type": "dict", "items": [[{"type": "list", "items": []}, 1]]}, {"type": "dict"},
    {"type": "Penalties", "parts": [3]}, {"type": "L2"}, {"type": "L2", "strength": -1},
    {"type": "L2", "strength": "x"},
    {"type": "L2", "strength": 0.1, "on": 3}, {"type": "Focal", "gamma": "x"}, {"type": "Own", "function": 3},
    {"type": "Own", "function": {"type": "function", "name": "os.system"}}, {"type": "Compute", "layer": "relu"},
    {"type": "Quantile", "quantiles": "x"}, {"type": "Perceptron", "lr": 1.0}, {"type": "Learned"},
    {"type": "Parameter"},
]  # fmt: skip


@pytest.mark.parametrize("number", range(len(BAD)))
def test_harmful_and_broken_files(number, monkeypatch):
    for module, name in ((os, "system"), (subprocess, "Popen"), (builtins, "exec"), (importlib, "import_module")):
        monkeypatch.setattr(module, name, bomb)
    before = set(sys.modules)
    with pytest.raises(ConfigError) as error:
        restore(BAD[number], {"bomb": bomb, "five": 5})
    assert set(sys.modules) == before
    assert "something was called" not in str(error.value)
    assert len(str(error.value)) < 2000


def test_errors_name_field_and_class():
    with pytest.raises(ConfigError, match="Dense has no field 'sparse': was the file written by a newer version"):
        restore({"type": "Dense", "units": 3, "sparse": True})
    with pytest.raises(ConfigError, match="Dense needs the field 'units'"):
        restore({"type": "Dense"})
    with pytest.raises(ConfigError, match="Dense cannot be made from the file: Dense: units is a whole number from 1"):
        restore({"type": "Dense", "units": 0})


@settings(max_examples=200, deadline=None)
@draw(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(
                st.sampled_from(["parts", "name", "items", "units", "layer", "value", "is"]), inner, max_size=3
            )
            | st.builds(
                lambda tag, rest: {**rest, "type": tag},
                st.sampled_from([*TAGS, *known_classes(), "x", "__init__"]),
                st.dictionaries(
                    st.sampled_from(["parts", "name", "items", "units", "layer", "value"]), inner, max_size=3
                ),
            )
        ),
        max_leaves=8,
    )
)
def test_any_data_are_read_or_refused(data):
    with contextlib.suppress(ConfigError):
        restore(data)


ACTIVE = st.sampled_from(["relu", "prelu", "swish", "soboleva", "softmax"]).map(nn.activation)
PART = (
    st.builds(
        nn.Dense,
        st.integers(1, 4),
        st.sampled_from(["auto", "he", 0.1, nn.INITIALIZERS["he"]]),
        st.none() | st.floats(-1, 1),
    )
    | st.builds(nn.GLU, st.integers(1, 3), st.sampled_from(["relu", "silu"]))
    | st.builds(nn.Maxout, st.integers(1, 3), st.integers(1, 3))
    | st.builds(nn.Activate, ACTIVE, st.booleans())
    | st.builds(nn.Activate, ACTIVE.map(lambda a: a.with_(**dict.fromkeys({**a.parameters, **a.learned}, 1.3))))
    | st.builds(nn.Dropout, st.floats(0, 0.9), st.sampled_from(["inverted", "classical"]))
    | st.builds(nn.BatchNorm, st.floats(1e-6, 1), affine=st.booleans())
    | st.builds(nn.LayerNorm, st.floats(1e-6, 1))
    | st.builds(nn.Scale, st.floats(-2, 2))
)
NETWORK = st.recursive(
    PART,
    lambda inner: (
        st.lists(inner, min_size=1, max_size=3).map(lambda parts: nn.Sequential(*parts))
        | st.lists(inner, min_size=1, max_size=3).map(lambda parts: nn.Concat(*parts))
        | inner.map(lambda part: nn.Residual(nn.Sequential(part, nn.Dense(4))) if part.output((4,)) else part)
        | inner.map(nn.Compute)
    ),
    max_leaves=5,
)


@settings(max_examples=60, deadline=None)
@draw(NETWORK)
def test_any_network(net):
    net = nn.Sequential(nn.Dense(4), net)
    try:
        net.initialize(4)
    except ValueError:  # a Residual of another width
        return
    same_network(net)
