"""Faults of the training itself: the rate, the number of epochs, the batch; training that stands still."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from pellucid import nn, optim
from tests.inspect.zoo import bases, data, measures
from tests.inspect.zoo.bases import predicts
from tests.inspect.zoo.broken_signals import classifier, regressor
from tests.inspect.zoo.records import Broken, Quantity
from tests.inspect.zoo.training import estimator

diabetes = partial(data.shipped, "diabetes")
TOO_HIGH = (
    Broken(
        "descent at a rate of 10",
        ("rate-too-high", "dead-units"),  # the first steps kill the units
        "a",
        replace(bases.BLOBS, rule=optim.SGD(10.0)),
        bases.BLOBS,
        predicts(0.3),
    ),
    Broken(
        "Adam at a rate of 1",
        ("rate-too-high", "dead-units"),
        "b",
        replace(bases.MOONS, rule=optim.Adam(1.0)),
        bases.MOONS,
        predicts(0.3),
    ),
    Broken(
        "numbers, descended at a rate of 1",
        ("rate-too-high",),  # it diverges
        "a",
        replace(bases.FRIEDMAN, rule=optim.SGD(1.0)),
        replace(bases.FRIEDMAN, rule=optim.SGD(0.05)),
        predicts(0.5),
    ),
    Broken(
        "momentum of 0.99 at a rate of 0.5",
        ("rate-too-high",),
        "b",
        replace(bases.WINE, rule=optim.Momentum(0.5, beta=0.99)),
        bases.WINE,
        predicts(0.3),
    ),
    Broken(
        "an estimator at a rate of 5",
        ("rate-too-high", "saturated-units"),  # the first steps drive tanh to its ends
        "a",
        estimator(data.circles, classifier("tanh", solver="sgd", learning_rate_init=5.0)),
        estimator(data.circles, classifier("tanh")),
        predicts(0.4),
    ),
    Broken(
        "houses at a rate of 0.5",
        ("rate-too-high", "dead-units"),
        "b",
        estimator(data.houses, regressor("relu", learning_rate_init=0.5)),
        estimator(data.houses, regressor("relu")),
        predicts(0.45),
    ),
)
moves = Quantity("share by which the training loss fell", measures.loss_fall, 0.5, 1.0)
TOO_LOW = (
    Broken(
        "descent at a rate of 1e-6",
        ("rate-too-low",),
        "a",
        replace(bases.BLOBS, rule=optim.SGD(1e-6)),
        bases.BLOBS,
        moves,
    ),
    Broken(
        "Adam at a rate of 1e-6",
        ("rate-too-low",),
        "b",
        replace(bases.DIGITS, rule=optim.Adam(1e-6), epochs=8),
        bases.DIGITS,
        moves,
    ),
    Broken(
        "numbers, descended at a rate of 1e-4",
        ("rate-too-low",),
        "a",
        replace(bases.FRIEDMAN, rule=optim.SGD(1e-4)),
        replace(bases.FRIEDMAN, rule=optim.SGD(0.05)),
        moves,
    ),
    Broken(
        "a rate that is gone after an epoch",
        ("rate-too-low", "plateau", "too-few-epochs"),  # the loss stands still because the rate is zero
        "b",
        replace(bases.MOONS, rule=optim.Adam(optim.Exponential(0.01, 0.5, every=1))),
        bases.MOONS,
        predicts(0.5),
    ),
    Broken(
        "an estimator at a rate of 1e-5",
        ("rate-too-low",),
        "a",
        estimator(diabetes, regressor("tanh", learning_rate_init=1e-5, max_iter=20)),
        estimator(diabetes, regressor("tanh", hidden_layer_sizes=(8,), learning_rate_init=1e-2, max_iter=20)),
        moves,
    ),
    Broken(
        "wine with momentum at a rate of 1e-5",
        ("rate-too-low",),
        "b",
        replace(bases.WINE, rule=optim.Momentum(1e-5)),
        bases.WINE,
        moves,
    ),
)
settled = Quantity("share by which the loss fell in the last quarter", measures.still_falling, -1.0, 0.2)
TOO_FEW = (
    Broken(
        "digits for two epochs",
        ("too-few-epochs", "rate-too-low"),  # twice as fast would be as good as twice as long
        "a",
        replace(bases.DIGITS, rule=optim.Adam(0.001), epochs=2),
        replace(bases.DIGITS, rule=optim.Adam(0.005), epochs=15),
        predicts(0.35),
    ),
    Broken(
        "an estimator with max_iter=3",
        ("too-few-epochs", "rate-too-low"),
        "b",
        estimator(data.moons, classifier("relu", max_iter=3, learning_rate_init=0.005)),
        estimator(data.moons, classifier("relu", max_iter=40, learning_rate_init=0.02)),
        predicts(0.5),
    ),
    Broken(
        "Friedman's function for four epochs",
        ("too-few-epochs", "rate-too-low"),
        "a",
        replace(bases.FRIEDMAN, rule=optim.Adam(0.01), epochs=4),
        bases.FRIEDMAN,
        predicts(0.15),
    ),
    Broken(
        "wine for three epochs",
        ("too-few-epochs", "rate-too-low"),
        "b",
        replace(bases.WINE, rule=optim.SGD(0.02), epochs=3),
        bases.WINE,
        predicts(0.4),
    ),
)
quiet = Quantity("movement of the validation loss from epoch to epoch", measures.restless, 0.0, 0.12)
PLATEAU = (
    Broken(
        "a rate that stays too high",
        ("plateau", "rate-too-high"),  # it stands still because its steps are too long for what is left
        "a",
        replace(bases.LINEAR, hidden=(), rule=optim.SGD(0.5), batch=8, epochs=12),
        replace(bases.LINEAR, hidden=(), rule=optim.SGD(optim.Cosine(0.3)), batch=8, epochs=12),
        predicts(0.025),
    ),
    Broken(
        "a saddle at small weights",
        ("plateau", "vanishing-gradient", "rate-too-low"),  # at the saddle the gradient is almost zero
        "b",
        replace(bases.XOR, activation="tanh", init=nn.normal(1e-3), output_init=nn.normal(1e-3), rule=optim.SGD(0.5)),
        bases.XOR,
        predicts(0.5),
    ),
    Broken(
        "Adam that circles around its minimum",
        ("plateau", "rate-too-high"),
        "b",
        replace(bases.FRIEDMAN, rule=optim.Adam(0.3)),
        replace(bases.FRIEDMAN, rule=optim.Adam(optim.Cosine(0.05))),
        predicts(0.12),
    ),
    Broken(
        "a deep network on a flat",
        ("plateau", "vanishing-gradient", "rate-too-low"),
        "a",
        replace(bases.DEEP, hidden=(12,) * 4, init=nn.normal(0.05), rule=optim.SGD(0.05), epochs=20),
        replace(bases.DEEP, hidden=(12,) * 4, epochs=20),
        predicts(0.5),
    ),
    Broken(
        "an unlucky start",
        ("plateau", "capacity-too-small"),  # four units are enough, more of them have more luck
        "a",
        replace(bases.XOR, hidden=(4,), seed=1),
        replace(bases.XOR, hidden=(4,), seed=2),
        predicts(0.3),
    ),
    Broken(
        "another unlucky start",
        ("plateau", "capacity-too-small"),
        "b",
        replace(bases.XOR, hidden=(4,), seed=4),
        replace(bases.XOR, hidden=(4,), seed=5),
        predicts(0.3),
    ),
)
enough = Quantity("updates", measures.steps, 60, 1e9)
TOO_LARGE = (
    Broken(
        "all rows at once, twenty times",
        ("batch-too-large", "too-few-epochs"),  # twenty epochs are twenty steps
        "a",
        replace(bases.DIGITS, batch=500, epochs=20, rule=optim.Adam(0.002)),
        replace(bases.DIGITS, batch=32, epochs=15, rule=optim.Adam(0.002)),
        enough,
    ),
    Broken(
        "descent with all rows at once",
        ("batch-too-large", "too-few-epochs"),
        "b",
        replace(bases.FRIEDMAN, batch=240, rule=optim.SGD(0.05), epochs=25),
        replace(bases.FRIEDMAN, batch=16, rule=optim.SGD(0.05), epochs=25),
        enough,
    ),
    Broken(
        "an estimator with all rows at once",
        ("batch-too-large", "too-few-epochs"),
        "b",
        estimator(data.moons, classifier("relu", learning_rate_init=0.005).set_params(batch_size=240)),
        estimator(data.moons, classifier("relu")),
        enough,
    ),
    Broken(
        "pictures, half of them at once",
        ("batch-too-large", "too-few-epochs"),
        "a",
        replace(bases.PIXELS, batch=240, epochs=15, rule=optim.Momentum(0.01)),
        replace(bases.PIXELS, batch=24, epochs=15, rule=optim.Momentum(0.01)),
        enough,
    ),
)
TOO_SMALL = (
    Broken(
        "one row at a time, in long steps",
        ("batch-too-small", "rate-too-high"),  # either averages the noise away
        "a",
        replace(bases.LINEAR, rows=partial(data.linear, 120, noise=1.0), batch=1, rule=optim.Adam(0.05), epochs=4),
        replace(bases.LINEAR, rows=partial(data.linear, 120, noise=1.0), batch=32, rule=optim.Adam(0.02), epochs=40),
        quiet,
    ),
    Broken(
        "batch normalisation of two rows",
        ("batch-too-small",),
        "b",
        replace(bases.IRIS, norm="batch", batch=2, epochs=6),
        replace(bases.IRIS, norm="batch", batch=30, epochs=60),
        predicts(0.35),
    ),
    Broken(
        "batch normalisation of two rows, numbers",
        ("batch-too-small",),
        "a",
        replace(bases.LINEAR, rows=partial(data.linear, 120), norm="batch", batch=2, epochs=6, rule=optim.Adam(0.01)),
        replace(bases.LINEAR, rows=partial(data.linear, 120), norm="batch", batch=24, epochs=50, rule=optim.Adam(0.01)),
        predicts(0.25),
    ),
    Broken(
        "one row at a time, classes that overlap",
        ("batch-too-small", "rate-too-high"),
        "b",
        replace(bases.HALVES, rows=partial(data.halves, rows=120, noise=1.0), batch=1, rule=optim.SGD(0.5), epochs=4),
        replace(bases.HALVES, rows=partial(data.halves, rows=120, noise=1.0), batch=32, rule=optim.SGD(0.1), epochs=20),
        quiet,
    ),
)
CASES = (*TOO_HIGH, *TOO_LOW, *TOO_FEW, *PLATEAU, *TOO_LARGE, *TOO_SMALL)
