"""JAX: a whole epoch in one jitted `lax.scan`, buffers donated; many models by `vmap` around it."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from benchmarks.cases import MANY, MANY_EPOCHS, MANY_MODELS, TrainCase, data, initial
from benchmarks.contestants import Work


def start(case: TrainCase, seed: int = 0) -> dict[str, Any]:
    """Everything that changes while training."""
    params: dict[str, Any] = {"dense": initial(case, seed)}
    running = []
    if case.batch_norm:
        params["norm"] = [(np.ones(d, case.dtype), np.zeros(d, case.dtype)) for d in case.hidden]
        running = [(np.zeros(d, case.dtype), np.ones(d, case.dtype)) for d in case.hidden]
    zeros = jax.tree.map(np.zeros_like, params)
    moments = [zeros, jax.tree.map(np.zeros_like, params)] if case.rule == "adam" else [zeros]
    carry = {"params": params, "moments": moments, "running": running, "t": np.zeros((), case.dtype)}
    return carry | {"key": np.array([0, seed], np.uint32)}


def scores(case: TrainCase, params: Any, X: Any, running: Any = (), key: Any = None) -> tuple[Any, Any]:
    """The last layer's output, and the new batch statistics."""
    h, statistics = X, []
    for i, (W, b) in enumerate(params["dense"][:-1]):
        h = h @ W + b
        if case.batch_norm:
            mean, var = h.mean(0), h.var(0)
            scale, shift = params["norm"][i]
            unbiased = var * (len(h) / (len(h) - 1))
            statistics.append(
                tuple(0.9 * old + 0.1 * new for old, new in zip(running[i], (mean, unbiased), strict=True))
            )
            h = (h - mean) * (jax.lax.rsqrt(var + 1e-5) * scale) + shift
        h = jax.nn.relu(h) if case.activation == "relu" else jax.nn.gelu(h, approximate=False)
        if case.dropout:
            kept = jax.random.bernoulli(jax.random.fold_in(key, i), 1 - case.dropout, h.shape)
            h = jnp.where(kept, h / (1 - case.dropout), 0)
    W, b = params["dense"][-1]
    return h @ W + b, statistics


def cross_entropy(z: Any, y: Any) -> Any:
    return -jnp.mean(jnp.sum(jax.nn.log_softmax(z) * jax.nn.one_hot(y, z.shape[1], dtype=z.dtype), axis=1))


def updated(case: TrainCase, params: Any, g: Any, moments: Any, t: Any) -> tuple[Any, list[Any]]:
    """Adam, or SGD with momentum 0.9."""
    if case.rule != "adam":
        v = jax.tree.map(lambda v, g: 0.9 * v + g, moments[0], g)
        return jax.tree.map(lambda w, v: w - case.lr * v, params, v), [v]
    m = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, moments[0], g)
    v = jax.tree.map(lambda v, g: 0.999 * v + 0.001 * g * g, moments[1], g)
    c1, c2 = 1 / (1 - 0.9**t), 1 / (1 - 0.999**t)
    return jax.tree.map(lambda w, m, v: w - case.lr * (m * c1) / (jnp.sqrt(v * c2) + 1e-8), params, m, v), [m, v]


def one_epoch(case: TrainCase, carry: Any, order: Any, X: Any, y: Any) -> tuple[Any, Any]:
    """order: row numbers of the batches, (batches, batch)."""

    def step(carry: Any, rows: Any) -> tuple[Any, Any]:
        key, sub = jax.random.split(carry["key"]) if case.dropout else (carry["key"], None)

        def objective(params: Any) -> tuple[Any, Any]:
            z, statistics = scores(case, params, X[rows], carry["running"], sub)
            return cross_entropy(z, y[rows]), statistics

        (loss, running), g = jax.value_and_grad(objective, has_aux=True)(carry["params"])
        t = carry["t"] + 1
        params, moments = updated(case, carry["params"], g, carry["moments"], t)
        return {"params": params, "moments": moments, "running": running, "t": t, "key": key}, loss

    carry, losses = jax.lax.scan(step, carry, order)
    return carry, losses.mean()


def _set_up(case: TrainCase) -> None:
    jax.config.update("jax_enable_x64", case.dtype == "float64")


def _compiled(case: TrainCase) -> Callable[..., Any]:
    return jax.jit(partial(one_epoch, case), donate_argnums=0)


def _order(case: TrainCase, rng: np.random.Generator, rows: int) -> Any:
    whole = rows // case.batch
    return rng.permutation(rows)[: whole * case.batch].astype(np.int32).reshape(whole, case.batch)


def train(case: TrainCase, X: Any, y: Any, threads: int) -> Work:
    _set_up(case)
    run, rng, kept = _compiled(case), np.random.default_rng(0), [jax.device_put(start(case))]
    X, y = jnp.asarray(X), jnp.asarray(y, jnp.int32)

    def work(n: int) -> None:
        carry = kept.pop()
        for _ in range(n):
            carry, loss = run(carry, _order(case, rng, len(X)), X, y)
            float(loss)
        kept.append(jax.block_until_ready(carry))

    return work


def predict(case: TrainCase, rows: int, threads: int) -> Work:
    _set_up(case)
    params = jax.device_put(start(case)["params"])
    run, Z = jax.jit(lambda p, X: jax.nn.softmax(scores(case, p, X)[0])), data(case, rows)[0]

    def work(n: int) -> None:
        for _ in range(n):
            np.asarray(run(params, Z))

    return work


def many(threads: int) -> Work:
    _set_up(MANY)
    run = jax.jit(jax.vmap(partial(one_epoch, MANY), in_axes=(0, 0, None, None)), donate_argnums=0)
    X, y = data(MANY)
    X, y, rng = jnp.asarray(X), jnp.asarray(y, jnp.int32), np.random.default_rng(0)

    def work(n: int) -> None:
        for _ in range(n):
            carry = jax.tree.map(lambda *each: np.stack(each), *[start(MANY, seed) for seed in range(MANY_MODELS)])
            for _ in range(MANY_EPOCHS):
                orders = np.stack([_order(MANY, rng, len(X)) for _ in range(MANY_MODELS)])
                carry, _ = run(carry, orders, X, y)
            jax.block_until_ready(carry)

    return work


def target(case: TrainCase, train: Any, valid: Any, loss: float, epochs: int, threads: int) -> Work:
    _set_up(case)
    run, evaluate = _compiled(case), jax.jit(lambda p, X, y: cross_entropy(scores(case, p, X)[0], y))
    X, Xv = (jnp.asarray(each) for each in (train[0], valid[0]))
    y, yv = (jnp.asarray(each, jnp.int32) for each in (train[1], valid[1]))

    def work(seed: int) -> int:
        carry, rng = jax.device_put(start(case, seed)), np.random.default_rng(seed)
        for done in range(1, epochs + 1):
            carry, _ = run(carry, _order(case, rng, len(X)), X, y)
            if float(evaluate(carry["params"], Xv, yv)) <= loss:
                return done
        return epochs

    return work
