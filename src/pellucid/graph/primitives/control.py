"""Steering derivatives: stopping them, giving one's own, and staying clear of what is not selected."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, TypeVar, overload

import numpy as np

from pellucid.errors import DifferentiationError
from pellucid.graph.core.dims import Dim
from pellucid.graph.core.primitive import EachArgument, Primitive, Rule, make, primitive, pull_back
from pellucid.graph.core.spec import Spec
from pellucid.graph.core.tracer import Recording, Tracer

Function = TypeVar("Function", bound=Callable[..., Any])

stop_gradient_node = primitive("stop_gradient", lambda x: x, shape=lambda x: x, jvp=(None,), vjp=(None,))


def stop_gradient(x: Any) -> Any:
    """The same value, but derivatives take it for a constant.

    Parameters
    ----------
    x : array
        any

    Returns
    -------
    array
        x

    Examples
    --------
    >>> import pellucid as pel
    >>> float(pel.grad(lambda x: x * pel.stop_gradient(x))(3.0))
    3.0
    """
    return stop_gradient_node(x)


def safe_where(condition: Any, f: Callable[[Any], Any], x: Any, otherwise: Any = 0.0, *, fill: Any = 1.0) -> Any:
    """f(x) where the condition holds, `otherwise` elsewhere, with a derivative that is finite everywhere.

    `np.where(x > 0, np.log(x), 0)` has the right value, but its derivative at 0 is 0 * inf = NaN: both branches are
    differentiated. The remedy is to keep the bad points away from `f` too.

    Parameters
    ----------
    condition : array of bool
        where f is to be taken
    f : Callable[[Any], Any]
        a function of one array
    x : array
        its argument
    otherwise : array | number
        the value elsewhere
    fill : array | number
        a harmless point for `f`

    Returns
    -------
    array
        the shape of all of them, broadcast

    Examples
    --------
    >>> import numpy as np, pellucid as pel
    >>> f = lambda x: np.sum(safe_where(x > 0, np.log, x))
    >>> pel.grad(f)(np.array([0.0, 2.0]))
    array([0. , 0.5])
    """
    return np.where(condition, f(np.where(condition, x, fill)), otherwise)


@overload
def custom_rule(f: Function, *, slope: Any = ..., jvp: Any = ..., vjp: Any = ..., shape: Any = ...) -> Function: ...


@overload
def custom_rule(
    f: None = None, *, slope: Any = ..., jvp: Any = ..., vjp: Any = ..., shape: Any = ...
) -> Callable[[Function], Function]: ...


def custom_rule(
    f: Callable[..., Any] | None = None,
    *,
    slope: Sequence[Rule | None] | Rule | None = None,
    jvp: Any = None,
    vjp: Any = None,
    shape: Callable[..., Spec] | None = None,
) -> Any:
    """Give a function of arrays its own derivative. Use as a decorator.

    Settings of the function are keyword arguments; rules receive them too. A mode without a rule raises an error
    when it is asked for.

    Parameters
    ----------
    f : Callable | None
        the function, in plain NumPy; left out in `@custom_rule(...)`
    slope : Sequence[Rule | None] | Rule | None
        for an elementwise function: `rule(d, y, *xs)` for each array argument (or just the rule, where there is
        one), d times the slope; it serves both modes
    jvp : rule or sequence of rules
        forward mode: (d, y, *xs) -> tangent of y, for each array argument
    vjp : rule or sequence of rules
        reverse mode: (d, y, *xs) -> adjoint of that argument, for each
    shape : Callable[..., Spec] | None
        needed only where the function cannot be recorded by shape, because it is not made of NumPy operations:
        `Spec`s in place of arrays -> the Spec of the result

    Returns
    -------
    Callable
        the function, with that derivative

    Examples
    --------
    >>> import numpy as np, pellucid as pel
    >>> @custom_rule(slope=lambda d, y, x: d)  # straight-through: rounds, but learns as if it did not
    ... def quantise(x):
    ...     return np.round(x)
    >>> float(pel.grad(lambda x: quantise(x) ** 2)(1.4))
    2.0
    """
    if f is None:
        return functools.partial(custom_rule, slope=slope, jvp=jvp, vjp=vjp, shape=shape)
    if slope is not None:
        if jvp is not None or vjp is not None:
            raise TypeError("custom_rule takes slope= (both modes), or jvp= and vjp=, not both kinds")
        jvp = (slope,) if callable(slope) else tuple(slope)
        vjp = tuple(pull_back(i, rule) for i, rule in enumerate(jvp))
    jvp, vjp = ((rules,) if callable(rules) else rules for rules in (jvp, vjp))
    if jvp is None and vjp is None:
        raise TypeError("custom_rule needs slope=, jvp= or vjp=: without a rule, just call the function")
    name = getattr(f, "__name__", "custom").strip("<>")
    if vjp is not None and not isinstance(vjp, EachArgument):
        vjp = tuple(None if rule is None else _checked(name, i, rule) for i, rule in enumerate(vjp))
    node: Primitive = make(name, f, shape=shape or _recorded_shape(f), jvp=jvp, vjp=vjp)

    @functools.wraps(f)
    def wrapped(*args: Any, **settings: Any) -> Any:
        return node(*args, **settings)

    return wrapped


def _checked(name: str, position: int, rule: Rule) -> Rule:
    """A vjp rule of the user's: what it returns must fit its argument."""

    def vjp(d: Any, y: Any, *xs: Any, **settings: Any) -> Any:
        share = rule(d, y, *xs, **settings)
        if share is not None and np.shape(share) != np.shape(xs[position]):
            raise DifferentiationError(
                f"the vjp rule of {name!r} for argument {position} returned shape {np.shape(share)}, "
                f"the argument has shape {np.shape(xs[position])}"
            )
        return share if share is None or hasattr(share, "dtype") else np.asarray(share, d.dtype)[()]

    return vjp


def _recorded_shape(f: Callable[..., Any]) -> Callable[..., Spec]:
    """The shape rule of a function made of NumPy operations: run it on shapes."""

    def shape(*xs: Spec, **settings: Any) -> Spec:
        with Recording() as recording:
            out = f(*(recording.input(x) for x in xs), **settings)
        spec = out.value if type(out) is Tracer else Spec(np.shape(out), np.asarray(out).dtype)
        recording.close()
        homes = [size.home for x in xs for size in x.shape if isinstance(size, Dim)]
        at_home = tuple(size.at(homes[0]) if isinstance(size, Dim) else size for size in spec.shape)
        return Spec(at_home, spec.dtype)

    return shape
