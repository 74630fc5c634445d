"""A hundred random networks, loss and gradient of each: XLA and NumPy agree to 1e-10 in float64. So do updates."""

from __future__ import annotations

import numpy as np
import pytest

import pellucid as pel
from pellucid import nn, optim
from pellucid.engine import numpy as reference
from pellucid.graph.core.tree import flatten
from pellucid.train.loop.step import Trainer, float64s
from tests.engine.jax.agreement import close
from tests.nn.table_cases import ACTIVATIONS, GATES, LOSSES, target

pytest.importorskip("jax")
from pellucid.engine.jax.call import Function

pytestmark = pytest.mark.usefixtures("quick_xla")

GROUP = 10  # networks of one compilation


def drawn(seed):
    """The gradient of a random network as a function, and its arguments."""
    rng = np.random.default_rng(seed)
    one_of = lambda listed: listed[int(rng.integers(len(listed)))]
    loss = nn.loss(one_of([*LOSSES]))
    given = target(loss.name, 6, rng)
    hidden = tuple(rng.integers(2, 6, size=int(rng.integers(1, 3))).tolist())
    net = nn.mlp(
        hidden,
        loss.outputs(given),
        activation=[one_of([*ACTIVATIONS, *GATES]) for _ in hidden],
        norm=one_of([None, "batch", "layer", "rms"]),
        dropout=one_of([0.0, 0.3]),
    )
    params, state = net.initialize(3, seed=seed, dtype=np.float64)
    params = {name: array + 0.2 * rng.normal(size=array.shape) for name, array in params.items()}
    batch = rng.normal(size=(6, 3)), loss.prepare(given), rng.uniform(0.5, 2, 6)
    penalty = one_of([None, nn.L2(1e-3), nn.L1(1e-3)])
    trainer = Trainer(net, loss, optim.optimizer("sgd"), penalty, key=seed)
    return trainer.gradient, ((params, state), batch, np.int64(3), {})


def agree(functions, args, labels):
    """All of them in one graph."""
    graph = pel.record(lambda every: [f(*each) for f, each in zip(functions, every, strict=True)], list(args))
    graph = graph.simplify()
    expected = reference.run(graph, list(args))
    got, sound = Function(graph).checked(list(args))
    assert sound
    for label, one, other in zip(labels, got, expected, strict=True):
        for a, b in zip(flatten(one)[0], flatten(other)[0], strict=True):
            close(a, b, str(label))


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("first", range(0, 100, GROUP))
def test_random_networks(first):
    seeds = range(first, first + GROUP)
    functions, args = zip(*(drawn(seed) for seed in seeds), strict=True)
    agree(functions, args, seeds)


def test_every_update_rule():
    rng = np.random.default_rng(0)
    params = {"a.weight": rng.normal(size=(3, 2)), "a.bias": rng.normal(size=2)}
    grads = {name: rng.normal(size=array.shape) for name, array in params.items()}
    rules = [optim.optimizer(name).fit(10, 5) for name in optim.RULES]
    args = [(params, grads, rule.init(params), np.int64(3), float64s(rule.numbers(2))) for rule in rules]
    agree([rule.update for rule in rules], args, optim.RULES)
