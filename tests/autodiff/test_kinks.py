"""check_grads and gradient_report at kinks: no false error, and no error missed."""

import numpy as np
import pytest

import pellucid as pel
from pellucid import nn
from pellucid.autodiff.gradient_report import gradient_report
from pellucid.errors import DifferentiationError, GradientCheckError

relu = nn.activation("relu")


def wrong_relu(by):
    """ReLU with a slope that is wrong by a factor."""
    return pel.custom_rule(relu.function, slope=lambda d, y, x: d * by * (x > 0).astype(d.dtype))


@pytest.mark.parametrize("distance", [0.0, 1e-9, 1e-7, 1e-5, 1e-4, 1e-3, 2.5e-3, 1e-2])
@pytest.mark.parametrize("name", ["relu", "leaky_relu", "hard_tanh", "relu6", "selu", "elu", "squared_relu"])
def test_a_kink_near_or_at_the_point_is_no_error(name, distance):
    function = nn.activation(name)
    kink = (function.kinks or (0.0,))[-1]
    x = kink + np.array([distance, -distance, 0.7, -1.3])
    pel.check_grads(lambda x: np.sum(function(x) * np.arange(1.0, 5.0)), (x,), order=1)


@pytest.mark.parametrize("distance", [0.0, 1e-9, 1e-6, 1e-4, 1e-3])
@pytest.mark.parametrize("by", [1.001, 0.999])
def test_a_wrong_rule_is_found_beside_kinks(by, distance):
    x = np.array([distance, -distance, 0.7, 1.3])
    with pytest.raises(GradientCheckError, match="against differences"):
        pel.check_grads(wrong_relu(by), (x,), order=1)
    report = gradient_report(wrong_relu(by), (x,))
    assert not report.agrees
    assert report["[0]"].where in [(2,), (3,), (0,)]


def test_a_kink_everywhere_at_once():
    """All units at 0, as with zero weights and biases: left and right slopes say nothing about each unit."""
    net = nn.mlp((6, 5), 2)
    params = {name: np.zeros_like(w) for name, w in net.initialize(3).params.items()}
    X = np.random.default_rng(0).normal(size=(4, 3))
    pel.check_grads(lambda p: np.sum(net.predict(p, X)), (params,), order=1)


def test_the_lectures_xor_network_has_units_exactly_at_the_kink():
    params = {"U": np.ones((2, 2)), "c": np.array([0.0, -1.0]), "w": np.array([2.0, -4.0]), "b": np.array(-1.0)}
    X = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])

    def scores(p):
        return np.maximum(X @ p["U"] + p["c"], 0) @ p["w"] + p["b"]

    pel.check_grads(scores, (params,), order=1)
    report = gradient_report(lambda p: np.sum(scores(p) ** 2), (params,))
    assert report.agrees
    assert report["[0]['c']"].kinks == 2
    assert report["[0]['w']"].kinks == 0


@pytest.mark.parametrize("seed", range(8))
def test_deep_relu_networks_pass_wherever_they_are(seed):
    rng = np.random.default_rng(seed)
    net = nn.mlp((20, 20, 20), 3)
    params = net.initialize(5, seed=seed).params
    X = rng.normal(size=(50, 5))  # 3000 units and rows: some kink is always near
    pel.check_grads(lambda p: np.sum(net.predict(p, X) ** 2), (params,), order=1, seed=seed)


@pytest.mark.parametrize("seed", range(4))
def test_deep_networks_with_a_wrong_rule_do_not_pass(seed):
    net = nn.mlp((20, 20), 3, activation=wrong_relu(1.001))
    X = np.random.default_rng(seed).normal(size=(50, 5))
    with pytest.raises(GradientCheckError):
        pel.check_grads(
            lambda p: np.sum(net.predict(p, X) ** 2), (net.initialize(5, seed=seed).params,), order=1, seed=seed
        )


def test_a_jump_is_no_error_either():
    step = nn.activation("step")
    pel.check_grads(lambda x: np.sum(step(x) + x**2), (np.array([0.0, 1e-5, 2.0]),), order=1)


def test_a_step_that_is_too_large_for_a_steep_function():
    pel.check_grads(lambda x: np.sin(1e4 * x), (np.array([0.3]),), order=1)


def test_a_smooth_function_with_a_wrong_rule_is_not_taken_for_a_kink():
    wrong = pel.custom_rule(np.sin, slope=lambda d, y, x: d * np.cos(x) * 1.001)
    with pytest.raises(GradientCheckError, match=r"(?s)forward mode.*error.*differs"):
        pel.check_grads(lambda x: wrong(1e3 * x), (np.array([0.3, 0.1]),), order=1)


def test_the_report_has_a_line_for_every_argument():
    net = nn.mlp((4,), 1, activation=wrong_relu(1.5))
    params = net.initialize(2, dtype=np.float64).params
    X = np.random.default_rng(0).normal(size=(9, 2))
    report = gradient_report(lambda p: np.mean(net.predict(p, X) ** 2), (params,))
    assert [one.name for one in report.arguments] == [f"[0][{name!r}]" for name in params]
    assert [one.agrees for one in report.arguments] == [False, False, True, True]
    assert report["[0]['hidden1.weight']"].error == pytest.approx(1 / 3, rel=1e-5)
    assert str(report).count("WRONG at") == 2
    assert "wrong: [0]['hidden1.weight'], [0]['hidden1.bias']" in repr(report)
    assert "<pre>" in report._repr_html_()
    with pytest.raises(KeyError, match="there is no argument 'W'"):
        report["W"]


def test_a_report_of_large_arguments_looks_at_some_entries():
    report = gradient_report(lambda w: np.sum(np.tanh(w)), (np.ones((50, 50)),), entries=5)
    assert (report.arguments[0].entries, report.arguments[0].shape) == (5, (50, 50))
    assert report.agrees


def test_reports_refuse():
    with pytest.raises(TypeError, match="as a tuple"):
        gradient_report(np.sin, np.ones(2))
    with pytest.raises(DifferentiationError, match="no floating-point argument"):
        gradient_report(np.sin, (1,))
    with pytest.raises(ValueError, match="entries is a whole number from 1"):
        gradient_report(np.sin, (1.0,), entries=0)


def test_nan_is_wrong():
    with np.errstate(invalid="ignore"):
        assert not gradient_report(lambda x: np.sqrt(x - 2.0), (1.0,)).agrees


@pytest.mark.parametrize("distance", [0.0, 1e-6, 1e-4, 1e-3])
def test_second_derivatives_beside_kinks(distance):
    x = np.array([distance, -distance, 0.7, -1.3])
    pel.check_grads(lambda x: np.sum(relu(x) ** 2 * np.arange(1.0, 5.0) + relu(x) * x), (x,), order=2)
