"""What the two modes cost: Speelpenning's product, and functions with many inputs or many outputs."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import pellucid as pel
from pellucid.lab import costs


@pytest.mark.parametrize("zeros", [(), (2,), (0, 3)])
def test_both_modes_give_the_gradient_of_the_product(zeros):
    w = np.array([1.5, -2.0, 3.0, 0.5, 4.0])
    w[list(zeros)] = 0.0
    expected = [np.prod(np.delete(w, j)) for j in range(len(w))]
    for mode in costs.MODES:
        assert_allclose(pel.jacobian(costs.speelpenning, mode=mode)(list(w)), expected, rtol=1e-14)
        assert_allclose(pel.jacobian(costs.speelpenning, mode=mode)(w), expected, rtol=1e-14)


def test_the_lectures_reverse_algorithm():
    w = [2.0, 3.0, 5.0, 7.0]
    v = [1.0]
    for w_j in w:
        v.append(v[-1] * w_j)
    bar, expected = 1.0, [0.0] * len(w)
    for j in reversed(range(len(w))):
        expected[j], bar = bar * v[j], bar * w[j]
    assert_allclose(pel.grad(costs.speelpenning)(w), expected, rtol=0)


def test_the_lectures_forward_algorithm_from_its_true_beginning():
    """With dv_2/dw = e_1 the value v_2 = w_1 must be set too; beginning at v_1 = 1, dv_1/dw = 0 needs no care."""
    w = np.array([2.0, 3.0, 5.0])
    v, dv = 1.0, np.zeros(3)
    for j, w_j in enumerate(w):
        v, dv = v * w_j, dv * w_j + v * np.eye(3)[j]
    assert_allclose(dv, pel.jacobian(costs.speelpenning, mode="forward")(w), rtol=0)
    assert v == costs.speelpenning(list(w)) == 30.0


def test_forward_is_quadratic_and_reverse_linear():
    measured = costs.speelpenning_costs()
    assert measured.d == (4, 8, 16, 32, 64, 128, 256)
    assert measured.forward_exponent == pytest.approx(2, abs=0.1)
    assert measured.reverse_exponent == pytest.approx(1, abs=0.05)
    assert measured.reverse == tuple(3 * d - 2 for d in measured.d)
    assert str(measured) == measured.table()


def test_exponents_need_two_sizes():
    assert costs.speelpenning_costs((64, 128)).forward_exponent == pytest.approx(2, abs=0.1)
    with pytest.raises(ValueError, match="two sizes"):
        costs.speelpenning_costs((8,))


def test_one_pass_forward_for_many_outputs_one_pass_reverse_for_many_inputs():
    n, m = 30, 40
    measured = costs.direction_costs(n, m)
    assert measured.passes("R -> R^m", "forward") == 1
    assert measured.passes("R -> R^m", "reverse") == m
    assert measured.passes("R^n -> R", "forward") == n
    assert measured.passes("R^n -> R", "reverse") == 1


def test_operations_grow_with_the_passes():
    small, large = costs.direction_costs(10, 10), costs.direction_costs(20, 20)
    operations = {c.passes: c.operations for c in large.costs}
    for before, after in zip(small.costs, large.costs, strict=True):
        if after.passes == 1:
            assert before.operations == after.operations < 10
        else:
            assert after.operations > 1.8 * before.operations
    assert operations[20] > 10 * operations[1]


def test_evaluated_counts_what_runs():
    graph = pel.record(lambda x: np.reshape(np.sin(x) * x, (1,)), 2.0)
    assert costs.evaluated(graph, 2.0) == 2  # a reshape is no arithmetic


def test_tables_are_aligned():
    lines = str(costs.direction_costs(3, 3)).splitlines()
    assert len(lines) == 6
    assert len({len(line) for line in lines}) == 1
