"""Arguments of the public classes, in order: positional calls mean what they meant. Forms of momentum as classes."""

import inspect
import pickle
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from pellucid import optim
from pellucid.optim.rules.momentum import GradientMomentum, GradientNesterov
from pellucid.train.files.records import describe, restore

ADAM = {"lr": 1e-3, "beta1": 0.9, "beta2": 0.999, "eps": 1e-8}
NONE = inspect.Parameter.empty
RULES = {
    "SGD": {"lr": 0.01},
    "Momentum": {"lr": 0.01, "beta": 0.9, "form": "gradient"},
    "VelocityMomentum": {"lr": 0.01, "beta": 0.9},
    "AverageMomentum": {"lr": 0.01, "beta": 0.9},
    "Nesterov": {"lr": 0.01, "beta": 0.9, "form": "gradient"},
    "VelocityNesterov": {"lr": 0.01, "beta": 0.9},
    "Adagrad": {"lr": 0.01, "eps": 1e-10, "start": 0.0, "eps_inside": False},
    "RMSprop": {"lr": 0.01, "beta": 0.99, "eps": 1e-8, "momentum": 0.0, "centered": False, "eps_inside": False},
    "Adadelta": {"lr": 1.0, "beta": 0.9, "eps": 1e-6},
    "Lion": {"lr": 1e-4, "beta1": 0.9, "beta2": 0.99, "decay": 0.0},
    "Adam": ADAM | {"eps_inside": False},
    "AdamW": ADAM | {"decay": 0.01, "eps_inside": False},
    "AMSGrad": ADAM | {"eps_inside": False},
    "NAdam": ADAM | {"lr": 2e-3, "warm": 4e-3},
    "RAdam": ADAM,
    "ScheduleFreeAdamW": ADAM | {"lr": 2.5e-3, "decay": 0.0},
    "Muon": {
        "lr": 1e-3,
        "beta": 0.95,
        "nesterov": True,
        "rounds": 5,
        "scale": "rms",
        "decay": 0.0,
        "on": None,
        "beta1": 0.9,
        "beta2": 0.95,
        "eps": 1e-8,
        "adam_rate": None,
    },
    "SklearnSGD": {"lr": 1e-3, "beta": 0.9, "nesterov": True},
    "SklearnAdam": ADAM,
    "Rule": {"lr": 0.01},
}
OTHERS = {
    "Accumulate": {"k": NONE},
    "Adaptive": {"start": 0.001, "patience": 10, "min_delta": 0.0001, "mode": "min", "divide": 5.0},
    "ClipNorm": {"limit": NONE},
    "ClipValue": {"limit": NONE},
    "Constant": {"value": NONE},
    "Constraint": {"by": NONE},
    "CosLog": {"start": NONE, "cycles": 4, "steps": None},
    "Cosine": {"start": NONE, "end": 0.0, "steps": None, "restarts": 0, "multiplier": 1.0},
    "EMA": {"decay": 0.999, "debias": True},
    "Epochs": {"count": NONE},
    "ExpSteps": {"start": NONE, "c": NONE, "k": NONE, "rounding": "ceil"},
    "Exponential": {"start": NONE, "factor": NONE, "every": 1},
    "FlatCos": {"start": NONE, "flat": 0.5, "steps": None},
    "Group": {"on": NONE, "lr": 1.0, "decay": 1.0},
    "InverseScaling": {"start": NONE, "power": 0.5, "every": 1, "per": 1},
    "InverseSqrt": {"start": NONE, "c": NONE},
    "InverseTime": {"start": NONE, "c": NONE},
    "OneCycle": {"peak": NONE, "steps": None, "warm": 0.3, "divide": 25.0, "final_divide": 10000.0},
    "Optimizer": {"rule": NONE, "links": (), "groups": ()},
    "Piecewise": {"values": NONE, "at": NONE},
    "Polynomial": {"start": NONE, "end": 0.0, "power": 1.0, "steps": None},
    "ReduceOnPlateau": {
        "factor": 0.5,
        "patience": 5,
        "min_delta": 0.0,
        "mode": "min",
        "cooldown": 0,
        "min_factor": 0.0,
    },
    "SWA": {"start": None},
    "Step": {"start": NONE, "every": NONE, "factor": 0.1},
    "Warmup": {"steps": NONE, "then": NONE},
    "WeightDecay": {"rate": NONE, "on": "*.weight", "groups": ()},
}
ABSTRACT = {"Link", "Controller", "Schedule"}
FORMS = [
    (optim.Momentum, "gradient", GradientMomentum),
    (optim.Momentum, "velocity", optim.VelocityMomentum),
    (optim.Momentum, "average", optim.AverageMomentum),
    (optim.Nesterov, "gradient", GradientNesterov),
    (optim.Nesterov, "velocity", optim.VelocityNesterov),
]


def test_the_tables_are_complete():
    classes = {name for name, cls in vars(optim).items() if inspect.isclass(cls)}
    assert classes == {*RULES, *OTHERS, *ABSTRACT}


@pytest.mark.parametrize("name", [*RULES, *OTHERS])
def test_arguments_in_order(name):
    parameters = inspect.signature(getattr(optim, name)).parameters.values()
    table: Any = {**RULES, **OTHERS}
    assert [(one.name, one.default) for one in parameters] == [*table[name].items()]
    assert {one.kind for one in parameters} == {inspect.Parameter.POSITIONAL_OR_KEYWORD}


def path(rule, dtype):
    w = np.array([2.0, -1.5], dtype)
    opt, params = optim.chain(rule), {"w": w}
    state, steps = opt.init(params), []
    for t in range(12):
        params, state = opt.update(params, {"w": np.sin(params["w"])}, state, t + 1, opt.numbers(t))
        steps.append({**params, **state})
    return steps


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(("named", "form", "cls"), FORMS, ids=lambda part: getattr(part, "__name__", part))
def test_a_form_by_its_word_steps_as_its_class(named, form, cls, dtype):
    for rate, beta in ((0.1, 0.8), (optim.Polynomial(0.1, steps=12), optim.FlatCos(0.9, steps=12))):
        for one, other in zip(path(named(rate, beta, form), dtype), path(cls(rate, beta), dtype), strict=True):
            assert one.keys() == other.keys()
            for key, value in one.items():
                assert value.dtype == other[key].dtype
                assert_array_equal(value, other[key])


@pytest.mark.parametrize(("named", "form", "cls"), FORMS, ids=lambda part: getattr(part, "__name__", part))
def test_forms_are_stored_as_they_were(named, form, cls):
    rule, name = named(0.1, form=form), named.__name__
    data = {"type": f"optim.{name}", "lr": 0.1, "beta": 0.9, "form": form}
    assert describe(rule) == data
    assert restore(data) == rule == named(0.1, 0.9, form) == pickle.loads(pickle.dumps(rule))
    assert repr(rule) == f"{name}(lr=0.1, beta=0.9, form={form!r})"
    assert rule.as_class == cls(0.1) == restore(describe(cls(0.1)))
