"""Numbers with long tails as they are, for lines beside the networks that see them clipped."""

import warnings

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import pellucid as pel
from pellucid import TabularMLPClassifier, TabularMLPRegressor, export
from pellucid.estimators import TablePreprocessor
from pellucid.estimators.tables.straight_columns import straight_columns

rng = np.random.default_rng(0)
N = 1500
MONEY = np.exp(2.0 * rng.normal(size=(N, 3))) * 100.0
FRAME = pd.DataFrame(
    {
        "rent": MONEY[:, 0],
        "age": rng.normal(40, 10, N),
        "wage": MONEY[:, 1],
        "member": rng.integers(0, 2, N),
        "town": rng.choice(list("abcdefghijklm"), N),
        "debt": MONEY[:, 2],
    }
)
TOTAL = MONEY @ [1.0, 0.5, 2.0] + 20.0 * rng.normal(size=N)
SMALL = {"hidden_layer_sizes": (8,), "numbers": ("waves", "linear", "straight"), "max_iter": 8, "random_state": 0}


def test_only_bent_columns_stand_twice() -> None:
    pre = TablePreprocessor(straight=True).fit(FRAME)
    names = pre.get_feature_names_out().tolist()
    assert names[-5:] == ["age_straight", "debt_straight", "rent_straight", "wage_straight", "town_code"]
    assert {names[straight]: names[twin] for twin, straight in pre.straight_places_.items()} == {
        f"{name}_straight": name for name in ("age", "debt", "rent", "wage")
    }
    rows = pre.transform(FRAME)
    assert_array_equal(
        np.delete(rows, [*pre.straight_places_.values()], axis=1), TablePreprocessor().fit_transform(FRAME)
    )
    debt = rows[:, names.index("debt_straight")]
    assert_allclose(debt, (MONEY[:, 2] - MONEY[:, 2].mean()) / MONEY[:, 2].std(), rtol=1e-9)
    assert not TablePreprocessor("standard", straight=True).fit(FRAME).straight_places_


def test_weights_count_and_lines_end_somewhere() -> None:
    weights = np.where(np.arange(N) < N // 2, 2.0, 0.0)
    straight = straight_columns(MONEY, np.log(MONEY), weights)
    half = straight_columns(MONEY[: N // 2], np.log(MONEY[: N // 2]), None)
    assert straight is not None
    assert half is not None
    assert_allclose(straight.mean, half.mean)
    assert_allclose(straight.deviation, half.deviation)
    far = half.rows(np.full((2, 3), [[1e300], [-1e300]]))
    assert np.isfinite(far).all()
    assert np.abs(far).max() < 1e3
    assert straight_columns(MONEY, 3.0 * MONEY + 1.0, None) is None
    assert straight_columns(np.ones((5, 2)), np.zeros((5, 2)), None) is None
    assert straight_columns(np.array([[1e308], [-1e308], [0.0]]), np.array([[1.0], [-1.0], [0.5]]), None) is None


def test_lines_of_money_are_learned_as_by_a_linear_model() -> None:
    """They were lost in the clip, and the fit had to warn that a linear model is better."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        reg = TabularMLPRegressor(random_state=0, max_iter=16).fit(FRAME[:1000], TOTAL[:1000])
    missed = TOTAL[1000:] - reg.predict(FRAME[1000:])
    assert np.sqrt(np.mean(missed**2)) < 0.05 * TOTAL[1000:].std()


def test_networks_with_hidden_layers_do_not_see_them() -> None:
    reg = TabularMLPRegressor(**SMALL).fit(FRAME, np.sin(FRAME["age"] / 5.0))
    rows = np.ascontiguousarray(reg.network_rows(FRAME))  # as its copies are: NumPy's products differ in last bits
    far, bent = rows.copy(), rows.copy()
    far[:, [*reg.preprocessor_.straight_places_.values()]] = 1e6
    bent[:, [*reg.preprocessor_.straight_places_]] = 3.0
    seen = [(len(network.layers) > 1, network.scores(rows), network.scores(far)) for network in reg.fitted.networks]
    assert any(hidden for hidden, _, _ in seen)
    assert all(np.array_equal(before, after) for hidden, before, after in seen if hidden)
    straight = TabularMLPRegressor(**SMALL | {"numbers": "straight"}).fit(FRAME, TOTAL).fitted
    assert np.array_equal(straight.scores(rows), straight.scores(bent))
    assert not np.allclose(straight.scores(rows), straight.scores(far))


def test_what_no_scale_bends_stands_once() -> None:
    few = FRAME[["member", "town"]]
    reg = TabularMLPRegressor(**SMALL).fit(few, FRAME["member"] + FRAME["age"])
    assert not reg.preprocessor_.straight_places_
    assert all("input.columns" not in dict(network.model.net.children) for network in reg.fitted.networks)


@pytest.mark.parametrize("numbers", ["float64", "float32"])
def test_files_and_exports_give_the_same(numbers: str, tmp_path) -> None:
    debtors = np.where(np.median(TOTAL) < TOTAL, "yes", "no")
    clf = TabularMLPClassifier(**SMALL).fit(FRAME, debtors)
    clf.save(tmp_path / "net.pel")
    assert_array_equal(pel.load(tmp_path / "net.pel").predict_proba(FRAME), clf.predict_proba(FRAME))
    path = export.onnx(clf, tmp_path / "net.onnx", numbers=numbers)
    import onnxruntime

    session = onnxruntime.InferenceSession(path)
    feed = {}
    for put in session.get_inputs():
        kind = {"tensor(double)": np.float64, "tensor(float)": np.float32, "tensor(string)": object}[put.type]
        feed[put.name] = FRAME[put.name].to_numpy(kind)[:, None]
    likely = next(one for one in session.run(None, feed) if one.shape == (N, 2))
    assert_allclose(likely, clf.predict_proba(FRAME), atol=1e-4)
