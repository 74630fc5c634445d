"""Links: what kind of prediction a loss gives is a type, never a word in a name; probabilities from scores."""

import pickle
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import special

from pellucid import nn
from pellucid.graph.numpy_api import log_softmax
from pellucid.nn.losses.classes import CrossEntropy
from pellucid.nn.losses.link import IDENTITY, LINKS, SIGMOID, SIGMOID_OR_SOFTMAX, SOFTMAX, Link, LinkKind
from pellucid.train.files.records import ConfigError, describe, restore
from pellucid.train.metrics import classes, is_classifier

RNG = np.random.default_rng(0)


def squares(s, y):
    return (s - y) ** 2


def design(s):
    return 2.0 * s


def my_sigmoid_thing(s):
    return s + 1.0


def expensive(s):
    return s - 1.0


def softmax(s):
    return 3.0 * s


def halves(s):
    return special.expit(s / 2.0)


# kinds


@pytest.mark.parametrize("link", [design, my_sigmoid_thing, expensive, softmax], ids=lambda link: link.__name__)
def test_a_name_says_nothing_about_the_kind(link):
    loss = nn.loss(squares, link=link)
    assert loss.link_name == link.__name__
    assert not is_classifier(loss)
    assert loss.link.kind is LinkKind.NUMBERS
    assert nn.check_pairing("exp", loss) is None
    assert nn.check_pairing("softmax", loss) is None


def test_what_a_link_is_made_of():
    for function, kind in ((3, LinkKind.NUMBERS), (design, "numbers")):
        with pytest.raises(TypeError, match="Link: expects a function of scores and a kind"):
            Link("own", function, kind)


def test_every_loss_of_the_table():
    kinds = {
        "identity": LinkKind.NUMBERS,
        "sorted": LinkKind.NUMBERS,
        "mean and deviation": LinkKind.NUMBERS,
        "exp": LinkKind.POSITIVE,
        "sign": LinkKind.SIGN,
        "sigmoid": LinkKind.PROBABILITY,
        "softmax": LinkKind.PROBABILITIES,
        "sigmoid, or softmax": LinkKind.EITHER,
    }
    for loss in nn.LOSSES.values():
        assert isinstance(loss.link, Link)
        assert loss.link_name == loss.link.name
        for around in (loss, nn.Summed(loss), nn.Capped(loss), nn.loss(squares, like=loss)):
            assert around.link == loss.link
        if loss.link_name in kinds:
            assert loss.link.kind is kinds[loss.link_name]
    assert {loss.link_name for loss in nn.LOSSES.values()} == kinds.keys()
    assert {name: link.kind for name, link in LINKS.items()}.items() <= kinds.items()


def test_the_kind_of_ones_own_link():
    kind = LinkKind.PROBABILITIES
    assert nn.loss(squares, link=Link("shares", design, kind)).link == Link("shares", design, kind)
    assert nn.loss(squares, link=Link("shares", design, kind), like="poisson").link.kind is kind
    assert nn.loss(squares, link=design, like="poisson").link == Link("design", design, LinkKind.POSITIVE)
    assert nn.loss(squares, link=design, like="bce").link.kind is LinkKind.PROBABILITY
    assert nn.loss(squares, link=lambda s: s).link_name == "lambda"
    # functions that are what their name says
    assert nn.loss(squares, link=np.exp).link.kind is LinkKind.POSITIVE
    assert nn.loss(squares, link=SOFTMAX.function).link == SOFTMAX
    assert nn.loss(squares, link=special.softmax).link.kind is LinkKind.PROBABILITIES


def test_a_link_is_stored_with_its_name_and_kind():
    loss = nn.loss(squares, link=Link("shares", design, LinkKind.PROBABILITIES))
    again = restore(describe(loss), {"squares": squares, "design": design})
    assert again == loss
    assert again.link == loss.link
    assert pickle.loads(pickle.dumps(loss)).link == loss.link
    ours = nn.loss(squares, link=nn.LINKS["softmax"])
    assert restore(describe(ours), {"squares": squares}) == ours
    assert describe(nn.loss(squares, link=design)).keys() == {"type", "function", "own_link", "like", "name"}
    for wrong in ({"kind": "WISHES"}, {"function": 3}, {"name": "wishes", "function": None}, {"more": 1}):
        data = describe(loss)
        data["own_link"] = {key: value for key, value in (data["own_link"] | wrong).items() if value is not None}
        with pytest.raises(ConfigError):
            restore(data, {"squares": squares, "design": design})


@dataclass(frozen=True)
class Tempered(nn.Loss):
    """A class of the user's, with a method and a text."""

    temperature: float = 2.0
    name = "tempered"
    link_name = "sigmoid"

    def each(self, s, y):
        return np.mean(squares(s, y), axis=1)

    def link(self, scores):  # type: ignore[override]
        return special.expit(scores / self.temperature)


@dataclass(frozen=True, slots=True)
class Milder(Tempered):
    link_name = "milder"

    def link(self, scores):  # type: ignore[override]
        return 0.5 * super(Milder, self).link(scores)


@dataclass(frozen=True)
class Designed(nn.Loss):
    name = "designed"
    link_name = "my design, expensive"

    def each(self, s, y):
        return np.mean(squares(s, y), axis=1)

    link = staticmethod(design)  # type: ignore[assignment]


@dataclass(frozen=True)
class Shared(CrossEntropy):
    def link(self, scores):  # type: ignore[override]
        return super().link(scores / 2.0)


def test_a_class_of_ones_own_writes_a_method_and_a_text():
    s = RNG.normal(size=(4, 3))
    loss: Any = Tempered(3.0)
    assert loss.link.kind is LinkKind.PROBABILITY  # by the name of one of the table's links
    assert (loss.link_name, loss.link.name) == ("sigmoid", "sigmoid")
    assert_array_equal(loss.link(s), special.expit(s / 3.0))
    milder: Any = Milder(3.0)
    assert (milder.link.name, milder.link.kind) == ("milder", LinkKind.PROBABILITY)  # as the one it replaces
    assert_array_equal(milder.link(s), 0.5 * special.expit(s / 3.0))
    assert not is_classifier(Designed())
    assert Designed().link == Link("my design, expensive", design, LinkKind.NUMBERS)
    shared: Any = Shared()
    assert (shared.link_name, shared.link.kind) == ("softmax", LinkKind.PROBABILITIES)
    assert_allclose(shared.link(s), special.softmax(s / 2.0, axis=1))
    assert nn.Summed(shared).link == shared.link


def test_a_class_of_ones_own_may_say_its_link_as_a_record_or_its_name_alone():
    @dataclass(frozen=True)
    class Recorded(Tempered):
        link = Link("halves", halves, LinkKind.PROBABILITY)

    @dataclass(frozen=True)
    class Worded(nn.Loss):
        link_name = "sign"

        def each(self, s, y):
            return np.mean(squares(s, y), axis=1)

    assert Recorded().link(np.zeros((1, 1))) == 0.5
    assert Worded().link == Link("sign", IDENTITY.function, LinkKind.SIGN)


def test_classes_by_kind():
    scores = np.array([[1.0, 2.0], [3.0, -1.0]])
    assert_array_equal(classes(nn.loss("cross_entropy"), scores), [1, 0])
    assert_array_equal(classes(nn.loss("focal"), scores), [1, 0])
    assert_array_equal(classes(nn.loss("focal"), scores[:, 1:]), [1, 0])
    assert_array_equal(classes(nn.loss("multilabel"), scores), [[1, 1], [1, 0]])
    assert_array_equal(classes(nn.loss("hinge"), scores), [[1, 1], [1, -1]])
    assert_array_equal(classes(nn.Summed(nn.loss(squares, like="focal")), scores), [1, 0])


# probabilities


def written_out(scores, log, multilabel=False):
    """The formula as it was written for the estimators: (n, outputs) -> (n, classes)"""
    shared = scores.shape[1] > 1 and not multilabel
    if scores.shape[1] == 1 and not multilabel:
        scores = np.concatenate([-scores, scores], axis=1)
    found = special.softmax(scores, axis=1) if shared else special.expit(scores)
    if not log:
        return found
    exact = log_softmax(scores) if shared else special.log_expit(scores)
    return np.where(found > 0.5, np.log(np.maximum(found, 0.5)), exact)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(
    ("name", "outputs"), [("bce", 1), ("focal", 1), ("cross_entropy", 3), ("focal", 3), ("multilabel", 3)]
)
def test_probabilities_to_the_bit(name, outputs, dtype):
    scores = (RNG.normal(size=(500, outputs)) * RNG.choice([1e-3, 1.0, 30.0, 1000.0], size=(500, 1))).astype(dtype)
    scores[:3] = [[0.0] * outputs, [-0.0] * outputs, [1e30] * outputs]
    for link in (nn.loss(name).link, nn.Summed(nn.loss(name)).link, nn.loss(squares, like=name).link):
        for log, method in ((False, link.probabilities), (True, link.log_probabilities)):
            expected, actual = written_out(scores, log, name == "multilabel"), method(scores)
            assert actual.dtype == expected.dtype == dtype
            assert_array_equal(actual, expected)
    assert np.isfinite(link.log_probabilities(scores)).all()


def test_probabilities_of_ones_own_link():
    s = np.array([[-3000.0], [0.0], [1.0]])
    link = nn.loss(squares, link=halves, like="bce").link
    p = special.expit(s / 2)
    assert_array_equal(link.probabilities(s), np.concatenate([1 - p, p], axis=1))
    logs = link.log_probabilities(s)
    assert np.isfinite(logs).all()
    assert_array_equal(logs[1:], np.log(link.probabilities(s)[1:]))
    assert logs[0, 1] == np.log(np.finfo(np.float64).tiny)
    three: Any = Shared()
    rows = RNG.normal(size=(5, 3))
    assert_array_equal(three.link.probabilities(rows), three.link(rows))
    assert_array_equal(three.link.log_probabilities(rows), np.log(three.link(rows)))
    several = nn.loss(squares, link=halves, like="multilabel").link
    assert_array_equal(several.probabilities(rows), halves(rows))
    apart = nn.loss(squares, link=special.expit, like="cross_entropy").link  # no softmax behind the user's back
    assert_array_equal(apart.probabilities(rows), special.expit(rows))


def test_scipys_sigmoid_is_the_sigmoid():
    s = RNG.normal(size=(5, 1)) * 100
    assert_array_equal(nn.loss(squares, link=special.expit, like="bce").link.probabilities(s), SIGMOID.probabilities(s))


def test_what_has_no_probabilities():
    for name in ("hinge", "squared_error", "poisson", "quantile"):
        link = nn.loss(name).link
        assert not link.kind.gives_probabilities
        with pytest.raises(ValueError, match=rf"the link {link.name} gives .*, no probabilities: use"):
            link.probabilities(np.zeros((1, 1)))
    assert nn.loss("hinge").link.kind.tells_classes
    assert SIGMOID_OR_SOFTMAX.kind.for_scores(1) is LinkKind.PROBABILITY
    assert SIGMOID_OR_SOFTMAX.kind.for_scores(2) is LinkKind.PROBABILITIES
    assert LinkKind.PROBABILITY.for_scores(2) is LinkKind.PROBABILITY
