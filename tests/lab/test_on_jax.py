"""Experiments of the lab on JAX: the same criterion is met. `pellucid lab --all --engine jax` runs all of them."""

import pytest

from pellucid import lab

pytest.importorskip("jax")
pytestmark = pytest.mark.usefixtures("quick_xla")

QUICK = (
    "biases",
    "descent",
    "dropout-ensemble",
    "dying-units",
    "early-stopping",
    "folding",
    "madaline",
    "penalties",
    "preprocessing",
    "rate-and-search",
    "symmetry",
    "weight-decay",
)
"""Those that train, and take little time for compiling."""


@pytest.mark.parametrize("name", QUICK)
def test_the_criterion_is_met(name, monkeypatch):
    from pellucid.train.loop import jax_steps

    runs = []
    begun = jax_steps.JaxSteps.__init__
    monkeypatch.setattr(jax_steps.JaxSteps, "__init__", lambda self, *args: (runs.append(1), begun(self, *args))[1])
    result = lab.run(name, engine="jax")
    assert result.passed, result.verdict
    assert runs
