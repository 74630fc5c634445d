"""Healthy setups that broken ones are changes of, and the quantities that most cases share."""

from __future__ import annotations

from functools import partial

from pellucid import nn, optim
from tests.inspect.zoo import data, measures
from tests.inspect.zoo.records import Quantity
from tests.inspect.zoo.training import Setup


def predicts(limit: float) -> Quantity:
    """The validation rows are predicted so well: the loss over that of chance."""
    return Quantity("validation loss over chance", measures.risk, 0.0, limit)


MOONS = Setup(data.moons, (16,), rule=optim.Adam(0.03), epochs=25)
CIRCLES = Setup(data.circles, (16,), activation="tanh", rule=optim.Adam(0.05), epochs=25)
SPIRALS = Setup(data.spirals, (40,), rule=optim.Adam(0.05), epochs=35)
XOR = Setup(data.xor, (16,), rule=optim.Adam(0.05), epochs=30)
BLOBS = Setup(data.blobs, (16,), rule=optim.SGD(0.1), epochs=20)
HALVES = Setup(data.halves, (8,), rule=optim.SGD(0.2), epochs=20)
IRIS = Setup(partial(data.shipped, "iris"), (12,), activation="tanh", rule=optim.Adam(0.02), epochs=40, batch=16)
WINE = Setup(partial(data.shipped, "wine"), (12,), rule=optim.Momentum(0.02), epochs=20, batch=16)
CANCER = Setup(partial(data.shipped, "breast_cancer"), (12,), rule=optim.Momentum(0.03), epochs=15, penalty=nn.L2(1e-3))
DIGITS = Setup(partial(data.shipped, "digits"), (40,), rule=optim.Adam(0.005), epochs=15, batch=32)
PIXELS = Setup(data.pixels, (24,), rule=optim.Adam(0.01), epochs=20)
FRIEDMAN = Setup(data.friedman, (24,), rule=optim.Adam(0.02), epochs=30)
LINEAR = Setup(data.linear, (12,), rule=optim.SGD(0.05), epochs=25)
SINES = Setup(data.sines, (24,), activation="tanh", rule=optim.Adam(0.05), epochs=25)
COUNTS = Setup(data.counts, (12,), loss="poisson", rule=optim.Adam(0.01), epochs=25)
HOUSES = Setup(data.houses, (16,), rule=optim.Adam(0.01), epochs=25)
DIABETES = Setup(partial(data.shipped, "diabetes"), (8,), rule=optim.Adam(0.01), epochs=12, penalty=nn.L2(0.02))
DEEP = Setup(data.moons, (12,) * 5, activation="tanh", rule=optim.Adam(0.006), epochs=15)
