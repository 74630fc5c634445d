"""How to make the run again: versions, parameters, seeds, a fingerprint of the data, code."""

from __future__ import annotations

import hashlib
import importlib.metadata
import os
import platform
import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

import pellucid
from pellucid import nn, optim
from pellucid.report.elements import absent, code, element, heading, joined, paragraph, table
from pellucid.report.predictor import Predictor, last_step
from pellucid.report.rows import Sample
from pellucid.report.sections.section import Section
from pellucid.train import History, Model

PACKAGES = ("pellucid", "numpy", "scipy", "scikit-learn", "llvmlite", "pandas")


def reproduce_section(
    asked: Predictor, history: History | None, samples: Sequence[Sample | None], own_code: str | None
) -> Section:
    """Everything that somebody needs to get the same numbers."""
    parts = [
        heading("Code"),
        code(own_code if own_code is not None else program(asked, history)),
        None
        if own_code is not None
        else absent(
            "This is what can be told from the fitted model. To have your own program here:",
            "pellucid.report(..., code=open(__file__).read())",
        ),
        heading("Settings"),
        table([(element("code", name), value) for name, value in settings(asked, history)], ("parameter", "value")),
        heading("Versions"),
        table(versions(), ("", "version")),
    ]
    prints = [
        (f"{each.name}, {len(each):,}", element("code", fingerprint(each))) for each in samples if each is not None
    ]
    if prints:
        parts += [
            heading("Data"),
            paragraph("Fingerprints (SHA-256 of values and names): the same rows give the same ones."),
            table(prints, ("rows", "fingerprint")),
        ]
    return Section("reproduce", "How to reproduce it", joined(parts))


def program(asked: Predictor, history: History | None) -> str:
    """The calls that make such a model and train it, as far as a fitted one can tell."""
    if not isinstance(asked.thing, Model):
        made = asked.thing.__repr__(N_CHAR_MAX=1_000_000)
        return f"{_imports(made)}\nmodel = {made}\nmodel.fit(X, y)"
    model = asked.thing
    extras = [f"metrics={[metric.name for metric in model.metrics]}"] if model.metrics else []
    extras += [f"penalty={model.penalty!r}"] if model.penalty is not None else []
    extras += [f"dtype={model.dtype.name!r}"] if model.dtype != np.float32 else []
    extras += [f"settings={model.settings!r}"] if model.settings else []
    arguments = [_network(model.net), _loss(model), _rule(model), *extras]
    inner = "".join(f"    {argument},\n" for argument in arguments)
    fit = "model.fit(X, y"
    if history is not None and len(history):
        fit += f", epochs={len(history)}"
        fit += "" if history.batch_size is None else f", batch_size={history.batch_size}"
    made = f"model = Model(\n{inner})"
    return f"{_imports(made)}\n{made}\nhistory = {fit})  # and the seed= and validation= of your call"


def _network(net: nn.Layer) -> str:
    """The network as code, one line for each layer of a sequence."""
    if not isinstance(net, nn.Sequential):
        return _code(net)
    layers = "".join(f"        ({name!r}, {_code(layer)}),\n" for name, layer in net.children)
    return f"Sequential(\n{layers}    )"


def _code(layer: nn.Layer) -> str:
    """A layer as code: activations show themselves by their names alone."""
    return re.sub(r"\bActivate\(('\w+')\)", r"Activate(activation(\1))", repr(layer))


def _loss(model: Model) -> str:
    """The loss by its name, where that says it all."""
    try:
        return repr(model.loss.name) if nn.loss(model.loss.name) == model.loss else repr(model.loss)
    except (KeyError, TypeError, ValueError):  # one of the user's own
        return repr(model.loss)


def _rule(model: Model) -> str:
    """The rule alone, where nothing is around it."""
    optimizer = model.optimizer
    return repr(optimizer if optimizer.links or optimizer.groups else optimizer.rule)


def _imports(made: str) -> str:
    """Where the names in a program come from: as far as they are ours."""
    words = sorted(set(re.findall(r"\b([A-Z]\w+|activation)\(", made)))
    lines = []
    for room, module in (("pellucid", pellucid), ("pellucid.nn", nn), ("pellucid.optim", optim)):
        names = [word for word in words if hasattr(module, word)]
        words = [word for word in words if word not in names]
        lines += [f"from {room} import {', '.join(names)}\n"] if names else []
    return "".join(lines)


def settings(asked: Predictor, history: History | None) -> list[tuple[str, str]]:
    """Parameters that are not as usual, and what was chosen inside."""
    model, lines = asked.model, []
    end = last_step(asked.thing)
    if not isinstance(end, Model):
        usual = type(end)().get_params(deep=False)
        for name, value in end.get_params(deep=False).items():
            if repr(value) != repr(usual.get(name)):
                lines.append((name, _brief(value)))
        seed = getattr(getattr(end, "fitted", None), "seed", None)
        if seed is not None:
            lines.append(("seed of batches and dropout", str(seed)))
    lines += [("engine", model.engine), ("dtype", str(model.dtype))]
    if model.threads is not None:
        lines.append(("threads", str(model.threads)))
    lines += [("optimizer", repr(model.optimizer.rule)), ("loss", repr(model.loss))]
    if model.penalty is not None:
        lines.append(("penalty", repr(model.penalty)))
    if history is not None and history.batch_size is not None:
        lines.append(("batch size", str(history.batch_size)))
    return lines


def _brief(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 300 else f"{text[:300]}…"


def versions() -> list[tuple[str, str]]:
    """Of Python, of packages, of the machine."""
    lines = [("Python", platform.python_version())]
    for name in PACKAGES:
        try:
            lines.append((name, importlib.metadata.version(name)))
        except importlib.metadata.PackageNotFoundError:
            continue
    lines.append(("machine", f"{platform.system()} {platform.machine()}, {os.cpu_count()} processors"))
    return lines


def fingerprint(rows: Sample) -> str:
    """The same for the same rows in the same kind of container."""
    digest = hashlib.sha256()
    if rows.sparse:
        matrix = rows.X.tocsr()
        for part in (matrix.indptr, matrix.indices, matrix.data):
            digest.update(np.ascontiguousarray(part).tobytes())
    elif isinstance(rows.X, pd.DataFrame):
        digest.update("\n".join(rows.columns).encode())
        digest.update(pd.util.hash_pandas_object(rows.X, index=False).to_numpy().tobytes())
    else:
        digest.update(_bytes(rows.X))
    digest.update(_bytes(rows.y))
    return digest.hexdigest()[:16]


def _bytes(values: Any) -> bytes:
    array = np.asarray(values)
    if array.dtype.kind in "OUST":
        return "\n".join(map(str, array.ravel().tolist())).encode()
    return np.ascontiguousarray(array).tobytes()
