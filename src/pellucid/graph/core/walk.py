"""The two walks over a recording: tangents go with the arrows, adjoints against them.

    forward mode   v̇_i = Σ over arguments j of i:  (∂v_i/∂v_j) v̇_j
    reverse mode   v̄_j = Σ over users i of j:      (∂v_i/∂v_j)ᵀ v̄_i

Both only call the rules of the primitives. Where the values on the tape are arrays the derivatives are
computed; where they are tracers of an outer recording, the derivatives are recorded there. Derivatives are
kept by position on the tape; a position without an entry has derivative zero.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from pellucid.errors import DifferentiationError
from pellucid.graph.core.primitive import Rule, Rules
from pellucid.graph.core.tracer import Tracer, scope

Watch = Callable[[Tracer, int, Any, Any], None]
"""Called as `watch(node, position, share, total)` for every contribution that a walk adds up."""


def rule_of(rules: Rules, position: int, name: str) -> Rule | None:
    """The rule for one argument."""
    try:
        return rules[position]
    except IndexError:
        raise DifferentiationError(
            f"the operation {name!r} has no rule for argument {position}: give one for each argument, None for zero"
        ) from None


def push(tape: list[Tracer], tangents: dict[int, Any], watch: Watch | None = None) -> dict[int, Any]:
    """Forward mode. `tangents` holds those of the inputs and receives all others."""
    for node in tape:
        op = node.op
        if op is None:
            continue
        active = [
            (i, tangents[a.index])
            for i, a in enumerate(node.args)
            if type(a) is Tracer and a.recording is node.recording and a.index in tangents
        ]
        if not active:
            continue
        with_tracers = node.scope and type(node.value) is Tracer
        with scope(f"{node.scope}.tangent") if with_tracers else _no_scope:
            if op.linear:
                _push_linear(node, dict(active), tangents, watch)
                continue
            total: Any = None
            for i, d in active:
                rule = rule_of(op.jvp, i, op.name)
                if rule is None:
                    continue
                share = rule(d, node.value, *node.inputs, **node.settings)
                if share is None:  # zero for these settings (a cast to integers)
                    continue
                total = share if total is None else total + share
                if watch is not None:
                    watch(node, i, share, total)
            if total is not None:
                tangents[node.index] = _as_wide(total, node.value)
    return tangents


def _as_wide(d: Any, y: Any) -> Any:
    """A tangent in the shape and dtype of its variable (an argument that was broadcast or promoted has less)."""
    d = d if np.shape(d) == np.shape(y) else np.broadcast_to(d, np.shape(y))
    return d if d.dtype == y.dtype else d.astype(y.dtype)


def _push_linear(node: Tracer, active: dict[int, Any], tangents: dict[int, Any], watch: Watch | None) -> None:
    """A linear operation is its own derivative, in all its linear arguments at once."""
    op = node.op
    assert op is not None
    count = len(node.inputs) if op.linear < 0 else op.linear
    if not any(i < count for i in active):
        return
    ds = [active.get(i) if i in active else np.zeros_like(node.inputs[i]) for i in range(count)]
    total = op(*ds, *node.inputs[count:], **node.settings)
    tangents[node.index] = total
    if watch is not None:
        watch(node, min(active), total, total)


def pull(
    tape: list[Tracer], adjoints: dict[int, Any], *, free: bool = False, watch: Watch | None = None
) -> dict[int, Any]:
    """Reverse mode. `adjoints` holds those of the outputs; at the end those of the inputs.

    With `free`, the tape is eaten from the end, so that each value is let go as soon as it is not needed.
    """
    position = len(tape)
    while position:
        position -= 1
        node = tape.pop() if free else tape[position]
        op = node.op
        if op is None:
            continue
        d = adjoints.pop(position, None)
        if d is None:
            continue
        with_tracers = node.scope and type(node.value) is Tracer
        with scope(f"{node.scope}.adjoint") if with_tracers else _no_scope:
            recording = node.recording
            for i, a in enumerate(node.args):
                if type(a) is not Tracer or a.recording is not recording:
                    continue
                rule = rule_of(op.vjp, i, op.name)
                if rule is None:
                    continue
                share = rule(d, node.value, *node.inputs, **node.settings)
                if share is None:
                    continue
                total = adjoints.get(a.index)
                total = share if total is None else total + share
                adjoints[a.index] = total
                if watch is not None:
                    watch(node, i, share, total)
    return adjoints


class _NoScope:
    def __enter__(self) -> None: ...

    def __exit__(self, *exception: object) -> None: ...


_no_scope = _NoScope()
