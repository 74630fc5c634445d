"""Several networks for one table: counted by rows they have not seen, saved, stopped in time, told of by get_recipe."""

import _thread
import signal
import threading
import time
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.metrics import log_loss

import pellucid
from pellucid import TabularMLPClassifier, TabularMLPRegressor, nn
from pellucid.estimators.fitted import Crew
from pellucid.train import Callback, Run
from pellucid.train.loop.ending import EndingKind

RNG = np.random.default_rng(0)
N = 600
FRAME = pd.DataFrame(
    {"a": RNG.normal(size=N), "b": RNG.uniform(size=N), "c": RNG.choice(["x", "y", "z"], N), "d": RNG.normal(size=N)}
)
LABELS = np.where(
    np.sin(8 * FRAME["b"]) + FRAME["a"] * (FRAME["c"] == "x") + RNG.normal(size=N) * 0.5 > 0.3, "hi", "lo"
)
NUMBERS = (np.sin(8 * FRAME["b"]) + FRAME["a"] * (FRAME["c"] == "x")).to_numpy() * 10 + 50
THREE = np.digitize(NUMBERS, [45, 55])
SMALL = {"hidden_layer_sizes": (32, 32), "max_iter": 12, "folds": 3, "random_state": 0}


def fitted(quality: str = "default", y: np.ndarray = LABELS, **more: object) -> Any:
    kind = TabularMLPRegressor if y is NUMBERS else TabularMLPClassifier
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        folds = {"folds": "auto"} if quality == "fast" else {}
        return kind(quality=quality, **(SMALL | folds | more)).fit(FRAME, y)


def test_the_default_is_a_crew_whose_shares_add_up() -> None:
    crew = fitted(folds="auto", max_iter=6).fitted.crew
    assert crew is not None
    assert 8 <= len(crew.members) <= 32
    assert len(crew.members) % 8 == 0  # a kind has one for each fold
    assert sum(crew.shares) == pytest.approx(1.0)
    assert list(crew.shares) == sorted(crew.shares, reverse=True)


def test_best_has_a_network_for_each_fold_and_kind() -> None:
    model = fitted("best", folds=3, numbers=["waves", "rough"], monitor="loss")
    assert len(model.fitted.networks) in (3, 6)
    assert sum(model.fitted.crew.shares) == pytest.approx(1.0)


def test_one_network_is_no_crew() -> None:
    model = fitted("fast")
    assert model.fitted.crew is None
    assert model.temperature_ != 1.0


@pytest.mark.parametrize("y", [LABELS, THREE], ids=["two", "three"])
def test_probabilities_are_the_mean_of_the_members(y: np.ndarray) -> None:
    model = fitted(y=y, calibrated=False)
    rows, crew = model.network_rows(FRAME), model.fitted.crew
    target = model.fitted.target
    each = [target.probabilities(member.scores(rows)) for member in crew.members]
    mean = np.average(each, axis=0, weights=crew.shares)
    np.testing.assert_allclose(model.predict_proba(FRAME), mean, rtol=2e-4, atol=1e-6)


def test_numbers_are_the_mean_of_the_members() -> None:
    model = fitted("best", NUMBERS, folds=2)
    rows, crew = model.network_rows(FRAME), model.fitted.crew
    each = [model.fitted.target.decode(member.scores(rows)) for member in crew.members]
    np.testing.assert_allclose(model.predict(FRAME), np.average(each, axis=0, weights=crew.shares), rtol=1e-4)


@pytest.mark.parametrize("y", [LABELS, THREE], ids=["two", "three"])
@pytest.mark.parametrize("quality", ["fast", "default"])
def test_predictions_are_the_most_likely_classes(quality: str, y: np.ndarray) -> None:
    model = fitted(quality, y)
    likely = model.predict_proba(FRAME)
    assert np.array_equal(model.predict(FRAME), model.classes_[likely.argmax(axis=1)])
    assert likely.sum(axis=1) == pytest.approx(1.0, abs=1e-5)
    np.testing.assert_allclose(np.exp(model.predict_log_proba(FRAME)), likely, rtol=1e-4, atol=1e-7)


def test_the_switch_changes_neither_classes_nor_their_order() -> None:
    with_it, without = fitted("fast", THREE), fitted("fast", THREE, calibrated=False)
    assert np.array_equal(with_it.predict(FRAME), without.predict(FRAME))
    sure, unsure = with_it.predict_proba(FRAME).max(axis=1), without.predict_proba(FRAME).max(axis=1)
    assert not np.allclose(sure, unsure)
    assert without.temperature_ == 1.0


def test_rows_that_contradict_the_scores_change_no_classes() -> None:
    """The temperature is then as high as it can be, and answers are as good as even: their order stays, in float32."""
    model = fitted("fast", THREE)
    before = model.predict(FRAME)
    model.calibrate(FRAME[:100], (before[:100] + 1) % 3)
    assert model.temperature_ > 10
    assert np.ptp(model.predict_proba(FRAME), axis=1).max() < 0.1
    assert np.array_equal(model.predict(FRAME), before)


def test_nothing_is_certain() -> None:
    y = (FRAME["a"] > 0).to_numpy()
    likely = fitted(y=y, max_iter=40).predict_proba(FRAME)
    assert likely.min() >= 0.9 / (2 * (0.6 * N + 1))  # three parts of five are held out
    one = fitted(y=y, max_iter=40, folds=1).predict_proba(FRAME)
    assert one.min() >= 0.9 / (2 * (0.2 * N + 1))


def test_smoothing_that_is_asked_for_does_not_survive() -> None:
    y = (FRAME["a"] > 0).to_numpy()
    smooth = fitted("fast", y, label_smoothing=0.3, max_iter=40)
    assert smooth.predict_proba(FRAME).max() > 0.97


def test_a_saved_crew_says_the_same(tmp_path: Path) -> None:
    for model in (fitted(), fitted(y=NUMBERS)):
        model.save(tmp_path / "model")
        back = pellucid.load(tmp_path / "model")
        assert np.array_equal(back.predict(FRAME), model.predict(FRAME))
        assert len(back.fitted.networks) == len(model.fitted.networks)
    assert np.array_equal(fitted().predict_proba(FRAME), fitted().predict_proba(FRAME))


def test_a_row_alone_gets_the_same_answer() -> None:
    model = fitted()
    np.testing.assert_allclose(model.predict_proba(FRAME)[:3], model.predict_proba(FRAME[:3]), rtol=1e-4)


@pytest.mark.parametrize("loss", ["log_loss", "squared_error", "gaussian"])
def test_deviations_come_with_the_answer_itself(loss: str) -> None:
    y = THREE if loss == "log_loss" else NUMBERS
    model = fitted(y=y, loss=loss)
    assert model.fitted.crew is not None
    ask = model.predict_proba if loss == "log_loss" else model.predict
    answer, deviation = ask(FRAME, return_std=True)
    np.testing.assert_array_equal(answer, ask(FRAME))
    assert deviation.shape == answer.shape
    assert deviation.min() > 0


@pytest.mark.parametrize("y", [LABELS, NUMBERS], ids=["classes", "numbers"])
def test_networks_spread_as_they_count(y: np.ndarray) -> None:
    model = fitted(y=y)
    fit, rows = model.fitted, model.network_rows(FRAME)
    crew = Crew(fit.crew.members[:3], (0.5, 0.25, 0.25))
    deviation = replace(fit, crew=crew).draws(rows, 2, fit.target.decode if y is NUMBERS else model._likely, "")[1]
    each = [member.tempered(rows) for member in crew.members]
    said = np.stack([fit.target.decode(s) if y is NUMBERS else model._likely(s) for s in each])
    twice = np.stack([said[0], said[0], said[1], said[2]])  # the first counts twice
    expected = twice.std(axis=0) / np.sqrt(1 - 0.5**2 - 2 * 0.25**2)
    np.testing.assert_allclose(deviation, expected, rtol=1e-4, atol=1e-6)


def test_normal_distributions_of_several_networks_are_one() -> None:
    """The variance of a mixture: what each predicts, and how their means differ."""
    model = fitted(y=NUMBERS, loss="gaussian")
    target, rows = model.fitted.target, model.network_rows(FRAME)
    between = model.fitted.crew.spread(rows, target.decode)[1]
    within = target.deviations(model.fitted.scores(rows))
    deviation = model.predict(FRAME, return_std=True)[1]
    np.testing.assert_allclose(deviation, np.sqrt(within**2 + between**2), rtol=1e-4)


def test_time_is_for_all_together() -> None:
    model = TabularMLPClassifier(quality="best", max_time=1.0, max_iter=10_000, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(FRAME, LABELS)
    assert 1 <= len(model.fitted.networks) <= 32
    assert model.n_iter_ <= max(network.limit for network in model.fitted.networks) < 10_000


class Sleepy(Callback):
    """An epoch takes a while."""

    side_by_side = True

    def on_epoch_end(self, run: Run) -> None:
        time.sleep(0.05)


def test_in_a_short_time_fewer_networks_come_to_the_end_of_their_schedules() -> None:
    settings: dict[str, Any] = {"hidden_layer_sizes": (4,), "numbers": ("waves", "plain"), "folds": 8, "max_iter": 20}
    model = TabularMLPClassifier(max_time=5.0, callbacks=[Sleepy()], random_state=0, **settings)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(FRAME, LABELS)
    ended = [network.model.history.ending for network in model.fitted.networks]
    assert 1 <= len(ended) < 16
    assert [ending.kind for ending in ended if ending is not None] == [EndingKind.EPOCHS] * len(ended)


def test_the_recipe_makes_the_same_estimator() -> None:
    model = TabularMLPClassifier(quality="fast", max_iter=12, random_state=0)
    recipe = model.get_recipe(rows=480)
    again = TabularMLPClassifier(**recipe)
    assert not any(
        isinstance(value, str) and value == "auto"
        for key, value in recipe.items()
        if key != "monitor" and key != "engine"
    )
    assert np.array_equal(model.fit(FRAME, LABELS).predict_proba(FRAME), again.fit(FRAME, LABELS).predict_proba(FRAME))
    assert model.get_recipe()["batch_size"] == recipe["batch_size"]
    assert clone(again).get_params() == again.get_params()


def test_qualities_differ_and_can_be_changed() -> None:
    fast, default, best = (TabularMLPRegressor(quality=quality) for quality in ("fast", "default", "best"))
    for rows in (100, 5_000, 50_000):
        counts = [one.get_recipe(rows)["folds"] for one in (fast, default, best)]
        assert counts[0] == 1 < counts[1] < counts[2]
        assert len(fast.get_recipe(rows)["numbers"]) < len(best.get_recipe(rows)["numbers"])
    assert default.get_recipe(100)["folds"] > default.get_recipe(50_000)["folds"]
    assert TabularMLPRegressor(quality="best", folds=2).get_recipe()["folds"] == 2


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"quality": "good"}, "'fast', 'default' or 'best'"),
        ({"numbers": "ripples"}, "'waves'"),
        ({"numbers": []}, "'waves'"),
        ({"folds": 0}, "whole number"),
    ],
)
def test_wrong_settings_are_told(wrong: dict[str, object], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        TabularMLPClassifier(**wrong).fit(FRAME, LABELS)


def test_folds_keep_groups_together() -> None:
    groups = np.arange(N) // 20
    model = fitted("best", folds=3, numbers="waves")
    together = TabularMLPClassifier(quality="best", numbers="waves", **SMALL).fit(FRAME, LABELS, groups=groups)
    assert len(model.fitted.networks) == len(together.fitted.networks) == 3


def test_rows_of_ones_own_choose() -> None:
    model = TabularMLPClassifier(**SMALL).fit(FRAME[:400], LABELS[:400], X_val=FRAME[400:], y_val=LABELS[400:])
    assert model.fitted.calibration.doubt == pytest.approx(1 / 201)
    assert log_loss(LABELS[400:], model.predict_proba(FRAME[400:])) < 0.69


def test_without_rows_held_out_all_count_the_same() -> None:
    model = fitted(early_stopping=False)
    assert len(model.fitted.networks) == 3
    assert set(model.fitted.crew.shares) == {1 / 3}


def test_frames_without_numbers_need_one_network() -> None:
    """And one without hidden layers, if it is asked for: all others would be the same."""
    names = FRAME[["c"]].assign(e=RNG.choice(list("pqrs"), N))
    kinds = ["waves", "pieces", "rough", "plain"]
    hidden = TabularMLPClassifier(**{**SMALL, "folds": 1}, numbers=kinds).fit(names, LABELS)
    assert hidden.fitted.crew is None
    both = TabularMLPClassifier(**{**SMALL, "folds": 1}).fit(names, LABELS)
    assert len(both.fitted.networks) <= 2
    assert both.fitted.networks[0].model.net != both.fitted.networks[-1].model.net or both.fitted.crew is None


def test_noisy_networks_have_dropout_of_their_own_unless_one_is_asked_for() -> None:
    noisy = TabularMLPClassifier(**{**SMALL, "folds": 1, "max_iter": 2}, numbers="noisy")
    for dropout, expected in ((0.0, 0.15), (0.4, 0.4)):
        net = noisy.set_params(dropout=dropout).fit(FRAME, LABELS).fitted.model.net
        assert {layer.rate for _, layer in net.children if isinstance(layer, nn.Dropout)} == {expected}
    assert {"noisy", "noisy_rough"} < set(TabularMLPClassifier(quality="best").get_recipe()["numbers"])


def test_classes_of_few_rows_survive_folds() -> None:
    y = np.where(np.arange(N) < 3, "rare", LABELS)
    model = fitted("best", y, folds=5, numbers="waves")
    assert model.predict_proba(FRAME).shape == (N, 3)


@pytest.mark.parametrize("y", [THREE, NUMBERS], ids=["classes", "numbers"])
def test_threads_and_callbacks_that_only_look_change_nothing(y: np.ndarray) -> None:
    """Networks have a thread each, side by side; one after the other where a callback or lines are to be followed."""
    epochs: list[int] = []
    alone, together = fitted(y=y, threads=1, max_iter=4), fitted(y=y, threads=2, max_iter=4)
    watched = fitted(y=y, threads=2, max_iter=4, callbacks=[lambda run: epochs.append(run.epoch)])
    assert np.array_equal(alone.predict(FRAME), together.predict(FRAME))
    assert np.array_equal(watched.predict(FRAME), together.predict(FRAME))
    assert epochs == [1, 2, 3, 4] * (len(epochs) // 4)


def test_a_callback_may_be_told_of_several_trainings_at_once() -> None:
    class Counts(pellucid.train.Callback):
        side_by_side = True

        def __init__(self) -> None:
            self.ended: list[str] = []

        def on_fit_end(self, run: pellucid.train.Run) -> None:
            self.ended.append(threading.current_thread().name)

    counts = Counts()
    fitted(threads=2, max_iter=2, callbacks=[counts])
    assert len(counts.ended) == 9  # of three kinds with hidden layers
    assert threading.main_thread().name not in counts.ended


def test_ctrl_c_keeps_what_is_there() -> None:
    def enough(run: pellucid.train.Run) -> None:
        if run.epoch == 2:
            raise KeyboardInterrupt

    with pytest.warns(UserWarning, match="interrupted"):
        model = TabularMLPClassifier(**SMALL, callbacks=[enough]).fit(FRAME, LABELS)
    assert len(model.fitted.networks) == 1
    assert model.predict_proba(FRAME).shape == (N, 2)


def test_ctrl_c_with_networks_side_by_side_ends_the_fit() -> None:
    """A crew that was cut short is not tried again, though what is there of it has learned nothing."""

    class Enough(pellucid.train.Callback):
        side_by_side = True
        trainings = 0

        def on_fit_begin(self, run: pellucid.train.Run) -> None:
            self.trainings += 1
            if self.trainings == 6:  # two of the second fold are at work: it will not be complete
                _thread.interrupt_main()

    noise = np.random.default_rng(2).permutation(LABELS)  # whichever of the networks are there
    words = {**SMALL, "folds": 8, "max_iter": 64, "threads": 2, "numbers": ("waves", "pieces", "rough", "fine")}
    callback = Enough()
    handler = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = TabularMLPClassifier(**words, callbacks=[callback]).fit(FRAME, noise)
    finally:
        signal.signal(signal.SIGINT, handler)
    assert callback.trainings < 32
    assert [one["failure"] != "" for one in model.attempts_] == [True]


def test_what_part_is_held_out() -> None:
    """Few folds hold out no more than validation_fraction, many less: every row trains seven networks of eight."""
    few = TabularMLPRegressor(**{**SMALL, "folds": 2}).fit(FRAME, NUMBERS)
    many = TabularMLPRegressor(numbers="waves", **{**SMALL, "folds": 10}).fit(FRAME, NUMBERS)
    assert len(few.fitted.calibration.errors) == 2 * N / 5
    assert len(many.fitted.calibration.errors) == N


def test_few_groups_make_few_folds() -> None:
    groups = np.arange(N) % 3
    model = TabularMLPClassifier(numbers="waves", **{**SMALL, "folds": "auto"}).fit(FRAME, LABELS, groups=groups)
    assert len(model.fitted.networks) == 3
    with pytest.raises(ValueError, match="5 are needed for 5 folds"):
        TabularMLPClassifier(numbers="waves", **{**SMALL, "folds": 5}).fit(FRAME, LABELS, groups=groups)
