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

    Parameters
    ----------
    training : bool
        normalise by batch statistics and update the stored ones
    noise : bool
        dropout and its kin are at work (by default while training; on its own, Monte-Carlo dropout)
    state : Mapping[str, Any]
        stored statistics by name
    key : int
        the seed
    counter : int
        the number of the step; it may be an input of the graph
    settings : Mapping[str, Any]
        numbers in the place of those of layers, by name ("drop.rate"), so that they can follow a schedule
    path : str
        the name of the layer at work
    updates : dict[str, Any]
        statistics after this pass, by name
    taps : dict[str, Any] | None
        where values are noted by the names of layers; None notes none
    probes : Mapping[str, Any]
        added to values by the names of layers, to get their adjoints
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
        """The context of a part of this layer.

        Parameters
        ----------
        name : str
            of the part
        """
        return replace(self, path=self._name(name))

    def _name(self, name: str) -> str:
        return f"{self.path}.{name}" if self.path and name else self.path or name

    def read(self, name: str) -> Any:
        """A stored statistic of this layer.

        Parameters
        ----------
        name : str
            of the statistic
        """
        full = self._name(name)
        if full not in self.state:
            raise ShapeError(
                f"{self.path or 'layer'}: the statistic {full!r} is not in the state: write net.predict(params, X, "
                f"state), with the state of net.initialize or of training; got {list(self.state) or 'none'}"
            )
        return self.state[full]

    def write(self, name: str, value: Any) -> None:
        """Its new value.

        Parameters
        ----------
        name : str
            of the statistic
        value : array
            the new one
        """
        self.updates[self._name(name)] = value

    def setting(self, name: str, default: Any) -> Any:
        """A number of this layer, or what stands in for it now.

        Parameters
        ----------
        name : str
            of the number
        default : number
            the layer's own
        """
        return self.settings.get(self._name(name), default)

    def tap(self, value: Any, name: str = "") -> Any:
        """Let a value be seen under the layer's name, and be probed.

        Parameters
        ----------
        value : array
            to be seen
        name : str
            behind the name of the layer
        """
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
        """1 with probability p, else 0; new for every step.

        Parameters
        ----------
        p : number
            the probability
        shape : tuple
            of the result
        dtype : dtype
            of the result
        """
        return random.bernoulli(self._key(), self.counter, p, shape, dtype)

    def normal(self, shape: Any, dtype: Any) -> Any:
        """Standard normal numbers; new for every step.

        Parameters
        ----------
        shape : tuple
            of the result
        dtype : dtype
            of the result
        """
        return random.normal(self._key(), self.counter, shape, dtype)
