"""Recording: arrays that remember how they came about.

A `Tracer` stands in for an array. Whatever NumPy does with it arrives here, through the operators, through
`__array_ufunc__` and through `__array_function__`, and is noted on the `Recording` it belongs to. Its
`value` is an array (concrete recording: Python control flow works), a `Spec` (abstract recording: shapes
only), or a tracer of an outer recording. The last is how derivatives of derivatives come for free: the
rules of the inner recording compute with tracers of the outer one.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import numpy as np

from pellucid.errors import (
    AbstractValueError,
    NoSuchAttributeError,
    PellucidError,
    ShapeError,
    StaleTracerError,
    UnsupportedError,
)
from pellucid.graph.core.dims import RECORD, Dim, Size, product
from pellucid.graph.core.operators import Operators
from pellucid.graph.core.primitive import FUNCTIONS, METHODS, REGISTRY, UFUNCS, Primitive
from pellucid.graph.core.spec import SCALARS, Spec, format_shape, spec_of

_levels = itertools.count()
_scope: ContextVar[str] = ContextVar("pellucid_scope", default="")

NOTHING: dict[str, Any] = {}


class Recording:
    """The tape: what was computed, in order. A later recording lies inside the earlier ones.

    `with recording:` stands around the call of the user's function.
    """

    __slots__ = ("closed", "level", "tape")

    def __init__(self) -> None:
        self.level = next(_levels)
        self.tape: list[Tracer] = []
        self.closed = False

    def __enter__(self) -> Recording:
        return self

    def __exit__(self, kind: Any, *rest: Any) -> None:
        if kind is not None:
            self.close()

    def close(self) -> None:
        """Nothing more can be recorded. The tape and its tracers refer to each other; here they part."""
        self.closed = True
        self.tape.clear()

    def input(self, value: Any, name: str = "") -> Tracer:
        """A variable to record with: an array, a Python number, a spec, or a tracer of an outer recording."""
        if type(value) is Spec:
            shape = tuple(s.at(self) if isinstance(s, Dim) else s for s in value.shape)
            value = Spec(shape, np.dtype(value.dtype))
        elif type(value) is not Tracer:
            value = np.asarray(value)[()]  # 0-d arrays become NumPy numbers, which are faster
        tracer = Tracer(self, None, (), (), NOTHING, value)
        tracer.name = name
        return tracer

    def constant(self, value: Any) -> Any:
        """A constant among the arguments, as it is now: an array that may change is copied."""
        if isinstance(value, np.ndarray):
            if value.dtype.kind == "c":
                raise UnsupportedError(_COMPLEX.format(value.dtype))
            return value.copy() if value.flags.writeable or value.base is not None else value
        kind = type(value)
        if kind in SCALARS or isinstance(value, np.generic | Dim):
            if isinstance(value, np.complexfloating):
                raise UnsupportedError(_COMPLEX.format(value.dtype))
            return value
        if kind is complex:
            raise UnsupportedError(_COMPLEX.format("complex"))
        if value is None or isinstance(value, str):
            raise UnsupportedError(f"an operation on a traced array and {value!r}: numbers and arrays go together")
        return self.constant(np.asarray(value))


_COMPLEX = "complex numbers ({}) are not recorded: write real and imaginary part as two arrays"


class Tracer(Operators):
    """An array that is being recorded. It behaves as a NumPy array does; it cannot be changed in place."""

    __slots__ = (
        "__weakref__",
        "args",
        "index",
        "inputs",
        "name",
        "op",
        "recording",
        "scope",
        "settings",
        "value",
    )

    def __init__(
        self,
        recording: Recording,
        op: Primitive | None,
        args: tuple[Any, ...],
        inputs: tuple[Any, ...],
        settings: dict[str, Any],
        value: Any,
    ) -> None:
        self.recording = recording
        self.op = op  # None for an input of the recording
        self.args = args  # as they came: tracers of this recording, and constants
        self.inputs = inputs  # their values at this level
        self.settings = settings
        self.value = value
        self.name = ""
        self.scope = _scope.get()
        tape = recording.tape
        self.index = len(tape)
        tape.append(self)

    # what is known of it

    @property
    def shape(self) -> Any:
        return self.value.shape

    @property
    def dtype(self) -> Any:
        return self.value.dtype

    @property
    def ndim(self) -> int:
        return len(self.value.shape)

    @property
    def size(self) -> Size:
        return product(self.value.shape)

    @property
    def T(self) -> Any:
        return apply(REGISTRY["transpose"], (self,), {"axes": tuple(range(self.ndim))[::-1]})

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("len() of a traced array without dimensions")
        return int(self.shape[0].__index__())

    def __iter__(self) -> Iterator[Any]:
        return (self[i] for i in range(len(self)))

    def __repr__(self) -> str:
        shown = self.value if not isinstance(self.value, Spec | Tracer) else spec_of(self.value)
        return f"Tracer({shown!r})"

    def __hash__(self) -> int:
        return id(self)

    def __getitem__(self, index: Any) -> Any:
        return METHODS["__getitem__"](self, index)

    def __getattr__(self, name: str) -> Any:
        method = METHODS.get(name)
        if method is None:
            if name.startswith("__"):
                raise AttributeError(name)
            methods = ", ".join(sorted(m for m in METHODS if m[0] != "_"))
            hint = " x.sort() sorts in place: write x = np.sort(x)." if name == "sort" else ""
            raise NoSuchAttributeError(
                f"a traced array has no attribute {name!r}.{hint} It has {methods}; write other operations with numpy "
                "functions"
            )
        return lambda *args, **kwargs: method(self, *args, **kwargs)

    # NumPy's doors

    def __array_ufunc__(self, ufunc: Any, method: str, *args: Any, **kwargs: Any) -> Any:
        op = UFUNCS.get(ufunc)
        if op is not None and method == "__call__" and not kwargs:
            return apply(op, args)
        return METHODS["__array_ufunc__"](ufunc, method, args, kwargs)

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        handler = FUNCTIONS.get(func)
        if handler is None:
            handler = METHODS["__array_function__"](func)
        return handler(*args, **kwargs)

    # what cannot be

    def __setitem__(self, index: Any, value: Any) -> None:
        raise UnsupportedError(
            f"a traced array cannot be changed in place (x[{index!r}] = ...): a graph has no order of time. "
            "Build the new array instead: np.where(mask, new, x), np.concatenate, np.stack or np.pad"
        )

    def __array__(self, *args: Any, **kwargs: Any) -> Any:
        raise UnsupportedError(
            "a traced array cannot be turned into a plain one (np.array, np.asarray, a function that NumPy does not "
            "dispatch, such as most of scipy, or a pandas object as the other operand): its history would be lost. "
            "To join several, use np.stack or np.concatenate; for pandas .to_numpy() first; scipy.special.logsumexp "
            "and softmax have twins that can be traced, pellucid.logsumexp and pellucid.softmax"
        )

    def known(self, what: str) -> Any:
        """The value behind a concrete recording."""
        value = self.value
        while type(value) is Tracer:
            value = value.value
        if type(value) is Spec:
            raise AbstractValueError(
                f"{what} needs the value of a {format_shape(value.shape)} {value.dtype} array, but the function is "
                "recorded by shape alone. Choose with np.where(condition, a, b), or record with real arrays"
            )
        return value

    def __bool__(self) -> bool:
        return bool(self.known("a branch (if, while, and, or, not, assert)"))

    def __index__(self) -> int:
        value = self.known("an index")
        if np.asarray(value).dtype.kind not in "iu":
            raise UnsupportedError(f"an index or a count must be an integer, got a traced {self.dtype} array")
        return int(value)

    __int__ = __index__

    def __float__(self) -> float:
        raise UnsupportedError(
            "a traced array as a plain number (float(x), math.sin(x), out[i] = x) would lose its history. Use numpy "
            "functions (np.sin, not math.sin), and np.stack or np.concatenate instead of assignments into a plain array"
        )

    def __format__(self, spec: str) -> str:
        """To print on the way: the value, where it is known."""
        value = self.value
        while type(value) is Tracer:
            value = value.value
        return str(self) if type(value) is Spec else format(value, spec)

    def __round__(self, digits: int | None = None) -> Any:
        return np.round(self, digits or 0)

    def __copy__(self) -> Tracer:
        return self  # it cannot change

    def __deepcopy__(self, memo: Any) -> Tracer:
        return self


def apply(op: Primitive, args: tuple[Any, ...], settings: dict[str, Any] = NOTHING) -> Any:
    """Evaluate `op`, and note it on the innermost recording that its arguments belong to."""
    top: Recording | None = None
    constants = False
    for a in args:
        if type(a) is Tracer:
            recording = a.recording
            if top is None or recording.level > top.level:
                top = recording
        elif type(a) is not float and type(a) is not int:
            constants = True
    if top is None:
        top = _home((*args, *settings.values()))
        if top is None:
            return _evaluate(op, args, settings)
        return Tracer(top, op, args, args, settings, op.shape(*[spec_of(a) for a in args], **settings))
    if top.closed:
        raise StaleTracerError(
            f"{op.name}: a traced array outlived the call it was made in (grad, jvp, record, ...): do not keep it in "
            "a variable outside; return it, as in (loss, extras) with has_aux=True"
        )
    if constants:
        args = tuple([a if type(a) is Tracer else top.constant(a) for a in args])
    inputs = tuple([a.value if type(a) is Tracer and a.recording is top else a for a in args])
    return Tracer(top, op, args, inputs, settings, _evaluate(op, inputs, settings))


def _evaluate(op: Primitive, inputs: tuple[Any, ...], settings: dict[str, Any]) -> Any:
    for v in inputs:
        kind = type(v)
        if kind is Tracer:
            return apply(op, inputs, settings)
        if kind is Spec or kind is Dim:
            return op.shape(*[spec_of(v) for v in inputs], **settings)
    try:
        return op.value(*inputs, **settings)
    except PellucidError:
        raise
    except (ValueError, IndexError) as error:
        if REGISTRY.get(op.name) is not op:
            raise  # a user's own function speaks for itself
        shapes = ", ".join(format_shape(np.shape(v)) for v in inputs)
        raise ShapeError(f"{op.name} of arrays of shape {shapes}{_listed(settings)}: {error}") from error


def _home(values: tuple[Any, ...]) -> Recording | None:
    """The recording in which a size among these values is open."""
    for value in values:
        if type(value) is Dim:
            return value.home  # type: ignore[no-any-return]
        if type(value) is tuple:
            home = _home(value)
            if home is not None:
                return home
    return None


def _record_size(operation: Any, args: tuple[Any, ...]) -> Any:
    """Arithmetic with an open size, by the name of a primitive or as a ufunc."""
    if isinstance(operation, str):
        return apply(REGISTRY[operation], args)
    if operation in UFUNCS:
        return apply(UFUNCS[operation], args)
    return METHODS["__array_ufunc__"](operation, "__call__", args, {})


RECORD.append(_record_size)


def _listed(settings: dict[str, Any]) -> str:
    return "".join(f", {key}={value!r}" for key, value in settings.items())


@contextmanager
def scope(name: str) -> Iterator[None]:
    """Nodes recorded inside carry this name; scopes nest with a slash.

    Parameters
    ----------
    name : str
        of the part that is recorded inside

    Examples
    --------
    >>> with scope("hidden1"):
    ...     pass
    """
    outer = _scope.get()
    token = _scope.set(f"{outer}/{name}" if outer else name)
    try:
        yield
    finally:
        _scope.reset(token)


def named(x: Any, name: str) -> Any:
    """Give a recorded array a name to be shown under; plain arrays pass through.

    Parameters
    ----------
    x : array
        recorded or plain
    name : str
        to be shown under

    Returns
    -------
    array
        x itself

    Examples
    --------
    >>> named(3.0, "z")
    3.0
    """
    inner = x
    while type(inner) is Tracer:
        inner.name = name
        inner = inner.value
    return x
