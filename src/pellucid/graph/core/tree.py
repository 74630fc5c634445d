"""Nested dicts, lists and tuples of arrays: taken apart into a flat list and put together again.

A path such as `['hidden1'][0]` names each leaf.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from pellucid.errors import ShapeError


@dataclass(frozen=True)
class Tree:
    """The structure of a nest without its leaves."""

    kind: Any  # None for a leaf, else dict, list, tuple or a named tuple's class
    keys: tuple[Any, ...] = ()
    children: tuple[Tree, ...] = ()

    @property
    def size(self) -> int:
        """The number of leaves."""
        return 1 if self.kind is None else sum(child.size for child in self.children)


LEAF = Tree(None)


def flatten(nest: Any) -> tuple[list[Any], Tree]:
    """The leaves from left to right (dicts in their own order), and the structure.

    >>> flatten({"W": 1, "b": [2, 3]})[0]
    [1, 2, 3]
    """
    kind = type(nest)
    if isinstance(nest, dict):
        kind = dict  # an OrderedDict or defaultdict comes back as a plain dict
        keys, items = tuple(nest), list(nest.values())
    elif kind is list or isinstance(nest, tuple):
        keys, items = tuple(range(len(nest))), list(nest)
    else:
        return [nest], LEAF
    leaves: list[Any] = []
    children = []
    for item in items:
        more, child = flatten(item)
        leaves += more
        children.append(child)
    return leaves, Tree(kind, keys, tuple(children))


def unflatten(tree: Tree, leaves: Sequence[Any]) -> Any:
    """The nest again. `leaves` has one entry for each leaf of `tree`."""
    return _build(tree, iter(leaves))


def _build(tree: Tree, rest: Iterator[Any]) -> Any:
    # not a closure inside `unflatten`: one that calls itself would keep the leaves alive
    if tree.kind is None:
        return next(rest)
    items = [_build(child, rest) for child in tree.children]
    if tree.kind is dict:
        return dict(zip(tree.keys, items, strict=True))
    if tree.kind in (list, tuple):
        return tree.kind(items)
    return tree.kind(*items)  # a named tuple


def paths(tree: Tree, prefix: str = "") -> list[str]:
    """A name for each leaf: `['W']`, `[0]`, ... behind the prefix."""
    if tree.kind is None:
        return [prefix]
    return [
        path for key, child in zip(tree.keys, tree.children, strict=True) for path in paths(child, f"{prefix}[{key!r}]")
    ]


def tree_map(f: Callable[..., Any], nest: Any, *others: Any) -> Any:
    """Apply `f` leaf by leaf to one or several nests of the same structure.

    Parameters
    ----------
    f : Callable
        a function of one leaf of each nest
    nest : array | nest
        dicts, lists and tuples, nested
    *others
        nests of the same structure

    Returns
    -------
    nest
        the results, in the same structure

    Examples
    --------
    >>> tree_map(lambda w, g: w - 0.5 * g, {"w": 1.0, "b": [2.0]}, {"w": 2.0, "b": [4.0]})
    {'w': 0.0, 'b': [0.0]}
    """
    leaves, tree = flatten(nest)
    columns = [leaves, *(matching_leaves(tree, other, "tree_map") for other in others)]
    return unflatten(tree, [f(*row) for row in zip(*columns, strict=True)])


def matching_leaves(tree: Tree, nest: Any, what: str) -> list[Any]:
    """The leaves of `nest`, which must have the structure `tree` (dicts in any order of their keys)."""
    if tree.kind is None:
        return [nest]
    if tree.kind is dict:
        fits = isinstance(nest, dict) and set(nest) == set(tree.keys)
    else:
        fits = isinstance(nest, tree.kind) and len(nest) == len(tree.keys)
    if not fits:
        got = list(nest) if isinstance(nest, dict) else f"{len(nest)} items" if isinstance(nest, list | tuple) else ""
        raise ShapeError(
            f"{what}: expected a {tree.kind.__name__} with {list(tree.keys)}, got {type(nest).__name__} {got}".rstrip()
        )
    return [
        leaf
        for key, child in zip(tree.keys, tree.children, strict=True)
        for leaf in matching_leaves(child, nest[key], f"{what}[{key!r}]")
    ]
