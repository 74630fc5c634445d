"""The graph: an immutable program in topological order, one node for each operation."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from pellucid.errors import GraphError, ShapeError
from pellucid.graph.core.dims import bind, is_open
from pellucid.graph.core.spec import Spec, format_shape, spec_of
from pellucid.graph.core.tracer import Recording, Tracer
from pellucid.graph.core.tree import Tree, flatten, matching_leaves, paths
from pellucid.graph.node import Literal, Node
from pellucid.graph.passes import merge_equal, prune
from pellucid.graph.show import diagrams, program
from pellucid.graph.show import svg as pictures
from pellucid.graph.show.names import distinct
from pellucid.graph.show.picture import drawing
from pellucid.graph.show.table import TraceTable, trace_table
from pellucid.markup import page


@dataclass(frozen=True, eq=False)
class Graph:
    """What a function does, as data. Made by `pellucid.record`.

    Parameters
    ----------
    name : str
        of the function
    nodes : tuple[Node, ...]
        in an order in which they can be computed; the first ones are the inputs
    inputs : int
        how many inputs there are
    outputs : tuple[int | Literal, ...]
        node numbers, or literals (a result that does not depend on any input)
    in_tree : Tree
        the structure of the arguments
    out_tree : Tree
        the structure of the result

    Examples
    --------
    >>> import numpy as np, pellucid as pel
    >>> graph = pel.record(lambda x1, x2: np.log(x1) + x1 * x2 - np.sin(x2), 2.0, 5.0)
    >>> len(graph), graph.count()["multiply"]
    (7, 1)
    >>> print(graph)
    def f(x1: float64, x2: float64):
        v1 = log(x1)
        v2 = x1 * x2
        v3 = v1 + v2
        v4 = sin(x2)
        v5 = v3 - v4
        return v5
    """

    name: str
    nodes: tuple[Node, ...]
    inputs: int  # how many of the nodes are inputs
    outputs: tuple[int | Literal, ...]
    in_tree: Tree
    out_tree: Tree
    kept: dict[Any, Any] = field(default_factory=dict, init=False, repr=False)
    """What readers keep with the graph (its compiled forms): it goes when the graph goes, and copies begin without."""

    def __reduce__(self) -> Any:
        return (Graph, (self.name, self.nodes, self.inputs, self.outputs, self.in_tree, self.out_tree))

    def __post_init__(self) -> None:
        for i, node in enumerate(self.nodes):
            if (node.op is None) != (i < self.inputs):
                raise GraphError(f"node {i}: inputs stand before all operations")
            for parent in node.parents:
                if not 0 <= parent < i:
                    raise GraphError(
                        f"node {i} ({node.op.name if node.op else 'input'}) uses node {parent}, not before it: "
                        "a computational graph has no cycles"
                    )
        for out in self.outputs:
            if not isinstance(out, Literal) and not 0 <= out < len(self.nodes):
                raise GraphError(f"output {out} is not one of the {len(self.nodes)} nodes")

    def __len__(self) -> int:
        return len(self.nodes)

    def __repr__(self) -> str:
        return f"<Graph {self.name}: {self.inputs} inputs, {len(self.operations)} operations; print it for the program>"

    def _repr_html_(self) -> str:
        """Notebooks show a picture, or the beginning of the program where it would be too large."""
        return self.svg() if len(self) <= 60 else page(str(self), lines=60)

    @property
    def operations(self) -> tuple[Node, ...]:
        return self.nodes[self.inputs :]

    @property
    def concrete(self) -> bool:
        """Was it recorded with real arrays (are there values to show)?"""
        return all(node.value is not None for node in self.nodes)

    def count(self) -> Counter[str]:
        """How often each operation is evaluated in one run."""
        return Counter(node.op.name for node in self.operations if node.op)

    def children(self, index: int) -> tuple[int, ...]:
        """The nodes that use node `index`.

        Parameters
        ----------
        index : int
            number of a node

        Returns
        -------
        tuple of int
            numbers of nodes
        """
        return tuple(i for i, node in enumerate(self.nodes) if index in node.parents)

    def read_inputs(self, args: tuple[Any, ...]) -> tuple[list[Any], dict[str, int]]:
        """The leaves of the arguments and the open sizes they fix; an error where they do not fit.

        Parameters
        ----------
        args : tuple[Any, ...]
            arguments as the function takes them

        Returns
        -------
        tuple
            the leaves, and the open sizes by name
        """
        leaves = matching_leaves(self.in_tree, args, self.name)
        sizes: dict[str, int] = {}
        for node, path, leaf in zip(self.nodes[: self.inputs], paths(self.in_tree), leaves, strict=True):
            if type(leaf) is Tracer and is_open(leaf.shape):
                continue
            if not np.can_cast(
                leaf.dtype if hasattr(leaf, "dtype") else np.asarray(leaf).dtype, node.dtype, "same_kind"
            ):
                raise ShapeError(
                    f"{self.name}: argument {node.name or path} is {np.asarray(leaf).dtype}, the graph was recorded "
                    f"for {node.dtype}: convert it with .astype, or record with that dtype"
                )
            if not bind(node.shape, np.shape(leaf), sizes):
                open_sizes = f" with {sizes}" if sizes else ""
                raise ShapeError(
                    f"{self.name}: argument {node.name or path} has shape {format_shape(np.shape(leaf))}, "
                    f"the graph was recorded for {format_shape(node.shape)}{open_sizes}"
                )
        return leaves, sizes

    # passes: graph -> graph

    def prune(self) -> Graph:
        """Without the nodes that no output needs."""
        return prune(self)

    def simplify(self) -> Graph:
        """Equal expressions computed once, and nothing that is not needed."""
        return prune(merge_equal(self))

    def rename(self, name: str) -> Graph:
        """The same graph under another name.

        Parameters
        ----------
        name : str
            the new one
        """
        return replace(self, name=name)

    # what people look at

    def __str__(self) -> str:
        return program.program(self)

    def table(self, mode: str = "forward", *, seed: Any = None, output: int = 0, digits: int = 3) -> TraceTable:
        """The trace tables of the lectures: values beside tangents ("forward") or adjoints ("reverse").

        Parameters
        ----------
        mode : str
            "forward", "reverse", or "primal" for the values alone
        seed : str | int | dict
            forward: the input to differentiate by, its name or number (the first by default; an array moves in all
            its elements at once), or a dict of names and tangents
        output : int
            reverse: the number of the output to start from
        digits : int
            of the numbers

        Returns
        -------
        TraceTable
            print it, or take `markdown()` and `html()`

        Examples
        --------
        >>> import numpy as np, pellucid as pel
        >>> print(pel.record(lambda x: np.sin(x) * x, 2.0).table("primal"))
        Forward primal trace
        ────────────────────────────────
        v₀ = x                   = 2
        v₁ = sin v₀  = sin 2     = 0.909
        v₂ = v₁ × v₀ = 0.909 × 2 = 1.819
        y  = v₂                  = 1.819
        """
        return trace_table(self, mode, seed=seed, output=output, digits=digits)

    def svg(self, mode: str = "primal", *, seed: Any = None, output: int = 0, digits: int = 3) -> str:
        """A picture as SVG text; values and derivatives stand in the boxes when there are any.

        Parameters
        ----------
        mode : str
            "primal", "forward" or "reverse": what stands in the boxes beside the values
        seed : str | int | dict
            as in `table`
        output : int
            as in `table`
        digits : int
            of the numbers

        Returns
        -------
        str
            a picture that needs nothing else
        """
        return pictures.svg(drawing(self, mode, seed=seed, output=output, digits=digits))

    def dot(self, mode: str = "primal", *, seed: Any = None, output: int = 0, digits: int = 3) -> str:
        """The same picture as text for Graphviz.

        Parameters
        ----------
        mode, seed, output, digits : str
            as in `svg`
        """
        return diagrams.dot(drawing(self, mode, seed=seed, output=output, digits=digits))

    def mermaid(self, mode: str = "primal", *, seed: Any = None, output: int = 0, digits: int = 3) -> str:
        """The same picture as text for Mermaid (Markdown on GitHub and elsewhere).

        Parameters
        ----------
        mode, seed, output, digits : str
            as in `svg`
        """
        return diagrams.mermaid(drawing(self, mode, seed=seed, output=output, digits=digits))

    def sympy(self, *symbols: Any) -> Any:
        """The output as a SymPy expression of scalar inputs (needs the extra `symbolic`).

        Parameters
        ----------
        *symbols
            what the inputs are called; without any, their own names
        """
        from pellucid.graph.show.symbolic import to_sympy

        return to_sympy(self, symbols)


def from_recording(
    recording: Recording, name: str, inputs: list[Tracer], in_tree: Tree, result: Any, names: list[str]
) -> Graph:
    """Freeze what was recorded between `inputs` and `result`, without what the result does not need."""
    leaves, out_tree = flatten(result)
    position = {id(t): i for i, t in enumerate(inputs)}
    copies: dict[
        int, tuple[Literal, Any]
    ] = {}  # each constant once (the original is kept so that its id stays its own)

    def argument(a: Any) -> int | Literal:
        if type(a) is Tracer and a.recording is recording:
            return position[id(a)]
        if id(a) not in copies:
            copies[id(a)] = (Literal(snapshot(a)), a)
        return copies[id(a)][0]

    def frozen(tracer: Tracer, label: str) -> Node:
        value = tracer.value if not isinstance(tracer.value, Spec | Tracer) else None
        spec = tracer.value if type(tracer.value) is Spec else spec_of(tracer.value)
        args = tuple(argument(a) for a in tracer.args)
        return Node(tracer.op, args, dict(tracer.settings), spec, label, tracer.scope, value)

    labels = distinct([t.name or n for t, n in zip(inputs, names, strict=True)])
    nodes = [frozen(t, label) for t, label in zip(inputs, labels, strict=True)]
    for tracer in recording.tape:
        if tracer.op is not None:
            nodes.append(frozen(tracer, tracer.name))
            position[id(tracer)] = len(nodes) - 1
    outputs = tuple(argument(leaf) for leaf in leaves)
    return Graph(name, tuple(nodes), len(inputs), outputs, in_tree, out_tree).prune()


def snapshot(value: Any) -> Any:
    """An array as it is now, whatever becomes of the original; anything else as it is."""
    if type(value) is not np.ndarray or not value.ndim:
        return value if type(value) is not list else snapshot(np.asarray(value))
    copy = value.copy()
    copy.flags.writeable = False
    return copy
