"""Arrays as files and networks bring them: any byte order, any alignment."""

import numpy as np
import pytest

import pellucid as pel
from pellucid import nn
from tests.both_engines import each_engine


def swapped(array):
    """The same numbers in the other byte order."""
    return array.astype(array.dtype.newbyteorder("S"))


def unaligned(array):
    """The same numbers at an address that is no multiple of their size."""
    raw = np.zeros(array.nbytes + 1, np.uint8)
    view = raw[1:].view(array.dtype).reshape(array.shape)
    view[...] = array
    return view


@each_engine
@pytest.mark.parametrize("form", [swapped, unaligned])
@pytest.mark.parametrize("dtype", ["f4", "f8", "i4", "i8"])
def test_arguments_and_constants_in_any_form(engine, form, dtype):
    v, c = np.arange(1, 9).astype(dtype), form(np.arange(8).astype(dtype))
    square = pel.compile(lambda v: np.sum(v * v), engine=engine)
    assert square(form(v)) == 204.0
    assert pel.compile(lambda v: np.sum(v * c), engine=engine)(v) == 168.0
    number = form(np.array(3.0))
    assert pel.compile(lambda x: x + number, engine=engine)(form(np.array(2.0))) == 5.0


@each_engine
def test_index_arrays_and_casts_in_another_byte_order(engine):
    places = swapped(np.array([2, 0]))
    pick = pel.compile(lambda v, i: v[i], engine=engine)
    assert pick(np.array([1.0, 2.0, 3.0]), places).tolist() == [3.0, 1.0]
    cast = pel.compile(lambda v: v.astype(np.dtype("f8").newbyteorder("S")) * 2.0, engine=engine)
    assert cast(np.array([1.5, 2.5], np.float32)).tolist() == [3.0, 5.0]


@each_engine
def test_a_spec_has_no_byte_order(engine):
    graph = pel.record(lambda x: x * 2.0, pel.Spec(("n",), np.dtype("f4").newbyteorder("S")))
    out = pel.run(graph, np.ones(3, np.float32))
    assert out.dtype == np.float32
    assert out.dtype.isnative


@each_engine
@pytest.mark.parametrize("form", [swapped, unaligned])
def test_training_and_prediction_on_data_in_any_form(engine, form):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(64, 3))
    y, weights = (X[:, 0] > 0).astype(int), rng.uniform(0.5, 1.0, 64)

    def trained(X, y, weights, dtype):
        model = pel.Model(nn.mlp((8,), 2, norm="batch"), "cross_entropy", dtype=dtype, engine=engine)
        model.fit(X, y, sample_weight=weights, epochs=3, validation=(X, y), verbose=False)
        return model

    plain = trained(X, y, weights, np.float64)
    other = trained(form(X), form(y), form(weights), np.dtype("f8").newbyteorder("S"))
    assert other.history["loss"] == plain.history["loss"]
    assert other.history["val_loss"] == plain.history["val_loss"]
    assert other.predict(form(X)).tobytes() == plain.predict(X).tobytes()


@each_engine
@pytest.mark.parametrize("form", [swapped, unaligned])
def test_parameters_in_any_form(engine, form):
    X = np.random.default_rng(0).normal(size=(10, 3)).astype(np.float32)
    model = pel.Model(nn.mlp((8,), 2, norm="batch"), "cross_entropy", engine=engine).initialize(3)
    expected = model.predict(X)
    model.params = {name: form(np.asarray(array)) for name, array in model.params.items()}
    model.state = {name: form(np.asarray(array)) for name, array in model.state.items()}
    assert np.array_equal(model.predict(X), expected)
    model.params["hidden1.weight"][...] = 0.0  # read anew at every prediction
    assert not np.array_equal(model.predict(X), expected)
