"""Records of one's own: what is not a dataclass is refused when it is made, not when somebody saves it."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pytest

from pellucid import nn, optim, train


def identity(self, p, x, ctx):
    return x


def each(self, s, y):
    return np.mean(np.abs(s - y), axis=1)


def nothing(self, *args):
    return 0.0


PLAIN: list[tuple[type, dict[str, Any]]] = [
    (nn.Layer, {"__call__": identity}),
    (nn.Loss, {"each": each}),
    (nn.Penalty, {"__call__": nothing}),
]
PLAIN += [(optim.Link, {})]


@pytest.mark.parametrize(("base", "body"), PLAIN, ids=lambda v: getattr(v, "__name__", ""))
def test_a_class_that_is_no_dataclass_is_refused_when_it_is_made(base, body):
    with pytest.raises(TypeError, match=r"Own is not a dataclass: write @dataclass\(frozen=True\)"):
        type("Own", (base,), body)()
    own: Any = type("Own", (base,), body)
    assert dataclass(frozen=True)(own)()


@pytest.mark.parametrize("base", [nn.Dense, nn.Dropout, nn.Residual])
def test_a_field_added_without_the_decorator_is_refused(base: Any):
    class Wider(base):
        extra: int = 3

    with pytest.raises(TypeError, match=r"Wider declares extra, but is not a dataclass itself"):
        Wider(nn.Dense(2) if base is nn.Residual else 0.5 if base is nn.Dropout else 2)


def test_a_rule_and_a_schedule_with_undeclared_fields():
    class Signed(optim.SGD):
        sharpness: float = 1.0

    class Saw(optim.Schedule):
        height: float

        def __call__(self, t):
            return self.height

    for make in (Signed, Saw):
        with pytest.raises(TypeError, match="is not a dataclass itself, so that they are no fields"):
            make()


def test_what_only_changes_behaviour_needs_no_decorator():
    class Doubled(nn.Dense):
        factor: ClassVar[float] = 2.0

        def __call__(self, p, x, ctx):
            return self.factor * super().__call__(p, x, ctx)

    class Halved(optim.SGD):
        def step(self, w, g, s, lr, t):
            return w - 0.5 * lr * g, {}

    model = train.Model(nn.Sequential(Doubled(2), "relu", nn.Dense(1)), "squared_error", Halved(0.1))
    model.fit(np.ones((4, 3)), np.arange(4.0), epochs=1, verbose=False)
    assert Doubled(2) == Doubled(2)


def test_wrappers_and_functions_are_records_already():
    net = nn.Sequential(nn.Residual(nn.Dense(3)), nn.Compute(nn.Dense(2)), lambda x: np.tanh(x), nn.Dense(1))
    model = train.Model(net, lambda s, y: np.abs(s - y))
    model.fit(np.ones((4, 3)), np.arange(4.0), epochs=1, verbose=False)
