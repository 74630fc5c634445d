"""Executors: they run a graph. `numpy` is the reference, `native` compiles, `jax` lowers it to XLA."""

from pellucid.engine.compile import compile as compile
from pellucid.engine.compile import engine_named as engine_named
from pellucid.engine.numpy import run as run
