"""Files of models, estimators and checkpoints that were damaged or forged: they load, or an error of ours says why not.

Damage (bytes changed, cut off, put in) must be refused. A forgery has the checksum that belongs to its contents, so
it may load; but it raises nothing raw, takes no memory that it does not have, and comes to an end.
"""

from __future__ import annotations

import copy
import json
import resource
import signal
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

import pellucid as pel
from benchmarks.memory import status
from pellucid import nn, optim, train
from pellucid.errors import PellucidError
from pellucid.train.files.container import read, write
from soak.forging import changed_arrays, changed_tree, damaged, parsed, sealed
from soak.part import Failures, Figure, Part
from soak.samples import numbers, table

MEMORY = 2**30
"""Bytes that loading a file of some KB may ask the system for. It needs a thousandth of it."""
PATIENCE = 30
"""Seconds after which loading a file hangs."""


class Hangs(BaseException):
    """A file that was still being loaded after a long time."""


def run(cases: range, seed: int, advance: Callable[[], None]) -> Iterable[Figure]:
    """A case is one file, and the attempt to load it."""
    failures, refused = Failures(), 0
    with tempfile.TemporaryDirectory() as folder:
        originals = list(_originals(Path(folder), np.random.default_rng(seed)))
        path = Path(folder) / "forged"
        for case in cases:
            rng = np.random.default_rng([seed, case])
            kind, raw, load = originals[case % len(originals)]
            way = (_damage, _forge_header, _forge_contents)[case // len(originals) % 3]
            way(path, raw, kind, rng)
            if path.read_bytes() == raw:  # a change that changes nothing
                advance()
                continue
            try:
                with _limits():
                    load(path)
                if way is _damage:
                    failures.add(case, f"{kind}: a damaged file was loaded")
            except PellucidError:
                refused += 1
            except (Exception, Hangs) as error:
                failures.add(case, f"{kind}, {way.__name__}: {type(error).__name__}: {error}"[:300])
            advance()
    yield from failures.figures("files that load, or are refused by an error of ours", len(cases))
    yield Figure("refused", f"{refused:,}")


def _originals(folder: Path, rng: np.random.Generator) -> Iterator[tuple[str, bytes, Callable[[Path], Any]]]:
    """(kind, bytes, how it is loaded) of files that are as they should be."""
    X, labels = numbers(rng, 60), rng.integers(0, 3, 60)
    path = folder / "original"

    def fit(resume: Path | None = None) -> Any:
        net = nn.mlp((6, 4), 3, activation=nn.PReLU(), norm="batch", dropout=0.1)
        rule = optim.chain(optim.ClipNorm(1.0), optim.Adam(optim.Cosine(0.01)), optim.EMA(0.9))
        model = pel.Model(net, nn.loss("cross_entropy", smoothing=0.1), rule, ["accuracy"], penalty=nn.L2(1e-4))
        callbacks = [train.EarlyStopping(5), train.Checkpoint(path, every=2)]
        model.fit(
            X, labels, epochs=3, validation=(X, labels), callbacks=callbacks, verbose=False, seed=1, resume=resume
        )
        return model

    model = fit()
    yield "checkpoint", path.read_bytes(), fit
    short = {"max_iter": 2, "random_state": 0}
    for kind, fitted in (
        ("model", model),
        ("estimator", pel.MLPClassifier((5,), early_stopping=True, **short).fit(X, np.array(["a", "b", "c"])[labels])),
        ("estimator", pel.TabularMLPClassifier((5,), **short).fit(table(rng, 60), labels)),
        ("estimator", pel.BaggedMLPClassifier(pel.MLPClassifier((4,), **short), 2, random_state=0).fit(X, labels)),
    ):
        fitted.save(path)
        yield kind, path.read_bytes(), pel.load


# ways to spoil a file


def _damage(path: Path, raw: bytes, kind: str, rng: np.random.Generator) -> None:
    path.write_bytes(damaged(raw, rng))


def _forge_header(path: Path, raw: bytes, kind: str, rng: np.random.Generator) -> None:
    """Shapes, dtypes, offsets, or our own part of the header."""
    header, body = parsed(raw)
    if rng.random() < 0.5:
        ours = json.loads(header["__metadata__"]["pellucid"])
        header["__metadata__"]["pellucid"] = json.dumps(changed_tree(ours, rng))
    else:
        header = changed_tree(header, rng)
    path.write_bytes(sealed(header, body))


def _forge_contents(path: Path, raw: bytes, kind: str, rng: np.random.Generator) -> None:
    """The description of the network, the state, the history, the arrays."""
    path.write_bytes(raw)
    arrays, data = read(path, kind)
    if rng.random() < 0.7:
        data = changed_tree(copy.deepcopy(data), rng)
    else:
        arrays = changed_arrays(arrays, rng)
    write(path, arrays, data, kind)


@contextmanager
def _limits() -> Iterator[None]:
    """Little memory more than now, and not much time."""

    def ring(signum: int, frame: Any) -> None:
        raise Hangs(f"still loading after {PATIENCE} s")

    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    before = signal.signal(signal.SIGALRM, ring)
    resource.setrlimit(resource.RLIMIT_AS, (status("VmSize") + MEMORY, hard))
    signal.alarm(PATIENCE)
    try:
        yield
    finally:
        signal.alarm(0)
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))
        signal.signal(signal.SIGALRM, before)


FORGERIES = Part("forgeries", run, cases=1500, quick=60)
