"""Files made on purpose, checksum and all: they load or raise an error of ours, and take little memory."""

import copy
import hashlib
import json
import random
import re
import tracemalloc
import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest

import pellucid as pel
from pellucid import nn, optim, train
from pellucid.errors import PellucidError
from pellucid.estimators import (
    BaggedMLPClassifier,
    MLPClassifier,
    MLPRegressor,
    TablePreprocessor,
    TabularMLPClassifier,
    TabularMLPRegressor,
)
from pellucid.estimators.storage import save_estimator
from pellucid.train.files.container import ZEROS, read, write

rng = np.random.default_rng(0)
X, TARGET = rng.normal(size=(48, 3)), rng.normal(size=48)
NAMES = np.array(["no", "yes", "perhaps"])[np.arange(48) % 3]
FRAME = pd.DataFrame(
    {
        "number": X[:, 0],
        "gaps": np.where(X[:, 1] > 1, np.nan, X[:, 1]),
        "town": pd.Categorical(np.array(["Bern", "Bonn", "Brno"])[np.arange(48) % 3]),
        "day": pd.date_range("2024-01-01", periods=48, freq="h"),
    }
)
SMALL = {"hidden_layer_sizes": (4,), "random_state": 0, "max_iter": 2, "engine": "numpy"}


def model():
    net = nn.Sequential(
        nn.BatchNorm(affine=False), nn.Residual(nn.Dense(3)), nn.Concat(nn.Dense(2), nn.GLU(3)), nn.Dense(1)
    )
    rule = optim.chain(optim.ClipNorm(1.0), optim.Adam(optim.Cosine(0.01)), optim.EMA(0.9))
    return train.Model(net, "huber", rule, ["mae"], penalty=nn.L1(0.1) + nn.L2(0.1), engine="numpy")


def fit(one, path=None, resume=None):
    callbacks: list[Any] = [train.EarlyStopping(5), train.Plateau(optim.ReduceOnPlateau()), train.LearningRateLogger()]
    callbacks += [train.Checkpoint(path or "unused", every_steps=1)]
    if path is None:  # nothing is written, and no step is made
        callbacks[-1].handles = lambda event: False
        callbacks.append(Stop())
    return one.fit(X, TARGET, epochs=3, validation=0.25, callbacks=callbacks, verbose=False, resume=resume)


class Stop(train.Callback):
    def on_fit_begin(self, run):
        run.stop("loaded")


def resumed(path):
    return fit(model(), resume=path)


SAMPLES = {
    "model": (pel.load, lambda path: fitted_model().save(path)),
    "checkpoint": (resumed, lambda path: fit(model(), path)),
    "classifier": (pel.load, lambda path: MLPClassifier(early_stopping=True, **SMALL).fit(X, NAMES).save(path)),
    "regressor": (pel.load, lambda path: MLPRegressor(solver="lbfgs", **SMALL).fit(X, TARGET).save(path)),
    "table of classes": (pel.load, lambda path: TabularMLPClassifier(folds=1, **SMALL).fit(FRAME, NAMES).save(path)),
    "table of numbers": (pel.load, lambda path: TabularMLPRegressor(folds=1, **SMALL).fit(FRAME, TARGET).save(path)),
    "bagged": (
        pel.load,
        lambda path: BaggedMLPClassifier(MLPClassifier(**SMALL), 2, random_state=0).fit(X, NAMES).save(path),
    ),
    "preprocessor": (pel.load, lambda path: save_estimator(TablePreprocessor().fit(FRAME), path)),
}
every_kind = pytest.mark.parametrize("name", SAMPLES)


def fitted_model():
    one = model()
    fit(one)
    one.fit(X, TARGET, epochs=2, validation=0.25, verbose=False)
    return one


@pytest.fixture(scope="module")
def samples(tmp_path_factory):
    folder = tmp_path_factory.mktemp("samples")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, (_, save) in SAMPLES.items():
            save(folder / name)
    return folder


def kind_of(name):
    return name if name in ("model", "checkpoint") else "estimator"


def attempt(load, path):
    """Load it; what came of it, and how much memory was taken on the way."""
    tracemalloc.start()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            outcome = load(path)
    except PellucidError as error:
        outcome = error
    finally:
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    return outcome, peak


def check(load, path, what=""):
    outcome, peak = attempt(load, path)
    assert peak < 4e6 + 100 * path.stat().st_size, what
    return outcome


# changes of what the file says


def places(value, path=()):
    """All places of a nest."""
    yield path
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        yield from places(item, (*path, key))


def at(value, path):
    for key in path:
        value = value[key]
    return value


def deep(levels):
    value: Any = []
    for _ in range(levels):
        value = {"list": [value]}
    return value


JUNK = [
    None, True, -1, 0, 7, 10**12, 10**30, 0.5, -1e308, float("nan"), float("inf"), "", "x", "<U200000000", "|O",
    "<M8[ns]", "float64", "Dense", [], {}, [[]], [{}], {"": 1}, [1, "a", None], {"type": "Dense", "units": 10**9},
    {"array": "0"}, {"type": "array", "dtype": "float64", "shape": [10**9], "values": [1.0]}, {"list": [1]},
    {"dict": [[1]]}, {"metric": "x"},
    {"texts": {"list": ["a"]}, "shape": [1], "dtype": "<U200000000"}, {"times": {"array": "0"}, "unit": "<U200000000"},
    {"scalar": {"array": "0"}}, {"dtype": "<U200000000"}, {"object": "Curves", "state": {"x": 1}}, {"(array)": "rule"},
    {"object": "StandardScaler", "state": {}}, {"model": {}, "arrays": {}, "progress": None}, deep(200),
    {"texts": {"list": ["a"]}, "shape": [-1], "dtype": "O"}, {"set": [{"list": []}]}, {"slice": ["a"]},
]  # fmt: skip


def mutated(data, dice):
    """The same with one thing changed."""
    data = copy.deepcopy(data)
    path = dice.choice([p for p in places(data) if p])
    above, key = at(data, path[:-1]), path[-1]
    kind = dice.random()
    if kind < 0.15 and isinstance(above, dict):
        del above[key]
    elif kind < 0.3 and isinstance(above, dict):
        above[str(key) + "_"] = above.pop(key)
    elif kind < 0.4:
        above[key] = copy.deepcopy(at(data, dice.choice([p for p in places(data) if p])))  # what belongs elsewhere
    elif kind < 0.5 and isinstance(above[key], int | float) and not isinstance(above[key], bool):
        above[key] = above[key] * dice.choice([-1, 2, 10**6]) + dice.choice([0, 1])
    else:
        above[key] = dice.choice(JUNK)
    return data, path


@every_kind
def test_forged_metadata(name, samples, tmp_path):
    load, kind = SAMPLES[name][0], kind_of(name)
    arrays, data = read(samples / name, kind)
    dice, path, refused = random.Random(1), tmp_path / "forged", 0
    for _ in range(80):
        forged, where = mutated(data, dice)
        write(path, arrays, forged, kind)
        refused += isinstance(check(load, path, (where, at(forged, where[:-1]))), PellucidError)
    assert refused > 15


# changes of the arrays


def bent(arrays, dice):
    arrays = dict(arrays)
    name = dice.choice([*arrays])
    array = arrays[name]
    change = dice.randrange(7)
    if change == 0:
        del arrays[name]
    elif change == 1:
        arrays["more"] = array
    elif change == 2:
        arrays[f"{name}_"] = arrays.pop(name)
    elif change == 3:
        arrays[name] = array[..., None]
    elif change == 4:
        arrays[name] = np.concatenate([array.ravel(), array.ravel()])
    elif change == 5:
        arrays[name] = np.zeros(array.shape, dice.choice(["int8", "bool", "uint64", "float16"]))
    else:
        arrays[name] = np.zeros((0, 2**40), array.dtype)
    return arrays, (name, change)


@every_kind
def test_other_arrays(name, samples, tmp_path):
    load, kind = SAMPLES[name][0], kind_of(name)
    arrays, data = read(samples / name, kind)
    dice, path = random.Random(2), tmp_path / "forged"
    for _ in range(30):
        forged, what = bent(arrays, dice)
        write(path, forged, data, kind)
        check(load, path, what)


@pytest.mark.parametrize("change", range(7))
@pytest.mark.parametrize("name", ["model", "checkpoint"])
def test_arrays_that_are_not_the_networks_are_refused(name, change, samples, tmp_path):
    """Names, shapes and kinds of numbers are compared with the network, parameters and statistics alike."""
    load, kind = SAMPLES[name][0], kind_of(name)
    arrays, data = read(samples / name, kind)
    for key in [key for key in arrays if key.startswith(("params/", "state/", "rule/"))]:
        one: Any = random.Random()
        one.choice = lambda options, key=key: key if key in options else "int8"
        one.randrange = lambda n: change
        forged, _ = bent(arrays, one)
        if change == 1:
            forged["params/more"] = forged.pop("more")
        write(tmp_path / "forged", forged, data, kind)
        outcome = check(load, tmp_path / "forged", key)
        assert isinstance(outcome, train.CheckpointError), (key, change)


# changes of the header, which says where the arrays lie


def sealed(header, body):
    """A file with this header, and the checksum that belongs to it."""
    ours = header["__metadata__"]["pellucid"]
    old = re.search('"checksum": "([0-9a-f]{64})"', ours)[1]

    def raw(checksum):
        header["__metadata__"]["pellucid"] = ours.replace(old, checksum, 1)
        text = json.dumps(header).encode()
        return len(text).to_bytes(8, "little") + text + body

    return raw(hashlib.blake2b(raw(ZEROS), digest_size=32).hexdigest())


HEADERS = [
    {"shape": [2**40]}, {"shape": [2**62, 4]}, {"shape": [-1]}, {"shape": "3"}, {"shape": [1.5]}, {"shape": [[1]]},
    {"shape": [0, 2**63]}, {"shape": None}, {"dtype": "F128"}, {"dtype": "BF16"}, {"dtype": "C64"}, {"dtype": 3},
    {"dtype": "<U200000000"}, {"data_offsets": [0, 2**50]}, {"data_offsets": [-8, 0]}, {"data_offsets": [8, 0]},
    {"data_offsets": "all"}, {"data_offsets": [0]}, {"more": 1},
]  # fmt: skip


@pytest.mark.parametrize("change", HEADERS, ids=str)
def test_a_forged_header(change, samples, tmp_path):
    for name in ("model", "checkpoint", "bagged"):
        raw = (samples / name).read_bytes()
        end = 8 + int.from_bytes(raw[:8], "little")
        header = json.loads(raw[8:end])
        for key in [key for key in header if key != "__metadata__"][:3]:
            forged = copy.deepcopy(header)
            forged[key] |= change
            (tmp_path / "forged").write_bytes(sealed(forged, raw[end:]))
            check(SAMPLES[name][0], tmp_path / "forged", key)
        (tmp_path / "whole").write_bytes(sealed(header, raw[end:]))  # the way of sealing is right
        assert not isinstance(check(SAMPLES[name][0], tmp_path / "whole"), PellucidError)


@pytest.mark.parametrize("names", [3, None, "params", [1], [["a"]], [None], {}, ["no such array"]])
@pytest.mark.parametrize("key", ["names", "kind", "metadata", "schema"])
def test_a_forged_frame(key, names, samples, tmp_path):
    raw = (samples / "model").read_bytes()
    end = 8 + int.from_bytes(raw[:8], "little")
    header = json.loads(raw[8:end])
    ours = json.loads(header["__metadata__"]["pellucid"])
    header["__metadata__"]["pellucid"] = json.dumps({**ours, key: names})
    (tmp_path / "forged").write_bytes(sealed(header, raw[end:]))
    assert isinstance(check(pel.load, tmp_path / "forged"), PellucidError)


# particular forgeries


def with_classes(samples, tmp_path, classes, name="classifier"):
    arrays, data = read(samples / name, "estimator")
    data["estimator"]["state"]["classes_"] = classes
    write(tmp_path / "forged", arrays, data, "estimator")
    return check(pel.load, tmp_path / "forged")


@pytest.mark.parametrize("dtype", ["<U200000000", "|S2000000000", "<U2000000000", "f8", "V100", "<M8[ns]", 3, None])
def test_texts_take_no_more_room_than_the_file(dtype, samples, tmp_path):
    wide = {"texts": {"list": ["no", "yes", "perhaps"]}, "shape": [3], "dtype": dtype}
    assert isinstance(with_classes(samples, tmp_path, wide), PellucidError)


def test_one_long_text_among_many(samples, tmp_path):
    """An array of texts has the width of the longest for each: 5,000 × 20,000 characters."""
    texts = ["x" * 20_000, *["a"] * 5_000]
    outcome = with_classes(samples, tmp_path, {"texts": {"list": texts}, "shape": [5_001], "dtype": "<U20000"})
    assert isinstance(outcome, PellucidError)


def test_an_array_is_used_in_one_place(samples, tmp_path):
    """A file that names one array in a thousand places would have it copied a thousand times."""
    arrays, data = read(samples / "classifier", "estimator")
    arrays["times"] = np.zeros(20_000, np.int64)
    many = [{"times": {"array": "times"}, "unit": "<M8[ns]"}] * 1_000
    data["estimator"]["state"]["more"] = {"list": many}
    write(tmp_path / "forged", arrays, data, "estimator")
    assert isinstance(check(pel.load, tmp_path / "forged"), PellucidError)


def test_wide_texts_of_ones_own_come_back(tmp_path):
    """Labels in an array far wider than they are, or one of them long: the file loads."""
    for labels in (NAMES.astype("<U3000"), np.where(NAMES == "no", "n" * 5_000, NAMES), NAMES):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            clf = MLPClassifier(**SMALL).fit(X, labels)
        clf.save(tmp_path / "a")
        np.testing.assert_array_equal(pel.load(tmp_path / "a").predict(X), clf.predict(X))


@pytest.mark.parametrize("levels", [200, 900, 5_000, 100_000])
@pytest.mark.parametrize(("name", "place"), [("model", "net"), ("classifier", "estimator"), ("checkpoint", "history")])
def test_nested_without_end(name, place, levels, samples, tmp_path):
    raw = (samples / name).read_bytes()
    end = 8 + int.from_bytes(raw[:8], "little")
    header = json.loads(raw[8:end])
    ours = json.loads(header["__metadata__"]["pellucid"])
    ours["metadata"][place] = "(here)"
    for opening, closing in (('{"list": [', "]}"), ('{"type": "list", "items": [', "]}"), ("[", "]")):
        nest = opening * levels + closing * levels
        header["__metadata__"]["pellucid"] = json.dumps(ours).replace('"(here)"', nest)
        (tmp_path / "forged").write_bytes(sealed(header, raw[end:]))
        assert isinstance(check(SAMPLES[name][0], tmp_path / "forged"), PellucidError)


@pytest.mark.parametrize("units", [10**9, 10**15, -1, 0, 2.5, "4", None, [4], True])
def test_a_network_that_would_not_fit_into_memory(units, samples, tmp_path):
    arrays, data = read(samples / "model", "model")
    data["net"]["parts"][-1][1]["units"] = units
    write(tmp_path / "forged", arrays, data, "model")
    assert units is True or isinstance(check(pel.load, tmp_path / "forged"), PellucidError)


@pytest.mark.parametrize("features", [[10**12], [10**9, 10**9], [-3], ["3"], [3.0], 3, None, {}, []])
def test_features_that_would_not_fit_into_memory(features, samples, tmp_path):
    arrays, data = read(samples / "model", "model")
    data["features"] = features
    write(tmp_path / "forged", arrays, data, "model")
    assert isinstance(check(pel.load, tmp_path / "forged"), PellucidError)


POSITIONS: dict[str, list[Any]] = {
    "epoch": [-1, 1.5, True],
    "step": ["3", 2**63],
    "batch": [10**6],
    "threads": [10**9, 0],
    "engine": ["gpu"],
    "sums": [[], {}],
    "weight": ["1"],
    "factor": [None],
    "elapsed": [[1]],
    "stopped": [None],
    "ending": ["soon", 3],
    "history": [[1], [{"loss": []}]],
    "task": [[]],
    "callbacks": [{}],
}


@pytest.mark.parametrize(("key", "value"), [(key, value) for key, values in POSITIONS.items() for value in values])
def test_a_position_that_no_run_has(key, value, samples, tmp_path):
    arrays, data = read(samples / "checkpoint", "checkpoint")
    write(tmp_path / "forged", arrays, {**data, key: value}, "checkpoint")
    outcome = check(resumed, tmp_path / "forged")
    assert isinstance(outcome, train.CheckpointError)
    assert key in str(outcome)


def test_the_best_parameters_of_another_network(samples, tmp_path):
    """What early stopping would end with is compared with the network, too."""
    arrays, data = read(samples / "checkpoint", "checkpoint")
    (name, *_) = [key for key in arrays if "/kept/params." in key]
    write(tmp_path / "forged", arrays | {name: np.zeros((9, 9))}, data, "checkpoint")
    outcome = check(resumed, tmp_path / "forged")
    assert isinstance(outcome, train.CheckpointError)
    assert "EarlyStopping" in str(outcome)


def test_a_refused_checkpoint_leaves_the_model_alone(samples, tmp_path):
    arrays, data = read(samples / "checkpoint", "checkpoint")
    write(tmp_path / "forged", arrays, {**data, "epoch": -1}, "checkpoint")
    one = model().initialize(3)
    before = {key: array.copy() for key, array in one.params.items()}
    with pytest.raises(train.CheckpointError):
        fit(one, resume=tmp_path / "forged")
    assert all(np.array_equal(before[key], one.params[key]) for key in before)
