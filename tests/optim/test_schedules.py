"""Schedules: values, ends, how they fit into a run; controllers; every entry of the table."""

import inspect
import json
import math
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

from pellucid import optim
from pellucid.optim import SCHEDULES, Adaptive, Epochs, ReduceOnPlateau, Schedule, Warmup, schedule

E = math.exp
CASES: dict[
    str, tuple[dict[str, Any], dict[int, float]]
] = {  # settings, and values at steps: from the formulas by hand
    "constant": ({"value": 0.3}, {0: 0.3, 100: 0.3}),
    # η₀ exp(-c ⌈t/k⌉), η₀ / (1 + c t), η₀ / √(1 + c t)
    "exp_steps": (
        {"start": 0.1, "c": 0.5, "k": 10},
        {0: 0.1, 1: 0.1 * E(-0.5), 10: 0.1 * E(-0.5), 11: 0.1 * E(-1), 20: 0.1 * E(-1), 100: 0.1 * E(-5)},
    ),
    "inverse_time": ({"start": 0.1, "c": 0.25}, {0: 0.1, 1: 0.08, 4: 0.05, 12: 0.025, 36: 0.01}),
    "inverse_sqrt": ({"start": 0.1, "c": 0.25}, {0: 0.1, 12: 0.05, 32: 0.1 / 3, 96: 0.02}),
    "inverse_scaling": ({"start": 0.1}, {0: 0.1, 3: 0.05, 99: 0.01}),
    "step": ({"start": 0.1, "every": 30, "factor": 0.5}, {0: 0.1, 29: 0.1, 30: 0.05, 60: 0.025, 89: 0.025}),
    "exponential": ({"start": 0.1, "factor": 0.5, "every": 10}, {0: 0.1, 5: 0.1 / math.sqrt(2), 10: 0.05, 30: 0.0125}),
    "polynomial": ({"start": 0.1, "end": 0.02, "power": 2.0}, {0: 0.1, 50: 0.04, 100: 0.02, 500: 0.02}),
    "piecewise": ({"values": (0.3, 0.2, 0.1), "at": (10, 20)}, {0: 0.3, 9: 0.3, 10: 0.2, 19: 0.2, 20: 0.1, 900: 0.1}),
    "warmup": ({"steps": 4, "then": 0.1}, {0: 0.02, 1: 0.04, 3: 0.08, 4: 0.1, 99: 0.1}),
    "cosine": ({"start": 0.1, "end": 0.02}, {0: 0.1, 50: 0.06, 100: 0.02, 500: 0.02}),
    # lr = base · ½ (1 - cos(2π log₂(1 + 15 t))): zeros at 0, 1/15, 3/15, 7/15, 1
    "coslog": ({"start": 0.04, "steps": 150}, {0: 0.0, 10: 0.0, 30: 0.0, 70: 0.0, 150: 0.0, 5: 0.04 * 0.9304310}),
    # 1 for t < ½, then ½ (1 + cos(π (2t - 1)))
    "flat_cos": ({"start": 0.15}, {0: 0.15, 49: 0.15, 50: 0.15, 75: 0.075, 100: 0.0}),
    "one_cycle": ({"peak": 0.1}, {0: 0.004, 29: 0.1, 64: 0.05 + 2e-7, 99: 4e-7, 500: 4e-7}),
}


def test_every_schedule_has_a_case():
    assert {SCHEDULES[name] for name in CASES} == set(SCHEDULES.values())
    assert {kind.__name__ for kind in SCHEDULES.values()} == {
        name
        for name, kind in vars(optim).items()
        if inspect.isclass(kind) and issubclass(kind, Schedule) and kind is not Schedule
    }


@pytest.mark.parametrize("name", CASES)
def test_values(name):
    settings, values = CASES[name]
    made = schedule(name, **settings).fit(total_steps=100, steps_per_epoch=10)
    for t, value in values.items():
        assert made(t) == pytest.approx(value, rel=2e-6, abs=1e-12), t
    numbers = [made(t) for t in range(200)]
    assert all(type(value) is float and value >= 0 for value in numbers)
    assert numbers == [made(t) for t in range(200)]  # pure
    assert made.fit(7, 1) == made  # what is known stays
    assert hash(made) == hash(made)
    assert np.all(np.diff(numbers) <= 1e-15) or name in ("warmup", "coslog", "one_cycle")


def test_floor_and_ceiling():
    ceil, floor = (optim.ExpSteps(1.0, c=0.1, k=5, rounding=rounding) for rounding in ("ceil", "floor"))
    assert ceil(0) == floor(0) == 1.0
    assert ceil(1) == pytest.approx(E(-0.1))
    assert floor(4) == 1.0
    assert floor(5) == ceil(5) == pytest.approx(E(-0.1))
    assert floor(7) == pytest.approx(E(-0.1))
    assert ceil(7) == pytest.approx(E(-0.2))
    with pytest.raises(ValueError, match="rounding is 'ceil' or 'floor', got 'up'"):
        optim.ExpSteps(1.0, c=0.1, k=5, rounding="up")


def test_coslog_of_realmlp():
    made = optim.CosLog(0.04, steps=1000)
    t = np.arange(1000)
    assert_allclose(
        [made(int(i)) for i in t],
        0.04 * 0.5 * (1 - np.cos(2 * np.pi * np.log2(1 + 15 * t / 1000))),
        rtol=1e-9,
        atol=1e-15,
    )
    for peak in (0.028, 0.122, 0.310, 0.688):
        assert made(round(1000 * peak)) == pytest.approx(0.04, rel=2e-3)
    assert optim.CosLog(1.0, cycles=1, steps=100)(50) == pytest.approx(
        0.5 - 0.5 * math.cos(2 * math.pi * math.log2(1.5))
    )


def test_cosine_restarts():
    made = optim.Cosine(1.0, end=0.1, steps=70, restarts=2, multiplier=2.0)
    for start, length in ((0, 10), (10, 20), (30, 40)):
        one = optim.Cosine(1.0, end=0.1, steps=length)
        assert_allclose([made(start + i) for i in range(length)], [one(i) for i in range(length)], rtol=1e-12)
    assert made(70) == made(700) == pytest.approx(0.1)
    for total in (7, 33, 99, 1000):  # a restart is where it belongs, rounding or not
        thirds = optim.Cosine(1.0, restarts=total - 1, steps=total)
        assert all(thirds(t) == pytest.approx(1.0) for t in range(total))


@pytest.mark.parametrize("name", [name for name in CASES if name not in ("warmup", "coslog")])
def test_warmup_joins(name):
    then = schedule(name, **CASES[name][0])
    made = Warmup(20, then).fit(120, 10)
    after = then.fit(100, 10)
    values = [made(t) for t in range(130)]
    assert_allclose(np.diff(values[:21]), after(0) / 21, rtol=1e-9)  # a line, without a jump at its end
    assert values[20] == after(0)
    assert values[20:] == [after(t) for t in range(110)]
    assert values[0] > 0


def test_epochs():
    made = optim.Step(1.0, every=Epochs(1.5)).fit(1000, 10)
    assert made == optim.Step(1.0, every=15)
    assert optim.Piecewise((1.0, 0.1), at=(Epochs(3),)).fit(100, 10) == optim.Piecewise((1.0, 0.1), at=(30,))
    made = Warmup(Epochs(2), optim.Cosine(1.0)).fit(100, 10)
    assert made == Warmup(20, optim.Cosine(1.0, steps=80))
    assert Warmup(5, Warmup(5, optim.Cosine(1.0))).fit(30, 1)(30) == pytest.approx(0.0)
    assert Warmup(50, optim.Cosine(1.0)).fit(30, 1)(29) == pytest.approx(30 / 51)  # a run that never gets there
    for unfit in (optim.Step(1.0, every=Epochs(1)), optim.Piecewise((1.0, 0.1), at=(Epochs(1),)), optim.OneCycle(1.0)):
        with pytest.raises(ValueError, match=r"depends on the run: give a number of steps, or call .fit"):
            unfit(0)


def test_ways_to_make_one():
    assert schedule(0.1) == optim.Constant(0.1)
    assert schedule(optim.Cosine(1.0)) == optim.Cosine(1.0)
    assert schedule("Flat-Cos", start=1.0) == optim.FlatCos(1.0)
    with pytest.raises(ValueError, match="no schedule called 'cosin': did you mean 'cosine'"):
        schedule("cosin", start=1.0)
    with pytest.raises(TypeError, match="a name, a number or a Schedule, got None"):
        schedule(None)
    with pytest.raises(TypeError, match="settings belong to a schedule by name"):
        schedule(0.1, steps=3)


@pytest.mark.parametrize("name", CASES)
def test_settings_are_checked(name):
    settings, kind = CASES[name][0], SCHEDULES[name]
    for field in inspect.signature(kind).parameters:
        wrong = {
            **dict.fromkeys(("start", "value", "peak", "end", "c", "power"), (-0.1, math.nan, "x")),
            **dict.fromkeys(("steps", "every", "k", "per", "cycles"), (0, -3, 2.5)),
            **dict.fromkeys(("divide", "multiplier"), (0.0,)),
            "factor": (-1.0,),
            "flat": (1.0, -0.1),
            "warm": (0.0, 1.0),
            "at": ((20, 10), (1,)),
            "values": ((1.0,), (0.3, -0.2, 0.1)),
        }.get(field, ())
        for value in wrong:
            with pytest.raises(ValueError, match=kind.__name__):
                kind(**settings | {field: value})
    with pytest.raises(ValueError, match="Epochs: count is a number above 0"):
        Epochs(0)
    with pytest.raises(ValueError, match="Warmup: steps"):
        Warmup(None, 0.1)


def test_plateau():
    made = ReduceOnPlateau(factor=0.5, patience=2, min_delta=0.1, cooldown=1, min_factor=0.2)
    factors = []
    for value in (1.0, 0.95, 0.5, 0.45, 0.45, 0.45, 0.45, 0.45, 0.45, 0.45, math.nan, 0.4, 0.4, 0.4, 0.4):
        made.observe(value)
        factors.append(made.factor)
    assert factors == [1.0] * 5 + [0.5] * 4 + [0.25] * 4 + [0.2] * 2
    assert made.factor == 0.2
    assert made.spent
    rising = ReduceOnPlateau(patience=0, mode="max")
    for value in (1.0, 2.0, 3.0):
        rising.observe(value)
    assert rising.factor == 1.0
    rising.observe(3.0)
    assert rising.factor == 0.5


def test_adaptive():
    made = Adaptive(start=1e-5, patience=1, min_delta=0.1)
    for _ in range(3):
        made.observe(1.0)
    assert made.factor == 0.2
    for value in (0.95, 0.9):  # small gains count as none, yet raise the bar
        made.observe(value)
    assert made.factor == pytest.approx(0.04)
    assert made.state()["best"] == 0.9
    assert not made.spent
    for _ in range(2):
        made.observe(0.9)
    assert made.spent
    assert made.factor == pytest.approx(0.04)


@pytest.mark.parametrize("make", [lambda: ReduceOnPlateau(patience=1, cooldown=1), lambda: Adaptive(patience=1)])
def test_a_controller_goes_on_from_its_state(make):
    values = np.round(np.random.default_rng(0).normal(size=40), 1).tolist()
    whole, first = make(), make()
    for value in values[:17]:
        whole.observe(value)
        first.observe(value)
    second = make()
    second.load(json.loads(json.dumps(first.state())))
    for value in values[17:]:
        whole.observe(value)
        second.observe(value)
    assert whole.state() == second.state()
    assert whole.factor < 1.0
    assert make().state()["best"] is None  # plain JSON from the first moment on
    state = first.state()
    state["bad"] = 99
    assert first.state()["bad"] != 99
    with pytest.raises(ValueError, match="a state has factor, best, bad, rest, got nothing"):
        second.load({})


def test_controllers_are_checked():
    for wrong in ({"factor": 1.0}, {"factor": 0.0}, {"patience": -1}, {"mode": "up"}, {"min_delta": -1.0}):
        with pytest.raises(ValueError, match="ReduceOnPlateau: "):
            ReduceOnPlateau(**wrong)
    for wrong in ({"divide": 1.0}, {"patience": -1}, {"mode": "up"}, {"start": -1.0}):
        with pytest.raises(ValueError, match="Adaptive: "):
            Adaptive(**wrong)
