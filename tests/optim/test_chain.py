"""What a chain is made of: rules by name and object, whole optimizers, links, groups; and what it refuses."""

import numpy as np
import pytest

from pellucid import nn, optim, train

ADAM = optim.Adam(1e-2)


def fitted(optimizer):
    X = np.random.default_rng(0).normal(size=(40, 3))
    model = train.Model(nn.mlp((4,), 1), "squared_error", optimizer, dtype="float64", engine="numpy")
    model.fit(X, X[:, 0], epochs=3, batch_size=8, verbose=False)
    return model.params


AHEAD, BEHIND = optim.ClipNorm(1), optim.WeightDecay(0.1)


@pytest.mark.parametrize(
    ("make", "meant"),
    [
        (lambda: optim.chain(AHEAD, optim.optimizer("adam", lr=1e-2)), optim.chain(AHEAD, ADAM)),
        (lambda: optim.chain(optim.optimizer(ADAM), BEHIND), optim.chain(ADAM, BEHIND)),
        (
            lambda: optim.chain(AHEAD, optim.chain(optim.ClipValue(2), ADAM, optim.EMA(0.9)), BEHIND),
            optim.chain(AHEAD, optim.ClipValue(2), ADAM, optim.EMA(0.9), BEHIND),
        ),
        (lambda: optim.optimizer([AHEAD, optim.optimizer("adam", lr=1e-2)]), optim.chain(AHEAD, ADAM)),
    ],
)
def test_an_optimizer_takes_the_place_of_the_rule(make, meant):
    made = make()
    assert made == meant
    ours, theirs = fitted(made), fitted(meant)
    for name in ours:
        np.testing.assert_array_equal(ours[name], theirs[name])


def test_its_groups_are_kept():
    inner = optim.chain(ADAM, groups=[optim.Group("*.bias", lr=0.0)])
    outer = optim.chain(optim.ClipNorm(1), inner, groups=[optim.Group("hidden1.*", lr=0.5)])
    assert [group.on for group in outer.groups] == ["*.bias", "hidden1.*"]
    assert not np.any(fitted(outer)["output.bias"])


@pytest.mark.parametrize(
    ("parts", "error", "text"),
    [
        ([optim.ClipNorm(1)], ValueError, r"a chain has one rule, such as Adam\(1e-3\) or optimizer\('adam'\), got 0"),
        ([], ValueError, "got 0: nothing"),
        ([ADAM, optim.optimizer("sgd")], ValueError, "a chain has one rule.*got 2"),
        ([optim.ClipNorm(1), optim.Adam], TypeError, r"write Adam\(\.\.\.\), with brackets"),
        ([optim.ClipNorm(1), 0.1], TypeError, "a chain is made of links and one rule, got 0.1"),
        ([optim.optimizer("adam"), optim.ClipNorm(1)], ValueError, "works on gradients: put it ahead of Adam"),
        ([optim.WeightDecay(0.1), optim.optimizer("adam")], ValueError, "works on parameters: put it behind Adam"),
        ([optim.Accumulate(2), optim.Accumulate(2), ADAM], ValueError, "one Accumulate"),
    ],
)
def test_what_is_no_chain(parts, error, text):
    with pytest.raises(error, match=text):
        optim.chain(*parts)


@pytest.mark.parametrize("groups", [optim.Group("*.bias"), "*.bias", [("*.bias", 0.1)], 3, ["*.bias"]])
def test_groups_are_a_list_of_groups(groups):
    for make in (lambda: optim.chain(ADAM, groups=groups), lambda: optim.optimizer("adam", groups=groups)):
        with pytest.raises(TypeError, match=r"groups is a list of optim\.Group"):
            make()
