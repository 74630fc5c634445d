"""Recording and differentiating on the numpy executor, against HIPS autograd and JAX without jit."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

import autograd
import autograd.numpy as anp
import jax
import jax.numpy as jnp
import numpy as np

import pellucid as pel
from benchmarks.timing import Case

jax.config.update("jax_enable_x64", True)


def expression(xp: ModuleType) -> Callable[[Any], Any]:
    """(a) a scalar expression of 30 operations."""

    def f(x: Any) -> Any:
        y = x
        for _ in range(3):
            y = xp.sin(y) * x + xp.exp(-y * y) - y / (1.0 + x * x)
        return y

    return f


def mlp_loss(xp: ModuleType) -> Callable[[Any, Any, Any], Any]:
    """(b) the log-loss of a network with two hidden layers."""

    def f(p: Any, X: Any, Y: Any) -> Any:
        h = xp.tanh(X @ p[0] + p[1])
        h = xp.tanh(h @ p[2] + p[3])
        scores = h @ p[4] + p[5]
        top = xp.max(scores, axis=1, keepdims=True)
        log_sum = xp.log(xp.sum(xp.exp(scores - top), axis=1)) + top[:, 0]
        return xp.mean(log_sum - xp.sum(scores * Y, axis=1))

    return f


def cases() -> list[Case]:
    rng = np.random.default_rng(0)
    shapes = [(100, 64), (64,), (64, 64), (64,), (64, 10), (10,)]
    p = [rng.normal(size=shape) * 0.1 for shape in shapes]
    X, Y = rng.normal(size=(256, 100)), np.eye(10)[rng.integers(0, 10, 256)]
    jp, jX, jY = [jnp.asarray(w) for w in p], jnp.asarray(X), jnp.asarray(Y)
    return [
        _case("gradient of a scalar expression of 30 operations", expression, (0.7,), (0.7,)),
        _case("gradient of a 3-layer MLP loss, 256 x 100 inputs", mlp_loss, (p, X, Y), (jp, jX, jY)),
    ]


def _case(name: str, make: Callable[[ModuleType], Any], args: Any, jax_args: Any) -> Case:
    ours, hips, google = pel.grad(make(np)), autograd.grad(make(anp)), jax.grad(make(jnp))
    for a, b, c in zip(_flat(ours(*args)), _flat(hips(*args)), _flat(google(*jax_args)), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(a, c, rtol=1e-9, atol=1e-12)
    return Case(
        name,
        {
            "pellucid": lambda: ours(*args),
            "autograd": lambda: hips(*args),
            "JAX without jit": lambda: jax.block_until_ready(google(*jax_args)),
        },
    )


def _flat(gradient: Any) -> list[Any]:
    return list(gradient) if isinstance(gradient, list) else [gradient]
