"""Numbers that are names: which they are, and what networks learn of them."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import pellucid as pel
from pellucid import TabularMLPClassifier, TabularMLPRegressor, export
from pellucid.estimators import TablePreprocessor
from pellucid.estimators.tables.number_codes import MOST, number_codes

rng = np.random.default_rng(0)
PEOPLE, EACH = 120, 6
N = PEOPLE * EACH
PERSON = np.repeat(rng.permutation(1000)[:PEOPLE], EACH)
HABIT = rng.normal(size=1000)[PERSON]
FRAME = pd.DataFrame(
    {
        "person": PERSON,
        "age": rng.integers(18, 90, N),
        "town": rng.choice(list("abcdefghijklm"), N),
        "dose": rng.normal(size=N),
    }
).sample(frac=1.0, random_state=0)
PERSON, HABIT = FRAME["person"].to_numpy(), rng.normal(size=1000)[FRAME["person"]]
ANSWER = HABIT + 0.5 * FRAME["dose"].to_numpy() + 0.2 * rng.normal(size=N)
SMALL = {"hidden_layer_sizes": (16,), "numbers": ("pieces", "coded"), "max_iter": 16, "folds": 2, "random_state": 0}


def named(numbers: np.ndarray, answers: np.ndarray) -> tuple[int, ...]:
    codes = number_codes(numbers.reshape(len(numbers), -1), answers)
    return () if codes is None else codes.places


@pytest.mark.parametrize(
    "answers",
    [ANSWER, np.exp(3 * ANSWER), (ANSWER > 0).astype(int), np.digitize(ANSWER, [-1, 0, 1]), ANSWER[:, None] ** [1, 2]],
    ids=["numbers", "long-tails", "two-classes", "four-classes", "several"],
)
def test_names_are_told_by_what_rows_of_one_have_in_common(answers: np.ndarray) -> None:
    assert named(FRAME[["person", "age", "dose"]].to_numpy(), answers) == (0,)


@pytest.mark.parametrize(
    "effect",
    [np.zeros_like, lambda x: x, np.square, lambda x: np.sin(x / 15.0), lambda x: x > 50, lambda x: np.exp(x / 10)],
    ids=["nothing", "line", "parabola", "waves", "step", "exponential"],
)
@pytest.mark.parametrize("noise", [0.1, 1.0])
def test_what_follows_numbers_smoothly_has_no_names(effect, noise: float) -> None:
    x = rng.integers(0, 100, 2000)
    signal = effect(x.astype(float))
    answers = signal / max(np.std(signal), 1e-9) + noise * rng.normal(size=2000)
    assert named(x, answers) == ()
    assert named(x, (answers > np.median(answers)).astype(int)) == ()


def test_chance_is_no_reason() -> None:
    """Of fifty sets of forty columns that mean nothing, hardly one has names."""
    wrong = 0
    for seed in range(50):
        own = np.random.default_rng(seed)
        numbers = own.integers(0, own.integers(40, 300, 40), (600, 40))
        wrong += bool(named(numbers, own.standard_cauchy(600) if seed % 2 else own.integers(0, 2, 600)))
    assert wrong <= 1


def test_no_codes_where_few_or_all_are_different() -> None:
    few, each = rng.integers(0, 20, N), np.arange(N)
    assert named(few, rng.normal(size=20)[few]) == ()  # pieces tell them apart
    assert named(each, ANSWER) == ()
    assert named(np.full(N, np.nan), ANSWER) == ()
    assert named(np.where(FRAME["age"] > 80, np.nan, PERSON), ANSWER) == (0,)


@pytest.mark.parametrize("far", [3e38, 1e39, 1e300, np.inf])
def test_numbers_may_be_far(far: float) -> None:
    numbers = PERSON.astype(float)
    numbers[PERSON[0] == PERSON], numbers[PERSON[-1] == PERSON] = far, -far
    assert named(numbers, ANSWER) == (0,)
    assert named(numbers, rng.normal(size=N)) == ()


def test_codes_are_places_and_nothing_is_none() -> None:
    numbers = np.repeat([7.0, 3.0, 0.1], 40)[:, None] + 10.0 * np.tile(np.arange(20), 6)[:, None]
    answers = rng.normal(size=1000)[(numbers[:, 0] * 10).astype(int) % 1000]
    codes = number_codes(np.concatenate([numbers, [[99999.0]]]), np.append(answers, 0.0))
    assert codes is not None
    assert codes.sizes == (61,)  # one row of a value has nobody to be like
    assert codes.rows(np.array([[0.1], [193.0], [197.0], [5.0], [np.nan], [np.inf], [99999.0]])).ravel().tolist() == [
        1,
        59,
        60,
        0,
        0,
        0,
        0,
    ]


def test_the_most_frequent_have_codes() -> None:
    names = np.repeat(np.arange(MOST + 500), np.r_[np.full(500, 2), np.full(MOST, 3)])
    codes = number_codes(names[:, None].astype(float), rng.normal(size=MOST + 500)[names])
    assert codes is not None
    assert_array_equal(codes.values[0], np.arange(500, MOST + 500))


def test_the_preprocessor_puts_them_last() -> None:
    plain, pre = TablePreprocessor().fit(FRAME), TablePreprocessor(codes=True).fit(FRAME, ANSWER)
    assert pre.get_feature_names_out().tolist() == [*plain.get_feature_names_out(), "person_code"]
    assert pre.embedding_sizes_ == (14, PEOPLE + 1)
    assert (plain.named_numbers_, pre.named_numbers_) == ([], ["person"])
    assert_array_equal(pre.transform(FRAME)[:, :-1], plain.transform(FRAME))
    assert set(pre.transform(FRAME)[:, -1]) == set(range(1, PEOPLE + 1))
    assert_array_equal(TablePreprocessor.from_dict(*pre.to_dict()).transform(FRAME), pre.transform(FRAME))
    assert_array_equal(TablePreprocessor(codes=True).fit_transform(FRAME, ANSWER), pre.transform(FRAME))
    with pytest.raises(ValueError, match=r"codes=True asks which numbers are names, and y tells it: call fit\(X, y\)"):
        TablePreprocessor(codes=True).fit(FRAME)
    with pytest.raises(ValueError, match=r"X has 720 rows and y the shape \(3,\)"):
        TablePreprocessor(codes=True).fit(FRAME, [1.0, 2.0, 3.0])


@pytest.mark.parametrize("quality", ["fast", "default"])
def test_habits_of_people_are_learned(quality: str) -> None:
    """They were lost between those of the next numbers: errors of 0.9 deviations, or more."""
    reg = TabularMLPRegressor(quality=quality, folds=2 if quality == "default" else 1, random_state=0)
    reg.fit(FRAME[:600], ANSWER[:600])
    missed = ANSWER[600:] - reg.predict(FRAME[600:])
    assert np.sqrt(np.mean(missed**2)) < 0.55 * ANSWER.std()


@pytest.mark.parametrize("quality", ["fast", "default"])
def test_of_new_people_it_is_learned_what_is_true_of_all(quality: str) -> None:
    """Some codes are taken for unknown in training: without, errors of new people are 1.1 of the deviation and more."""
    new = FRAME["person"].isin(FRAME["person"].unique()[:40]).to_numpy()
    reg = TabularMLPRegressor(quality=quality, folds=2 if quality == "default" else 1, random_state=0)
    reg.fit(FRAME[~new], ANSWER[~new])
    missed = ANSWER[new] - reg.predict(FRAME[new])
    best = ANSWER[new] - 0.5 * FRAME["dose"][new].to_numpy()
    assert np.sqrt(np.mean(missed**2)) < 1.15 * best.std()


def test_only_coded_networks_know_them() -> None:
    reg = TabularMLPRegressor(**SMALL).fit(FRAME, ANSWER)
    rows = reg.network_rows(FRAME)
    other = rows.copy()
    other[:, -1] = 1.0
    coded = ["table2" in "".join(network.model.params) for network in reg.fitted.networks]
    assert sorted(set(coded)) in ([True], [False, True])
    for network, knows in zip(reg.fitted.networks, coded, strict=True):
        assert np.array_equal(network.scores(rows), network.scores(other)) != knows


def test_no_names_no_codes() -> None:
    one, other = (TabularMLPRegressor(**SMALL | {"numbers": numbers}) for numbers in ("coded", "pieces"))
    few = FRAME[["age", "dose", "town"]]
    assert_array_equal(one.fit(few, ANSWER).predict(few), other.fit(few, ANSWER).predict(few))
    assert not one.preprocessor_.named_numbers_


@pytest.mark.parametrize("numbers", ["float64", "float32"])
def test_files_and_exports_give_the_same(numbers: str, tmp_path) -> None:
    clf = TabularMLPClassifier(**SMALL).fit(FRAME, np.where(ANSWER > 0, "yes", "no"))
    assert clf.preprocessor_.named_numbers_ == ["person"]
    clf.save(tmp_path / "net.pel")
    assert_array_equal(pel.load(tmp_path / "net.pel").predict_proba(FRAME), clf.predict_proba(FRAME))
    import onnxruntime

    session = onnxruntime.InferenceSession(export.onnx(clf, tmp_path / "net.onnx", numbers=numbers))
    strangers = FRAME.assign(person=np.where(FRAME["age"] > 60, 4321, FRAME["person"]))
    feed = {}
    for put in session.get_inputs():
        kind = {"tensor(double)": np.float64, "tensor(float)": np.float32, "tensor(string)": object}[put.type]
        feed[put.name] = strangers[put.name].to_numpy(kind)[:, None]
    likely = next(one for one in session.run(None, feed) if one.shape == (N, 2))
    assert_allclose(likely, clf.predict_proba(strangers), atol=1e-4)
