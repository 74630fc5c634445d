"""Batches from outside: on every engine, with the results that arrays give; what can be read once says what to pass."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import pellucid as pel
from pellucid import nn, optim, train
from tests.both_engines import each_engine

RNG = np.random.default_rng(0)
X = RNG.normal(size=(230, 6)).astype(np.float32)
Y = (X[:, 0] * X[:, 1] > 0).astype(int)
WEIGHTS = RNG.uniform(0.5, 2.0, 230).astype(np.float32)


@dataclass
class Batches:
    """Parts of the data, anew for every epoch."""

    size: int = 32
    weighted: bool = False
    read: int = 0

    def __iter__(self):
        for first in range(0, len(X), self.size):
            self.read += 1
            rows = slice(first, first + self.size)
            yield (X[rows], Y[rows], WEIGHTS[rows]) if self.weighted else (X[rows], Y[rows])


def model(engine="native", **settings: Any) -> pel.Model:
    net = nn.mlp((16,), 2, norm="batch", dropout=0.2)
    return pel.Model(net, "cross_entropy", optim.Adam(0.01), engine=engine, **settings)


def same(a: pel.Model, b: pel.Model) -> bool:
    return all(np.array_equal(a.params[k], b.params[k]) for k in a.params) and a.history.epochs == b.history.epochs


@pytest.mark.parametrize("weighted", [False, True])
def test_a_stream_gives_the_bits_of_arrays(weighted):
    arrays, stream = model(), model()
    weights = {"sample_weight": WEIGHTS} if weighted else {}
    arrays.fit(X, Y, epochs=4, batch_size=32, shuffle=False, verbose=False, **weights)
    stream.fit(Batches(weighted=weighted), epochs=4, verbose=False)
    assert same(arrays, stream)


def paying(seconds: float) -> pel.Model:
    automatic = model("auto")
    automatic.pays = seconds
    return automatic


@pytest.mark.parametrize("source", [list(Batches()), Batches()], ids=["length known", "length unknown"])
def test_auto_compiles_a_stream_where_it_pays(source):
    many = paying(0.05)  # about fifty steps of NumPy
    many.fit(source, epochs=20, verbose=False)
    assert many.compiled
    few = paying(0.05)
    few.fit(source, epochs=1, verbose=False)
    assert not few.compiled
    native = model("native")
    native.fit(source, epochs=20, verbose=False)
    np.testing.assert_allclose(many.predict(X), native.predict(X), atol=0.05)


def test_a_long_epoch_of_unknown_length_is_compiled_on_the_way():
    """One pass is enough: no batch is lost or read twice where the engine changes."""

    def long():
        for _ in range(10):
            yield from Batches()

    automatic = paying(0.02)
    history = automatic.fit(long(), epochs=1, verbose=False)
    assert automatic.compiled
    assert history["step"] == [80]


@pytest.mark.parametrize("steps", [3, 9, 30])
def test_the_engine_changes_at_the_same_step_in_a_resumed_run(tmp_path, steps):
    whole, parted = paying(0.02), paying(0.02)
    saver = train.Checkpoint(tmp_path / "run.ckpt", every_steps=1)
    whole.fit(Batches(), epochs=5, verbose=False)
    with pytest.raises(train.CallbackError):
        parted.fit(Batches(), epochs=5, callbacks=[saver, Crash(steps)], verbose=False)
    parted.fit(Batches(), epochs=5, callbacks=[saver], resume=tmp_path / "run.ckpt", verbose=False)
    assert same(whole, parted)


@dataclass
class Crash(train.Callback):
    """Ends the run by force."""

    after: int

    def on_batch_end(self, run: Any) -> None:
        if run.step > self.after:
            raise RuntimeError


class Listener(train.Callback):
    """Hears of every batch, so that the run looks up after each."""

    def on_batch_end(self, run: Any) -> None:
        assert np.isfinite(run.loss)


@pytest.mark.parametrize("listening", [False, True])
def test_batches_of_changing_size_and_kind(listening):
    """Every number of rows, one included; with weights and without; each batch read once."""
    sizes = np.random.default_rng(1).integers(1, 40, 60).tolist() + [16] * 20
    parts: list[Any] = []
    for i, size in enumerate(sizes):
        rows = np.random.default_rng(i).integers(0, len(X), size)
        parts.append((X[rows], Y[rows], WEIGHTS[rows]) if i % 7 == 0 else (X[rows], Y[rows]))
    callbacks = [Listener()] if listening else []
    net = nn.mlp((16,), 2, norm="batch", dropout=0.2)
    models = [
        pel.Model(net, "cross_entropy", optim.SGD(0.1), dtype=float, engine=engine) for engine in ("numpy", "native")
    ]
    for each in models:
        each.fit(parts, epochs=2, callbacks=callbacks, verbose=False)
    for name, array in models[0].params.items():
        np.testing.assert_allclose(models[1].params[name], array, rtol=1e-7, atol=1e-10)
    np.testing.assert_allclose(models[1].history["loss"], models[0].history["loss"], rtol=1e-9)


def test_every_batch_is_read_once_in_an_epoch_and_none_beyond_the_last_step():
    source = Batches()
    model().fit(source, steps=5, verbose=False)
    assert source.read == 5
    source = Batches()
    model().fit(source, epochs=3, verbose=False)
    assert source.read == 3 * 8


def test_a_stream_resumes_bit_for_bit(tmp_path):
    whole, parted = model(), model()
    whole.fit(Batches(), epochs=3, verbose=False)
    saver = train.Checkpoint(tmp_path / "run.ckpt", every_steps=3)
    parted.fit(Batches(), steps=12, epochs=3, callbacks=[saver], verbose=False)
    parted.fit(Batches(), epochs=3, callbacks=[saver], resume=tmp_path / "run.ckpt", verbose=False)
    assert same(whole, parted)


def test_a_step_that_diverges_is_not_taken():
    """The parameters are those before the bad batch, also where it came in the middle of what was read ahead."""
    parts = list(Batches(16))
    wild = (np.full_like(parts[9][0], 3e38), parts[9][1])
    parts[9] = wild
    net = nn.mlp((16,), 2)
    engines = ("numpy", "native")
    models = [pel.Model(net, "cross_entropy", optim.SGD(0.1), engine=engine) for engine in engines]
    for each in models:
        each.fit(parts, epochs=1, on_divergence="stop", verbose=False)
        assert "diverged" in each.history.stopped
    before = pel.Model(net, "cross_entropy", optim.SGD(0.1), engine="native")
    before.fit(parts, steps=9, verbose=False)
    for name, array in before.params.items():
        assert np.array_equal(models[1].params[name], array)
        np.testing.assert_allclose(models[0].params[name], array, rtol=1e-5, atol=1e-7)


@each_engine
def test_a_batch_with_other_columns_is_refused(engine):
    parts = [*list(Batches()), (X[:32, :4], Y[:32])]
    with pytest.raises(ValueError, match=r"shape|columns|features"):
        model(engine).fit(parts, epochs=1, verbose=False)


def test_a_generator_says_what_to_pass():
    fresh = model()
    for source in (iter(Batches()), (batch for batch in Batches())):
        with pytest.raises(ValueError, match=r"read only once.*a list.*__iter__ starts anew.*epochs=1"):
            fresh.fit(source, verbose=False)
        assert not fresh.params
        assert len(list(source)) == 8  # nothing was lost
    history = fresh.fit(iter(Batches()), epochs=1, verbose=False)  # the first batch is neither lost nor read twice
    assert history["step"] == [8]
    with pytest.raises(ValueError, match="no batches"):
        model().fit(iter(()), epochs=1, verbose=False)


def test_an_endless_generator_with_steps():
    def forever():
        while True:
            yield from Batches()

    assert model().fit(forever(), steps=20, verbose=False).stopped == "all 20 steps done"
