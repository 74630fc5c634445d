"""Executors: they run a graph. `numpy` is the reference."""

from pellucid.engine.compile import compile as compile
from pellucid.engine.numpy import run as run
