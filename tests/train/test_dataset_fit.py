"""Model.fit on a Dataset: the learning of arrays, validation, and runs that are taken up bit for bit."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import pellucid as pel
from pellucid import nn, optim, train
from pellucid.data import dataset
from tests.both_engines import each_engine
from tests.data.tables_in_files import table, write

FRAME = table(2500)
FEATURES = ["a", "b", "c", "d"]


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("files")
    return {kind: write(folder, kind, FRAME) for kind in ("parquet", "csv")}


def of(source, **more):
    return dataset(source, target="label", columns=FEATURES, **{"buffer": 1000, **more})


def model(engine="native", **settings: Any) -> pel.Model:
    net = nn.mlp((16,), 2, norm="batch", dropout=0.1)
    return pel.Model(net, "cross_entropy", optim.Adam(0.01), ["accuracy"], engine=engine, threads=1, **settings)


def same(a: pel.Model, b: pel.Model) -> bool:
    return all(np.array_equal(a.params[k], b.params[k]) for k in a.params) and a.history.epochs == b.history.epochs


@each_engine
def test_in_order_it_has_the_bits_of_arrays(files, engine):
    arrays, stream = model(engine), model(engine)
    settings = {"epochs": 2, "batch_size": 96, "shuffle": False, "verbose": False}
    arrays.fit(FRAME[FEATURES].to_numpy(np.float32), FRAME["label"], sample_weight=FRAME["weight"], **settings)
    stream.fit(of(files["parquet"], weight="weight"), **settings)
    for name, array in arrays.params.items():
        np.testing.assert_array_equal(stream.params[name], array)


@pytest.mark.parametrize("kind", ["parquet", "csv"])
def test_it_learns(files, kind):
    network = model("auto")
    history = network.fit(of(files[kind]), epochs=8, batch_size=64, validation=0.2, verbose=False)
    assert history["val_accuracy"][-1] > 0.9
    assert network.evaluate(FRAME[FEATURES], FRAME["label"])["accuracy"] > 0.9
    predicted = np.concatenate(list(network.predict_batches(of(files[kind]))))
    np.testing.assert_allclose(predicted, network.predict(FRAME[FEATURES]), rtol=1e-5, atol=1e-6)


def test_both_engines_agree(files):
    models = [model(engine, dtype=float) for engine in ("numpy", "native")]
    for each in models:
        each.fit(of(files["parquet"]), epochs=2, batch_size=100, verbose=False)
    for name, array in models[0].params.items():
        np.testing.assert_allclose(models[1].params[name], array, rtol=1e-6, atol=1e-9)


def test_validation_is_a_share_a_data_set_or_arrays(files):
    data = of(files["parquet"])
    arrays = FRAME[FEATURES].to_numpy(np.float32), FRAME["label"].to_numpy()
    first, second = model(), model()
    for network, held in ((first, data), (second, arrays)):
        network.fit(data, epochs=1, validation=held, verbose=False)
    assert same(first, second)
    assert "val_loss" in model().fit(data, epochs=1, validation=0.1, verbose=False).epochs[0]
    with pytest.raises(TypeError, match="a share, another Dataset, or a tuple"):
        model().fit(data, epochs=1, validation=[1, 2, 3], verbose=False)


@dataclass
class Crash(train.Callback):
    """Ends the run by force."""

    after: int

    def on_batch_end(self, run: Any) -> None:
        if run.step > self.after:
            raise RuntimeError


@each_engine
@pytest.mark.parametrize("kind", ["parquet", "csv"])
@pytest.mark.parametrize("steps", [3, 11, 40])
def test_a_run_is_taken_up_bit_for_bit(files, tmp_path, kind, steps, engine):
    """In the middle of a pool, at its end, in another epoch; a pool has 11 steps, an epoch 25."""
    settings = {"epochs": 3, "batch_size": 90, "validation": 0.1, "verbose": False}
    whole, parted = model(engine), model(engine)
    saver = train.Checkpoint(tmp_path / "run.ckpt", every_steps=1)
    whole.fit(of(files[kind]), **settings)
    with pytest.raises(train.CallbackError):
        parted.fit(of(files[kind]), callbacks=[saver, Crash(steps)], **settings)
    parted.fit(of(files[kind]), callbacks=[saver], resume=tmp_path / "run.ckpt", **settings)
    assert same(whole, parted)


def test_a_run_on_an_automatic_engine_is_taken_up_bit_for_bit(files, tmp_path):
    """Of CSV nobody knows the number of steps: it begins with NumPy, and is compiled on the way."""
    settings = {"epochs": 4, "batch_size": 90, "verbose": False}
    whole, parted = model("auto"), model("auto")
    whole.pays = parted.pays = 0.05
    saver = train.Checkpoint(tmp_path / "run.ckpt", every_steps=1)
    whole.fit(of(files["csv"]), **settings)
    assert whole.compiled
    with pytest.raises(train.CallbackError):
        parted.fit(of(files["csv"]), callbacks=[saver, Crash(20)], **settings)
    parted.fit(of(files["csv"]), callbacks=[saver], resume=tmp_path / "run.ckpt", **settings)
    assert same(whole, parted)


def test_another_data_set_is_not_taken_up(files, tmp_path):
    saver = train.Checkpoint(tmp_path / "run.ckpt")
    model().fit(of(files["parquet"]), epochs=1, callbacks=[saver], verbose=False)
    for other in (of(files["parquet"], buffer=500), of(files["csv"]), of(FRAME)):
        with pytest.raises(ValueError, match="another data than this call has"):
            model().fit(other, epochs=2, callbacks=[saver], resume=tmp_path / "run.ckpt", verbose=False)


def test_steps_end_a_run_inside_an_epoch(files):
    history = model().fit(of(files["parquet"]), steps=70, batch_size=100, verbose=False)
    assert history.stopped == "all 70 steps done"


@each_engine
def test_errors_are_one_line_with_the_file(files, tmp_path, engine):
    texts = FRAME.assign(c="x")
    with pytest.raises(ValueError, match=r"part0.parquet: X, column 2 \('c'\).*not texts.*TabularMLPClassifier"):
        model(engine).fit(of(write(tmp_path, "parquet", texts)), verbose=False)
    gaps = FRAME.assign(a=FRAME["a"].where(FRAME.index != 2250))
    with pytest.raises(ValueError, match=r"part2.parquet: X holds NaN or infinity, first at row 183, column 0 \('a'\)"):
        model(engine).fit(of(write(tmp_path, "parquet", gaps)), verbose=False)
    data = dataset(FRAME[FEATURES])
    with pytest.raises(ValueError, match="the data set has no target: name its column"):
        model(engine).fit(data, verbose=False)
    with pytest.raises(TypeError, match="a Dataset brings its target and weights"):
        model(engine).fit(data, FRAME["label"], verbose=False)


def test_a_failed_fit_leaves_the_model_as_it_was(tmp_path):
    gaps = FRAME.assign(a=FRAME["a"].where(FRAME.index != 2250))
    network = model()
    with pytest.raises(ValueError, match="NaN"):
        network.fit(of(write(tmp_path, "parquet", gaps)), epochs=1, verbose=False)
    network.fit(of(FRAME), epochs=1, verbose=False)
    assert np.isfinite(network.evaluate(FRAME[FEATURES], FRAME["label"])["loss"])
