"""nn.LeaveOut: a network that sees less of the rows, on both engines, in files."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import pellucid as pel
from pellucid import Model, nn
from pellucid.errors import ShapeError

rng = np.random.default_rng(0)
X = rng.normal(size=(200, 5))


@pytest.mark.parametrize("places", [(0,), (4,), (1, 2), (0, 2, 4), (0, 1, 3, 4)])
def test_the_others_stay_in_their_order(places):
    layer = nn.LeaveOut(places)
    assert_array_equal(layer.predict({}, X), np.delete(X, places, axis=1))
    assert layer.output((5,)) == (5 - len(places),)
    assert not layer.parameters((5,))


@pytest.mark.parametrize("engine", ["numpy", "native"])
def test_training_with_and_without_the_columns(engine, tmp_path):
    net = nn.Sequential(nn.Dense(8), "tanh", nn.Dense(1))
    fewer = Model(nn.Sequential(nn.LeaveOut((1, 3)), *net.children), engine=engine, dtype=np.float64)
    plain = Model(net, engine=engine, dtype=np.float64)
    y = X[:, :1] * X[:, 2:3]
    rows = {fewer: X, plain: X[:, [0, 2, 4]]}
    losses = [one.fit(seen, y, epochs=4, verbose=False)["loss"] for one, seen in rows.items()]
    assert_allclose(losses[0], losses[1], rtol=1e-9)
    fewer.save(tmp_path / "net.pel")
    loaded = pel.load(tmp_path / "net.pel")
    assert loaded.net == fewer.net
    assert_array_equal(loaded.predict(X), fewer.predict(X))


@pytest.mark.parametrize(
    ("make", "error", "words"),
    [
        (lambda: nn.LeaveOut(()), ValueError, "at least one, got"),
        (lambda: nn.LeaveOut((2, 1)), ValueError, "different columns in their order"),
        (lambda: nn.LeaveOut((1, 1)), ValueError, "different columns"),
        (lambda: nn.LeaveOut((-1,)), ValueError, "places"),
        (lambda: nn.LeaveOut((5,)).output((5,)), ShapeError, "got 5 features"),
        (lambda: nn.LeaveOut((0,)).output((1,)), ShapeError, "and others, got 1 features"),
    ],
)
def test_errors(make, error, words):
    with pytest.raises(error, match=words):
        make()


def test_its_name_is_short():
    assert repr(nn.LeaveOut((1, 2))) == "LeaveOut((1, 2))"
    assert repr(nn.LeaveOut(tuple(range(9)))) == "LeaveOut(9 columns)"
