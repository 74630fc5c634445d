"""What is said of a network beside simple models, and why a target is taken for numbers or classes."""

import polars as pl
import pytest

from pellucid.cli.scores import verdict
from pellucid.cli.settings import Task
from pellucid.cli.target import target_of


@pytest.mark.parametrize(
    ("network", "linear", "said"),
    [
        (0.2, 0.5, "The network is better than the linear model and a constant answer."),
        (0.5, 0.2, "too few rows or epochs"),
        (2.0, 0.5, "no better than a constant answer"),
        (0.1, 1e-5, "computed from these columns"),
        (1e-6, 1e-5, "computed from these columns"),
    ],
)
def test_the_verdict(network, linear, said):
    marks = {"network": network, "linear": linear, "constant": 1.0}
    assert said in verdict({model: {"root mean square error": error} for model, error in marks.items()})


def test_rare_classes_are_not_none():
    frame = pl.DataFrame({"kind": ["usual"] * 997 + ["rare"] * 3})
    assert "usual 100%, rare <1%" in target_of(frame, ["kind"], Task.AUTO).described()


def test_of_several_targets_one_is_named():
    frame = pl.DataFrame({"wide": [1.5, 2.5, 3.5], "high": [1.0, 2.0, 4.5]})
    assert target_of(frame, ["wide", "high"], Task.AUTO).why == "'wide' has 3 different numbers"
    assert target_of(frame, ["wide"], Task.AUTO).why == "it has 3 different numbers"
