"""What a training step takes with 1, 2 and 4 processes on this machine, beside the model of docs/scale.md.

`python -m benchmarks.scale` measures the constants, each by a small loop of its own, then steps of networks that took
no part in that, and prints the tables of the page. Each process is bound to one core; where there are more processes
than cores, they share them.
"""

from __future__ import annotations

import argparse
import itertools
import json
import math
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Network:
    """A network, and the rows of a step."""

    features: int
    hidden: tuple[int, ...]
    classes: int
    batch: int

    @property
    def sizes(self) -> tuple[int, ...]:
        return (self.features, *self.hidden, self.classes)

    @property
    def weights(self) -> int:
        """Numbers in its matrices."""
        return sum(a * b for a, b in itertools.pairwise(self.sizes))

    @property
    def parameters(self) -> int:
        return self.weights + sum(self.sizes[1:])


NETWORKS = {
    "(64,)": Network(30, (64,), 3, 512),
    "(256, 256)": Network(100, (256, 256), 10, 1024),
    "(512, 512, 512)": Network(50, (512, 512, 512), 5, 512),
    "(1024, 1024)": Network(100, (1024, 1024), 10, 1024),
}
STEPS, EPOCHS = 5, 16
PRODUCT = 512
"""Rows and columns of the matrices whose product tells the rate of the arithmetic."""
STREAM = 1 << 22
"""Numbers of an array that is read and written, to tell the rate of the memory."""
SUMS = (1 << 8, 1 << 20)
"""Numbers that are summed over processes."""
SUMS_OF_A_STEP = 2
"""The rows of the batch; gradients and loss, as one buffer."""
TIMES = 10
"""Rounds of a loop."""
UPDATE = 28
"""Bytes that Adam reads and writes for a parameter: it, its gradient and two moments; three of them written."""
PASSES = 10
"""Passes over the outputs of the layers beside the products, of 4 bytes: activation, its derivative, bias, sums."""

HOST_CORES, HOST_MEMORY = 16, 8
"""Of a host that is assumed: cores such as this one, and how much faster than that of one its memory is."""
WIRE_LATENCY, WIRE_BYTE = 20e-6, 0.8e-9
"""Of a network that is assumed: seconds for each doubling of hosts, and for a byte (10 Gbit/s)."""
HOST_BATCH = 16_384


def process() -> None:
    """One process: prints what it measured, if it is the first."""
    cores = sorted(os.sched_getaffinity(0))
    os.sched_setaffinity(0, {cores[int(os.environ["PELLUCID_INDEX"]) % len(cores)]})  # ahead of JAX, which counts them
    from pellucid import distributed

    count = int(os.environ["PELLUCID_PROCESSES"])
    index = distributed.join() if count > 1 else 0
    measured: dict[str, Any] = {"processes": count}
    if count == 1:
        measured |= alone()
    else:
        for size in SUMS:
            measured[f"sum {size}"] = loop_of_sums(size)
    for name, network in NETWORKS.items():
        measured[name] = step_of(network)
    if index == 0:
        print(json.dumps(measured), flush=True)


def alone() -> dict[str, float]:
    """The constants of one process: a product, a pass over memory, a step that does nothing, a row that is read."""
    import jax
    import jax.numpy as jnp
    from jax import lax

    def looped(body: Callable[[Any], Any], start: Any) -> float:
        run = jax.jit(lambda x: lax.scan(lambda c, _: (body(c), None), x, None, length=TIMES)[0])
        return shortest(lambda: run(start).block_until_ready()) / TIMES

    eye = jnp.eye(PRODUCT, dtype=jnp.float32)
    nothing = Network(1, (1,), 2, 1)
    return {
        "product": looped(lambda c: c @ eye, jnp.ones((PRODUCT, PRODUCT), jnp.float32)),
        "pass": looped(lambda c: c * 0.999, jnp.ones(STREAM, jnp.float32)),
        "nothing": step_of(nothing),
        "row": seconds_of_a_row(),
    }


def seconds_of_a_row(rows: int = 200_000, columns: int = 100) -> float:
    """To read a row of 100 numbers from a Parquet file."""
    import pandas as pd

    from pellucid.data import dataset

    numbers = np.random.default_rng(0).normal(size=(rows, columns)).astype(np.float32)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "table.parquet")
        pd.DataFrame(numbers, columns=[f"x{i}" for i in range(columns)]).to_parquet(path, row_group_size=50_000)
        return shortest(lambda: [part.floats(np.float32) for part in dataset(str(path)).parts()], 2) / rows


def loop_of_sums(size: int) -> float:
    """A sum of so many numbers over processes, inside a compiled loop."""
    import jax
    from jax import lax
    from jax.sharding import Mesh, NamedSharding, PartitionSpec

    mesh, split = Mesh(np.array(jax.devices()), ("p",)), PartitionSpec("p")
    mine = np.ones(size, np.float32)
    numbers = jax.make_array_from_process_local_data(NamedSharding(mesh, split), mine, (size * mesh.size,))

    def loop(x: Any) -> Any:
        return lax.scan(lambda c, _: (0.5 * lax.psum(c, "p"), None), x, None, length=TIMES)[0]

    compiled = jax.jit(jax.shard_map(loop, mesh=mesh, in_specs=split, out_specs=split, check_vma=False))
    return shortest(lambda: compiled(numbers).block_until_ready()) / TIMES


def step_of(network: Network) -> float:
    """Seconds of a step of a training, without its first epoch, which compiles."""
    from pellucid import Model, distributed, nn, optim, train

    rng = np.random.default_rng(0)
    rows = STEPS * network.batch
    X = rng.normal(size=(rows, network.features)).astype(np.float32)
    y = np.arange(rows) % network.classes
    own = distributed.share(rows)
    model = Model(nn.mlp(network.hidden, network.classes), "cross_entropy", optim.Adam(1e-3), engine="jax")
    ends: list[float] = []

    def note(run: train.Run) -> None:
        ends.append(time.perf_counter())

    settings = {"epochs": EPOCHS, "batch_size": network.batch, "callbacks": [note], "devices": "all", "verbose": False}
    model.fit(X[own], y[own], **settings)
    return float(np.min(np.diff(ends))) / STEPS


def shortest(call: Callable[[], Any], times: int = 20) -> float:
    call()
    seconds = []
    for _ in range(times):
        begin = time.perf_counter()
        call()
        seconds.append(time.perf_counter() - begin)
    return min(seconds)


def measured_with(count: int) -> dict[str, Any]:
    """What `count` processes measure together."""
    from pellucid.distributed.processes import free_address

    address = free_address("127.0.0.1")
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
    """Seconds: of an operation, of a byte of memory, of a step beside those, of a sum over processes, of its bytes."""

    operation: float
    byte: float
    beside: float
    latency: float = 0.0
    sent: float = 0.0

    def step(self, network: Network, processes: int, crowd: float) -> float:
        """Seconds of a step; `crowd` processes share a core."""
        rows = network.batch / processes
        arithmetic = 6 * rows * network.weights * self.operation
        memory = (UPDATE * network.parameters + 4 * PASSES * rows * sum(network.sizes[1:])) * self.byte
        own = crowd * (arithmetic + memory + self.beside)
        if processes == 1:
            return own
        words = network.parameters + network.batch * (network.features + 2) / 2  # rows: each device takes its part
        return own + SUMS_OF_A_STEP * self.latency + 4 * words * self.sent

    def on_hosts(self, network: Network, hosts: int, batch: int) -> float:
        """Seconds of a step of so many hosts that are assumed: see the constants HOST_..., WIRE_..."""
        rows = batch / hosts
        arithmetic = 6 * rows * network.weights * self.operation / HOST_CORES
        memory = UPDATE * network.parameters + 4 * PASSES * rows * sum(network.sizes[1:])
        own = arithmetic + memory * self.byte / HOST_MEMORY + self.beside
        if hosts == 1:
            return own
        words = 2 * network.parameters + batch * (network.features + 2)
        return own + SUMS_OF_A_STEP * WIRE_LATENCY * math.log2(hosts) + 4 * words * WIRE_BYTE


def constants(one: dict[str, Any], several: dict[str, Any] | None) -> Constants:
    """Of one process, and of several where there are some."""
    own = one["product"] / (2 * PRODUCT**3), one["pass"] / (8 * STREAM), one["nothing"]
    if several is None:
        return Constants(*own)
    few, many = (several[f"sum {size}"] for size in SUMS)
    sent = (many - few) / (4 * (SUMS[1] - SUMS[0]))
    return Constants(*own, few, sent)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--process", action="store_true")
    if parser.parse_args().process:
        process()
        return
    every = [measured_with(count) for count in (1, 2, 4)]
    print(json.dumps(every))
    cores, one = len(os.sched_getaffinity(0)), every[0]
    print(f"a row of 100 numbers is read in {1e6 * one['row']:.2f} us")
    for several in every:
        count = several["processes"]
        c = constants(one, None if count == 1 else several)
        print(
            f"{count} processes: {1e-9 / c.operation:.0f} GF/s, {1e-9 / c.byte:.1f} GB/s, "
            f"{1e3 * c.beside:.3f} ms beside, sum {1e3 * c.latency:.3f} ms, {1e9 * c.sent:.2f} ns a byte"
        )
        for name, network in NETWORKS.items():
            taken, guess = several[name], c.step(network, count, max(1.0, count / cores))
            print(f"  {name}: {1e3 * taken:.2f} ms, model {1e3 * guess:.2f} ms ({guess / taken - 1:+.0%})")
    alone_here = constants(one, None)
    for name, network in NETWORKS.items():
        steps = {hosts: alone_here.on_hosts(network, hosts, HOST_BATCH) for hosts in (1, 2, 4, 8, 64, 256, 1024)}
        print(f"{name} on hosts:", ", ".join(f"{hosts}: {1e3 * seconds:.2f} ms" for hosts, seconds in steps.items()))
        for rows in (10**6, 10**8, 10**10):
            epochs = {hosts: seconds * rows / HOST_BATCH for hosts, seconds in steps.items()}
            read = {hosts: one["row"] * rows / (HOST_CORES * hosts) for hosts in steps}
            print(f"  {rows:.0e} rows: epoch", {hosts: round(epochs[hosts], 2) for hosts in (1, 8, 1024)})
            print(f"  {rows:.0e} rows: read", {hosts: round(read[hosts], 2) for hosts in (1, 8, 1024)})


if __name__ == "__main__":
    main()
