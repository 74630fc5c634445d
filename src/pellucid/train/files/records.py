"""Frozen records (networks, losses, penalties, optimisers, schedules) as plain JSON, and back.

A record is {"type": its class, field: value, ...}, with every field, so that a default that changes later changes no
old file. JSON's lists are tuples; what JSON has no word for is tagged (`TAGS`). Reading looks names up in a table of
Pellucid's own classes and in `custom`, the user's: nothing is imported, evaluated or called by a name from the file.
"""

from __future__ import annotations

import inspect
import math
import re
import warnings
from collections.abc import Callable, Iterable, Mapping
from dataclasses import MISSING, fields, is_dataclass, replace
from functools import cache
from numbers import Real
from types import ModuleType, UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

import numpy as np

from pellucid import nn, optim
from pellucid.errors import PellucidError
from pellucid.nn.initialisers import initializer as initialisers
from pellucid.records import Record
from pellucid.train.files.container import DTYPES

TAGS: dict[str, set[str]] = {  # what is not a record, and its keys
    "float": {"value"},  # inf, -inf, nan
    "list": {"items"},
    "dict": {"items"},  # pairs: keys need not be texts
    "array": {"dtype", "shape", "values"},  # of shape (): NumPy's numbers, which promote otherwise than Python's
    "dtype": {"name"},
    "activation": {"name", "parameters", "learned", "gain"},
    "initializer": {"name"},
    "given": set(),
    "link": {"name", "kind", "function"},  # without a function: one of the table
    "function": {"name"},
}
LINK_KINDS = nn.LinkKind.__members__
INITIALIZER = re.compile(r"(constant|normal|uniform)\((-?(?:\d[\d.]*(?:e[-+]?\d+)?|inf|nan))\)")
KINDS = (nn.Layer, nn.Loss, nn.Penalty, nn.MaxNorm, nn.Activation, nn.Interval)


class ConfigError(PellucidError, ValueError):
    """A record that cannot be described as plain data, or data that describe no record."""


@cache
def known_classes() -> dict[str, type]:
    """What may be read by name: the records of `nn` ("Dense"), and all frozen dataclasses of `optim` ("optim.Adam")."""
    of_nn = {cls.__name__: cls for cls in _classes(nn) if issubclass(cls, KINDS)}
    return of_nn | {f"optim.{cls.__name__}": cls for cls in _classes(optim)}


def _classes(room: ModuleType) -> list[type]:
    """The dataclasses that the modules of a room define, at any depth."""
    start, modules = f"{room.__name__}.", [room]
    for module in modules:
        parts = (part for part in vars(module).values() if isinstance(part, ModuleType) and part not in modules)
        modules += [part for part in parts if part.__name__.startswith(start)]
    classes = (cls for module in modules for cls in vars(module).values() if isinstance(cls, type))
    return [
        cls for cls in classes if is_dataclass(cls) and cls.__module__.startswith(start) and not inspect.isabstract(cls)
    ]


def describe(record: Any) -> Any:
    """A record as nested dicts, lists, numbers and texts, for `json.dumps`.

    Functions and classes of one's own are stored by name alone, the array inside `nn.given` not at all: it comes back
    as zeros, with a warning when they are used. (That matters only to who initialises anew.)

    >>> describe(nn.Sequential(nn.Dropout(), nn.Compute(nn.Flatten())))["parts"][0]
    ['dropout1', {'type': 'Dropout', 'rate': 0.5, 'convention': 'inverted'}]
    """
    return _write(record, type(record).__name__, {})


def described_or_text(record: Any) -> Any:
    """A record as plain data, or as text where it holds what cannot be stored."""
    try:
        return None if record is None else describe(record)
    except ConfigError:
        return repr(record)


def _write(value: Any, where: str, own: dict[str, Any]) -> Any:
    """`own`: the user's functions and classes so far, by name."""
    if value is None or type(value) in (bool, int, str, np.str_):
        return str(value) if type(value) is np.str_ else value
    if type(value) is float:
        return value if math.isfinite(value) else {"type": "float", "value": str(value)}
    if type(value) is tuple:
        return _write_all(value, where, own)
    if type(value) is list:
        return {"type": "list", "items": _write_all(value, where, own)}
    if isinstance(value, Mapping):
        return {"type": "dict", "items": _write_all(value.items(), where, own)}
    if (isinstance(value, np.generic) or type(value) is np.ndarray) and value.dtype.name in DTYPES:
        values = _write_all(np.ravel(value).tolist(), where, own)
        return {"type": "array", "dtype": value.dtype.name, "shape": list(value.shape), "values": values}
    if isinstance(value, np.dtype | type) and any(value == dtype for dtype in DTYPES.values()):
        return {"type": "dtype", "name": np.dtype(value).name}
    if isinstance(value, nn.Initializer):
        return _write_initializer(value, own)
    if isinstance(value, nn.Link):
        by_name = nn.LINKS.get(value.name) == value
        function = {} if by_name else {"function": _write(value.function, f"{where}.function", own)}
        return {"type": "link", "name": value.name, "kind": value.kind.name} | function
    if isinstance(value, nn.Activation) and value.name in nn.ACTIVATIONS:
        data = _write_activation(value, where, own)
        if restore(data) == value:
            return data
    if is_dataclass(value) and not isinstance(value, type):
        return _write_record(value, where, own)
    if callable(value) and not isinstance(value, KINDS):
        return {"type": "function", "name": _own_name(getattr(value, "__name__", type(value).__name__), value, own)}
    raise ConfigError(
        f"{where}: {value!r:.200} cannot be stored as plain data: a record is a class with @dataclass(frozen=True), "
        "its fields are numbers, texts, tuples, arrays, functions and other records"
    )


def _write_all(values: Iterable[Any], where: str, own: dict[str, Any]) -> list[Any]:
    return [_write(value, f"{where}[{i}]", own) for i, value in enumerate(values)]


def _write_record(record: Any, where: str, own: dict[str, Any]) -> dict[str, Any]:
    cls = type(record)
    data = {"type": next((name for name, candidate in known_classes().items() if candidate is cls), "")}
    if not data["type"]:  # the user's
        name, names_in_use = cls.__name__, {*known_classes(), *TAGS}
        ours = (base for base in reversed(cls.__mro__) if base.__module__.startswith("pellucid."))
        data["type"] = _own_name(f"{cls.__module__}.{name}" if name in names_in_use else name, cls, own)
        base = next((base for base in ours if base is not Record), Record)
        data["is"] = base.__name__.lower()  # for an error message; no field can be called by a keyword
    for one in fields(record):
        if one.name == "type":
            raise ConfigError(f"{where}: a field called 'type' cannot be stored: give it another name")
        if one.init:
            data[one.name] = _write(getattr(record, one.name), f"{where}.{one.name}", own)
    return data


def _write_activation(record: nn.Activation, where: str, own: dict[str, Any]) -> dict[str, Any]:
    data: dict[str, Any] = {"type": "activation", "name": record.name}
    for part, numbers in (("parameters", record.parameters), ("learned", record.learned)):
        if numbers:
            data[part] = {name: _write(number, f"{where}.{name}", own) for name, number in numbers.items()}
    if record.gain != nn.ACTIVATIONS[record.name].gain:
        data["gain"] = _write(record.gain, f"{where}.gain", own)
    return data


def _write_initializer(record: nn.Initializer, own: dict[str, Any]) -> dict[str, Any]:
    for name, builtin in nn.INITIALIZERS.items():
        if builtin.start is record.start and builtin == record:
            return {"type": "initializer", "name": name}
    ours = getattr(record.start, "__module__", "") in (initialisers.__name__, __name__)
    if ours and record.name.startswith("given"):
        return {"type": "given"}
    if ours and INITIALIZER.fullmatch(record.name):
        return {"type": "initializer", "name": record.name}
    return {"type": "function", "name": _own_name(record.name, record, own)}


def _own_name(name: str, thing: Any, own: dict[str, Any]) -> str:
    if own.setdefault(name, thing) != thing:
        raise ConfigError(f"two different things are called {name!r}: give them names of their own (def f, not lambda)")
    return name


def restore(data: Any, custom: Mapping[str, Any] | None = None) -> Any:
    """The record that `describe` described. `custom` has the user's own classes and functions by name.

    >>> restore({"type": "Dense", "units": 3})
    Dense(units=3, init='auto', bias=0.0, scaling='standard')
    """
    try:
        return _read(data, custom or {}, "the file")
    except RecursionError:
        raise ConfigError("the file is nested too deeply to be a network") from None


def _read(data: Any, custom: Mapping[str, Any], where: str) -> Any:
    if isinstance(data, dict) and isinstance(tag := data.get("type"), str):
        if tag not in TAGS:
            return _read_record(tag, data, custom)
        _only(f"{where}: {tag}", data, TAGS[tag])
    match data:
        case None | bool() | int() | float() | str():
            return data
        case list():
            return tuple(_read(value, custom, where) for value in data)
        case {"type": "float", "value": "inf" | "-inf" | "nan" as text}:
            return float(text)
        case {"type": "list", "items": list(items)}:
            return list(_read(items, custom, where))
        case {"type": "dict", "items": list(items)}:
            return _built(where, dict, _read(items, custom, where))
        case {"type": "dtype", "name": str(name)} if name in DTYPES:
            return DTYPES[name]
        case {"type": "array", "dtype": str(name), "shape": list(shape), "values": list(values)} if name in DTYPES:
            numbers = [_number(value, where) for value in values]
            return _built(where, lambda: np.array(numbers, DTYPES[name]).reshape(shape)[()])
        case {"type": "given"}:
            return nn.Initializer("given (not stored: zeros)", _forgotten)
        case {"type": "initializer", "name": str(name)} if name in nn.INITIALIZERS:
            return nn.INITIALIZERS[name]
        case {"type": "initializer", "name": str(name)} if match := INITIALIZER.fullmatch(name):
            number = int if match[2].lstrip("-").isdigit() else float
            kinds = {"constant": nn.constant, "normal": nn.normal, "uniform": nn.uniform}
            return _built(where, lambda: kinds[match[1]](number(match[2])))
        case {"type": "activation", "name": str(name)} if name in nn.ACTIVATIONS:
            return _read_activation(nn.ACTIVATIONS[name], data)
        case {"type": "link", "name": str(name), "kind": str(kind), "function": function} if kind in LINK_KINDS:
            return _built(where, nn.Link, name, _read(function, custom, where), LINK_KINDS[kind])
        case {"type": "link", "name": str(name), "kind": str(kind)} if name in nn.LINKS:
            return nn.LINKS[name]
        case {"type": "function", "name": str(name)} if callable(custom.get(name)):
            return custom[name]
        case {"type": "function" | "activation" | "initializer" as kind, "name": str(name)}:
            raise _unknown(kind, name)
    raise ConfigError(f"{where}: {data!r:.200} is not what pellucid writes")


def _read_record(tag: str, data: dict[str, Any], custom: Mapping[str, Any]) -> Any:
    cls = custom.get(tag, known_classes().get(tag))
    if cls is None:
        raise _unknown(data.get("is"), tag)
    if not (isinstance(cls, type) and is_dataclass(cls)):
        raise ConfigError(f"custom[{tag!r}] is to be a class, a frozen dataclass, got {cls!r:.200}")
    expected = {one.name: one for one in fields(cls) if one.init}
    _only(tag, data, {"is", *expected})
    for name, one in expected.items():
        if name not in data and one.default is MISSING and one.default_factory is MISSING:
            raise ConfigError(f"{tag} needs the field {name!r}, which the file does not have")
    values = {name: _read(data[name], custom, f"{tag}.{name}") for name in expected if name in data}
    for name, hint in _hints(cls).items() if cls is known_classes().get(tag) else ():
        if name in values and not _fits(values[name], hint):
            raise ConfigError(f"{tag}.{name} is to be {hint}, got {values[name]!r:.200}")
    return _built(tag, _make, cls, values)


def _make(cls: Any, values: dict[str, Any]) -> Any:
    """cls(**values); where it takes *parts, the one field that is no parameter goes there."""
    parameters = inspect.signature(cls).parameters.values()
    if all(one.kind is not one.VAR_POSITIONAL for one in parameters):
        return cls(**values)
    names = {one.name for one in parameters if one.kind is not one.VAR_POSITIONAL}
    first = [values.pop(one.name) for one in parameters if one.kind is one.POSITIONAL_OR_KEYWORD]
    (rest,) = (values.pop(name) for name in [*values] if name not in names)
    return cls(*first, *rest, **values)


def _read_activation(usual: nn.Activation, data: dict[str, Any]) -> Any:
    parts = [data.get("parameters", {}), data.get("learned", {})]
    if not all(isinstance(part, dict) for part in parts):
        raise ConfigError(f"{usual.name}: parameters and learned are numbers by name, got {parts!r:.200}")
    fixed, learned = ({name: _number(value, usual.name) for name, value in part.items()} for part in parts)
    if sorted([*fixed, *learned]) != sorted([*usual.parameters, *usual.learned]):
        raise ConfigError(f"{usual.name} has other numbers than the file: {', '.join([*fixed, *learned])}")
    gain = _number(data.get("gain", usual.gain), usual.name)
    if (fixed, learned, gain) == (usual.parameters, usual.learned, usual.gain):
        return usual
    return _built(usual.name, replace, usual, parameters=fixed, learned=learned, gain=gain)


def _forgotten(rng: np.random.Generator, shape: tuple[int, ...], fan_in: int, fan_out: int, gain: float) -> Any:
    warnings.warn("this network was stored without the arrays it was given to start: zeros instead", stacklevel=2)
    return np.zeros(shape)


# checks


def _only(who: str, data: dict[str, Any], names: set[str]) -> None:
    for key in data.keys() - names - {"type"}:
        raise ConfigError(f"{who} has no field {key!r:.200}: was the file written by a newer version?")


def _unknown(kind: Any, name: str) -> ConfigError:
    kind = kind if isinstance(kind, str) and re.fullmatch("[a-z]{1,20}", kind) else "record"
    remedy = {
        "activation": "enter it by nn.register_activation before loading",
        "initializer": "enter it into nn.INITIALIZERS before loading",
    }.get(kind, f"pass custom={{{name!r:.200}: {name.rpartition('.')[2].strip('<>'):.200}}}")
    article = "an" if kind[0] in "aeiou" else "a"
    return ConfigError(f"the file describes {article} {kind} {name!r:.200} that pellucid does not know: {remedy}")


def _built(who: str, make: Callable[..., Any], *values: Any, **settings: Any) -> Any:
    """What a constructor makes; whatever it raises on wrong values is an error of the file."""
    try:
        return make(*values, **settings)
    except Exception as error:
        raise ConfigError(f"{who} cannot be made from the file: {error}") from error


def _number(data: Any, where: str) -> Any:
    value = _read(data, {}, where)
    if not isinstance(value, Real | np.bool_):
        raise ConfigError(f"{where}: expected a number, got {value!r:.200}")
    return value


@cache
def _hints(cls: type) -> dict[str, Any]:
    try:
        return get_type_hints(cls)
    except NameError:  # a name that exists for type checkers only
        return {}


def _fits(value: Any, hint: Any) -> bool:
    """Is a value of the kind that a class declares? In doubt, yes."""
    origin, args = get_origin(hint), get_args(hint)
    if origin in (Union, UnionType):
        return any(_fits(value, one) for one in args)
    if origin is tuple and isinstance(value, tuple | list):
        kinds = [args[0]] * len(value) if args[-1] is Ellipsis else args
        return len(kinds) == len(value) and all(map(_fits, value, kinds))
    if hint in (bool, int, float):
        return isinstance(value, Real | np.bool_ | np.ndarray)
    kind = origin or hint
    return kind is Any or not isinstance(kind, type) or isinstance(value, kind)
