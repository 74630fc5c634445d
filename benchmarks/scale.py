"""What a training step takes with 1, 2 and 4 processes on this machine, beside the model of docs/scale.md.

`python -m benchmarks.scale` measures steps and all-reduces, and prints the table of the page. Each process is bound to
one core; where there are more processes than cores, they share them.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import socket
import subprocess
import sys
import time
from dataclasses import dataclass
from typing import Any

import numpy as np

NETWORKS = {"mid": (100, (256, 256), 10, 1024), "wide": (100, (1024, 1024), 10, 1024)}
ROWS, EPOCHS = 10_240, 4
SMALLER = 8
"""A batch so many times smaller tells what a step takes beside its rows."""
SIZES = (1 << 8, 1 << 20)
"""Numbers that are summed over processes."""

TIMES = 10
"""Rounds of the loop in which a sum is measured, each with a product beside it."""


def parameters(features: int, hidden: tuple[int, ...], classes: int) -> int:
    return sum(a * b + b for a, b in itertools.pairwise((features, *hidden, classes)))


def process() -> None:
    """One process: prints what it measured, if it is the first."""
    cores = sorted(os.sched_getaffinity(0))
    os.sched_setaffinity(0, {cores[int(os.environ["PELLUCID_INDEX"]) % len(cores)]})  # ahead of JAX, which counts them
    import jax
    from jax.sharding import Mesh

    from pellucid import Model, distributed, nn, optim, train

    count = int(os.environ["PELLUCID_PROCESSES"])
    index = distributed.join() if count > 1 else 0
    measured: dict[str, Any] = {"processes": count}
    mesh = Mesh(np.array(jax.devices()), ("p",))
    for size in (0, *SIZES) if count > 1 else ():
        measured[f"sum of {4 * size} bytes"] = shortest(loop_with_sum(mesh, size)) / TIMES
    for name, (features, hidden, classes, batch) in NETWORKS.items():
        rng = np.random.default_rng(0)
        X = rng.normal(size=(ROWS, features)).astype(np.float32)
        y = rng.integers(classes, size=ROWS)
        rows = distributed.share(ROWS)
        for size in (batch, batch // SMALLER) if count == 1 else (batch,):
            model = Model(nn.mlp(hidden, classes), "cross_entropy", optim.Adam(1e-3), engine="jax")
            ends: list[float] = []

            def note(run: train.Run, ends: list[float] = ends) -> None:
                ends.append(time.perf_counter())

            model.fit(X[rows], y[rows], epochs=EPOCHS, batch_size=size, callbacks=[note], devices="all", verbose=False)
            measured[f"{name} {size}"] = float(np.min(np.diff(ends))) / (ROWS // size)
    if index == 0:
        print(json.dumps(measured), flush=True)


def loop_with_sum(mesh: Any, size: int) -> Any:
    """A compiled loop of products, each with a sum of so many numbers over processes (0: without one) behind it."""
    import jax
    import jax.numpy as jnp
    from jax import lax
    from jax.sharding import NamedSharding, PartitionSpec

    split, whole = PartitionSpec("p"), PartitionSpec()
    mine = np.ones(max(size, 1), np.float32)
    numbers = jax.make_array_from_process_local_data(NamedSharding(mesh, split), mine, (len(mine) * mesh.size,))

    def loop(x: Any) -> Any:
        def body(c: Any, _: Any) -> Any:
            more = lax.psum(x + c[0, 0], "p")[0] if size else x[0]
            return (c @ c) * 1e-3 + 1e-9 * more, None

        return lax.scan(body, jnp.ones((512, 512)), None, length=TIMES)[0]

    compiled = jax.jit(jax.shard_map(loop, mesh=mesh, in_specs=split, out_specs=whole, check_vma=False))
    return lambda: compiled(numbers).block_until_ready()


def shortest(call: Any, times: int = 6) -> float:
    call()
    seconds = []
    for _ in range(times):
        begin = time.perf_counter()
        call()
        seconds.append(time.perf_counter() - begin)
    return min(seconds)


def measured_with(count: int) -> dict[str, Any]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{free.getsockname()[1]}"
    started = [
        subprocess.Popen(
            [sys.executable, "-m", "benchmarks.scale", "--process"],
            env=os.environ
            | {"PELLUCID_COORDINATOR": address, "PELLUCID_PROCESSES": str(count), "PELLUCID_INDEX": str(index)},
            stdout=subprocess.PIPE,
            text=True,
        )
        for index in range(count)
    ]
    words = [one.communicate()[0] for one in started]
    return json.loads(words[0].strip().splitlines()[-1])  # type: ignore[no-any-return]


@dataclass(frozen=True)
class Constants:
    """Seconds of a step beside its rows, for a row, for a sum over processes, for a byte of such a sum."""

    beside: float
    row: float
    latency: float
    byte: float


def constants(one: dict[str, Any], several: dict[str, Any], name: str) -> Constants:
    batch = NETWORKS[name][3]
    large, small = one[f"{name} {batch}"], one[f"{name} {batch // SMALLER}"]
    row = (large - small) / (batch - batch // SMALLER)
    nothing, few, many = (several[f"sum of {4 * size} bytes"] for size in (0, *SIZES))
    return Constants(large - row * batch, row, few - nothing, (many - few) / (4 * (SIZES[1] - SIZES[0])))


def predicted(c: Constants, name: str, count: int, cores: int) -> float:
    """Seconds of a step: the share of the rows, what every process does, and a sum for each array over processes."""
    features, hidden, classes, batch = NETWORKS[name]
    crowd = max(1.0, count / cores)
    traffic = 4 * (parameters(features, hidden, classes) + batch * (features + 2))
    arrays = 2 * (len(hidden) + 1) + 3  # weights and biases, rows, target, loss
    return crowd * (c.beside + c.row * batch / count) + arrays * c.latency + traffic * c.byte


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--process", action="store_true")
    if parser.parse_args().process:
        process()
        return
    every = [measured_with(count) for count in (1, 2, 4)]
    for one in every:
        print(one)
    cores = len(os.sched_getaffinity(0))
    for name, (features, hidden, classes, batch) in NETWORKS.items():
        work = 6 * batch * sum(a * b for a, b in itertools.pairwise((features, *hidden, classes)))
        print(f"{name}: {1e3 * every[0][f'{name} {batch}']:.2f} ms with one process")
        for several in every[1:]:
            count, c = several["processes"], constants(every[0], several, name)
            taken, guess = several[f"{name} {batch}"], predicted(c, name, count, cores)
            rate = 1e-9 * work / batch / c.row
            print(f"  {count} processes: {1e3 * taken:.2f} ms, model {1e3 * guess:.2f} ms; {rate:.0f} GF/s, {c}")


if __name__ == "__main__":
    main()
