"""Prediction: the network in chunks of bounded memory, compiled where the model's engine is."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Sequence
from operator import is_
from typing import TYPE_CHECKING, Any

import numpy as np

from pellucid.data import chunks
from pellucid.data.inputs import all_finite
from pellucid.data.rows import Rows
from pellucid.graph.core.dims import Dim
from pellucid.graph.core.spec import Spec
from pellucid.graph.core.tree import flatten, tree_map
from pellucid.graph.graph import Graph
from pellucid.graph.record import record
from pellucid.nn import Loss
from pellucid.processors import default_threads
from pellucid.train.loop.step import array_spec
from pellucid.train.metrics import Metric
from pellucid.train.shared_graphs import shared_graph

if TYPE_CHECKING:
    from pellucid.engine.jax.session import Session as JaxSession
    from pellucid.engine.native.runtime.session import Session
    from pellucid.train.model import Model


class CompiledNetwork:
    """The compiled network of a model: one session for scores, one for what the link makes of them."""

    def __init__(self) -> None:
        self.sessions: dict[str, Session | JaxSession | None] = {}
        self.arrays: list[Any] = []
        self.way: tuple[str, int | None] = ("", None)  # engine and threads
        self.pid = os.getpid()

    def session(self, model: Model, params: Any, state: Any, what: str) -> Session | JaxSession | None:
        """The session for these arrays; None where the network cannot be compiled."""
        # how rows are split over threads may show in the last bits; a forked child may have interrupted its parent
        way = model.engine, model.threads
        if way != self.way or self.pid != os.getpid():
            self.sessions, self.way, self.pid = {}, way, os.getpid()
        arrays = [*params.values(), *state.values()]
        if len(arrays) != len(self.arrays) or not all(map(is_, arrays, self.arrays)):
            if not all(session.reads(arrays) for session in self.sessions.values() if session is not None):
                self.sessions = {}
            self.arrays = arrays
        if what not in self.sessions:
            self.sessions[what] = self._new_session(model, params, state, what)
        session = self.sessions[what]
        if session is not None and session.copied:
            session.refresh(arrays)
        return session

    def of_many_rows(self, model: Model, X: Any, what: str) -> Any:
        """What compiled code makes of any number of rows, which it takes block by block; None where that cannot be."""
        from pellucid.engine.native.runtime.run import NotFinite
        from pellucid.engine.native.runtime.session import Session

        session = self.session(model, model.params, model.state, what)
        if not isinstance(session, Session):
            return None
        try:
            return session(X, look=True)
        except NotFinite:  # who looks closely says where
            return None

    def __reduce__(self) -> Any:
        """A copy of a model compiles anew."""
        return (CompiledNetwork, ())

    def _new_session(self, model: Model, params: Any, state: Any, what: str) -> Session | JaxSession | None:
        from pellucid.engine.native.passes.lower import CannotCompile
        from pellucid.engine.native.runtime.fallback import tell

        try:
            fixed = [np.asarray(a) for a in flatten((params, state))[0]]
            graph = _graph(model, params, state, what)
            return _on_jax(graph, fixed) if model.engine == "jax" else _native(graph, fixed, model.threads)
        except CannotCompile as error:
            if what == "scores":  # else it may be the link alone: then the scores are computed by compiled code
                tell("prediction", error)
            return None


def _native(graph: Graph, fixed: list[Any], threads: int | None) -> Session:
    from pellucid.engine.native.runtime.session import Session

    return Session(graph, fixed, threads or default_threads())


def _on_jax(graph: Graph, fixed: list[Any]) -> JaxSession:
    """Where JAX is not installed, a model that was trained with it still predicts."""
    from pellucid.engine.jax.library import require_jax
    from pellucid.engine.native.passes.lower import EngineUnavailable

    try:
        require_jax()
    except ImportError as error:
        raise EngineUnavailable(str(error)) from error
    from pellucid.engine.jax.session import Session

    return Session(graph, fixed, chunks.CHUNK)


def _graph(model: Model, params: Any, state: Any, what: str) -> Graph:
    """(parameters, statistics, X) -> scores, or what the link makes of them; the number of rows is open."""
    from pellucid.engine.native.passes.lower import CannotCompile

    linked = what == "prediction"

    def outcome(p: Any, s: Any, X: Any) -> Any:
        scores = model.net.predict(p, X, s)
        return model.loss.link(scores) if linked else scores

    X = Spec((Dim.symbol("n"), *model.features), model.dtype)
    specs = [tree_map(array_spec, tree) for tree in (params, state)]
    kinds = tuple((name, spec.shape, spec.dtype) for tree in specs for name, spec in tree.items())
    parts = (model.net, model.loss) if linked else (model.net,)
    try:
        return shared_graph((what, kinds, X.shape, X.dtype), parts, lambda: record(outcome, *specs, X, name=what))
    except Exception as error:  # code of the user's may ask for values: NumPy has them, or raises what is wrong
        raise CannotCompile(f"it cannot be recorded ({error})") from error


def evaluation(scores_of: Callable[[Any], Any], loss: Loss, metrics: Sequence[Metric], rows: Rows) -> dict[str, float]:
    """The mean loss of rows and their metrics; `scores_of` gives the scores of a chunk of inputs.

    Where a network has members, both are of what they predict together.
    """
    scores, total, weight = [], 0.0, 0.0
    for batch in rows.chunks():
        scores.append(loss.joined(scores_of(batch.X)))
        total += float(loss.single(scores[-1], batch.y, batch.weights)) * batch.weight
        weight += batch.weight
    everything = np.concatenate(scores)
    finite = all_finite(everything)  # metrics of scikit-learn raise where a number is none
    values = {m.name: m(rows.y, everything, loss.single, rows.weights) if finite else math.nan for m in metrics}
    return {"loss": total / weight, **values}
