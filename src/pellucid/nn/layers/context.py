"""What a layer may know and do besides its parameters: mode, state, randomness, settings, taps.

A layer never hides an array. Batch statistics are read from and written to the context; random numbers come from
its key and counter; a looker-on asks it to keep what flows by.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from pellucid.errors import ShapeError
from pellucid.graph.primitives import random


@dataclass(frozen=True)
class Context:
    """Passed through the layers of one forward pass.

    `training`: normalise by batch statistics and update the stored ones. `noise`: dropout and its kin are at work
    (by default while training; on its own, Monte-Carlo dropout). `key` is the seed, `counter` the number of the step
    (it may be an input of the graph). `settings` overrides numbers of layers by name ("drop.rate"), so that they can
    follow a schedule.
    """

    training: bool = False
    noise: bool = False
    state: Mapping[str, Any] = field(default_factory=dict)
    key: int = 0
    counter: Any = 0
    settings: Mapping[str, Any] = field(default_factory=dict)
    path: str = ""
    updates: dict[str, Any] = field(default_factory=dict)  # new state, filled on the way
    taps: dict[str, Any] | None = None  # what flows by, filled on the way if somebody asks
    probes: Mapping[str, Any] = field(default_factory=dict)  # added to what flows by: their gradient is its adjoint

    def at(self, name: str) -> Context:
        """The context of a part of this layer."""
        return replace(self, path=self._name(name))

    def _name(self, name: str) -> str:
        return f"{self.path}.{name}" if self.path and name else self.path or name

    def read(self, name: str) -> Any:
        """A stored statistic of this layer."""
        full = self._name(name)
        if full not in self.state:
            raise ShapeError(
                f"{self.path or 'layer'}: the statistic {full!r} is not in the state: write net.predict(params, X, "
                f"state), with the state of net.initialize or of training; got {list(self.state) or 'none'}"
            )
        return self.state[full]

    def write(self, name: str, value: Any) -> None:
        """Its new value."""
        self.updates[self._name(name)] = value

    def setting(self, name: str, default: Any) -> Any:
        """A number of this layer, or what stands in for it now."""
        return self.settings.get(self._name(name), default)

    def tap(self, value: Any, name: str = "") -> Any:
        """Let a value be seen under the layer's name, and be probed."""
        full = self._name(name)
        if full in self.probes:
            value = value + self.probes[full]
        if self.taps is not None:
            self.taps[full] = value
        return value

    def _key(self) -> int:
        """A key of this layer's own: it does not change when layers elsewhere come and go."""
        return (int(self.key) * 0x9E3779B97F4A7C15 + zlib.crc32(self.path.encode())) & 0xFFFFFFFFFFFFFFFF

    def bernoulli(self, p: Any, shape: Any, dtype: Any) -> Any:
        """1 with probability p, else 0; new for every step."""
        return random.bernoulli(self._key(), self.counter, p, shape, dtype)

    def normal(self, shape: Any, dtype: Any) -> Any:
        """Standard normal numbers; new for every step."""
        return random.normal(self._key(), self.counter, shape, dtype)
