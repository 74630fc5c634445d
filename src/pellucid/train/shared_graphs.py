"""Graphs that equal tasks share, so that each is recorded and compiled once."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

from pellucid.graph.graph import Graph
from pellucid.locks import forkable

MOST = 32
"""Graphs that are kept; the longest unused ones go."""

_known: OrderedDict[Any, Graph] = OrderedDict()
_lock = forkable()


def shared_graph(task: tuple[Any, ...], parts: tuple[Any, ...], make: Callable[[], Graph], key: int = 0) -> Graph:
    """The graph that `make` records, simplified; one for all calls with the same task and parts.

    parts: layers, losses, rules that it was recorded from; a graph of a user's own code, which may change its mind, is
    not shared.   key: of randomness, which tells graphs apart that are random
    """
    try:
        hash((task, parts))
    except TypeError:  # something in it can change
        return make().simplify()
    if not is_ours(parts):
        return make().simplify()
    with _lock:
        for name in ((task, parts, None), (task, parts, key)):
            if name in _known:
                _known.move_to_end(name)
                return _known[name]
    graph = make().simplify()
    random = any(node.op is not None and node.op.name.startswith("random_") for node in graph.nodes)
    with _lock:
        _known[task, parts, key if random else None] = graph
        if len(_known) > MOST:
            _known.popitem(last=False)
    return graph


def is_ours(value: Any) -> bool:
    """Made of this package's classes and functions, numbers and text alone?"""
    if value is None or isinstance(value, bool | int | float | str | np.generic | np.dtype):
        return True
    if isinstance(value, tuple | list):
        return all(map(is_ours, value))
    if isinstance(value, dict):
        return all(map(is_ours, value.values()))
    home = getattr(value, "__module__", None) or ""
    if not home.startswith(("pellucid.", "numpy", "scipy")):
        return False
    return not is_dataclass(value) or all(is_ours(getattr(value, f.name)) for f in fields(value))
