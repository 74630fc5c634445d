"""diagnose: findings as records, causes ahead of symptoms, the model left as it is, and whatever users hand in."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from pellucid import Model, inspect, nn, optim
from pellucid.inspect.diagnosis.causes import EXPLAINS, ordered
from pellucid.inspect.diagnosis.codes import CODES
from pellucid.inspect.diagnosis.diagnose import diagnose
from pellucid.inspect.diagnosis.finding import SEVERITIES, Diagnosis, Finding

pytestmark = pytest.mark.usefixtures("closed_pictures")


def waves(rows: int = 240, seed: int = 0) -> tuple[Any, Any]:
    X = np.random.default_rng(seed).normal(size=(rows, 3))
    return X, np.sin(X[:, 0]) + 0.5 * X[:, 1]


def fitted(net: Any = None, rule: Any = None, data: Any = None, *, loss: str = "squared_error", **options: Any) -> Any:
    X, y = waves() if data is None else data
    model = Model(nn.mlp((16,), 1) if net is None else net, loss, rule or optim.Adam(0.02), engine="numpy")
    model.fit(X, y, **{"epochs": 25, "batch_size": 32, "verbose": False, "on_divergence": "stop", **options})
    return model, X, y


# what a finding is


def test_every_code_has_a_rank_of_its_kind_two_sentences_and_an_idea():
    assert len(CODES) == 30
    for code in CODES.values():
        assert code.means.count(". ") >= 1
        assert code.means.endswith(".")
        assert code.idea


def test_a_finding_refuses_unknown_codes_and_severities():
    with pytest.raises(ValueError, match="no code of a finding called"):
        Finding("rate_to_high", "note", {})
    with pytest.raises(ValueError, match="severity is one of"):
        Finding("plateau", "grave", {})


def test_a_diagnosis_is_a_sequence_by_place_and_by_code():
    findings = [Finding("rate-too-high", "error", {"rate": 1.0}), Finding("input-constant", "note", {"columns": 1})]
    diagnosis = Diagnosis(findings, "Diagnosis of a test")
    assert diagnosis.codes == ("rate-too-high", "input-constant")
    assert diagnosis["input-constant"] is findings[1]
    assert diagnosis[0] is findings[0]
    assert len(diagnosis[:1]) == 1
    assert "plateau" not in diagnosis  # type: ignore[comparison-overlap]
    assert "rate-too-high" in diagnosis  # type: ignore[comparison-overlap]
    assert findings[0] in diagnosis
    assert diagnosis.severity == "error"
    assert diagnosis.worse_than("note") == (findings[0],)
    assert "Diagnosis of a test" in str(diagnosis)
    assert "rate-too-high" in repr(diagnosis)
    with pytest.raises(KeyError, match="there are rate-too-high"):
        diagnosis["plateau"]


def test_html_escapes_what_users_call_their_columns():
    finding = Finding("input-scale", "warning", {"size": 9.0}, column="<b>", remedy="a < b")
    assert "<b>" not in Diagnosis([finding])._repr_html_()
    assert "&lt;b&gt;" in Diagnosis([finding])._repr_html_()


def test_nothing_found_is_said_in_words():
    assert "Nothing found" in str(Diagnosis([]))
    assert "Nothing found" in Diagnosis([])._repr_html_()


# causes


def test_tables_of_causes_name_codes():
    assert {code for pair in EXPLAINS.items() for code in (pair[0], *pair[1])} <= set(CODES)


def test_one_fault_is_one_finding_with_its_symptoms():
    findings = [Finding(code, "warning", {}) for code in ("plateau", "dead-units", "input-scale", "rate-too-high")]
    (root,) = ordered(findings)
    assert root.code == "input-scale"
    assert set(root.explains) == {"plateau", "dead-units", "rate-too-high"}


def test_a_note_explains_nothing_and_comes_last():
    order = ordered([Finding("input-scale", "note", {}), Finding("rate-too-high", "warning", {})])
    assert [finding.code for finding in order] == ["rate-too-high", "input-scale"]


def test_what_a_rate_has_done_comes_behind_the_rate():
    killed = Finding("dead-units", "warning", {"cause": "steps that were too large"})
    assert next(one.code for one in ordered([killed, Finding("rate-too-high", "error", {})])) == "rate-too-high"


# the model is left as it is


def test_the_model_stays_as_it_is():
    model, X, y = fitted(nn.mlp((8,), 1, norm="batch", dropout=0.2), optim.Adam(1e-5), epochs=3)
    before = copy.deepcopy((model.params, model.state, model.history.epochs, model.progress, model.features))
    optimizer, net, penalty = model.optimizer, model.net, model.penalty
    diagnose(model, X, y)
    inspect.preflight(model, X, y)
    after = (model.params, model.state, model.history.epochs, model.progress, model.features)
    for one, other in zip(before[:2], after[:2], strict=True):
        assert one.keys() == other.keys()
        assert all(np.array_equal(one[key], other[key]) for key in one)
    assert before[2:] == after[2:]
    assert (model.optimizer, model.net, model.penalty) == (optimizer, net, penalty)


def test_the_same_twice():
    model, X, y = fitted(rule=optim.SGD(1e-6))
    first, second = (diagnose(model, X, y) for _ in range(2))
    assert first.codes == second.codes
    assert [dict(f.measured) for f in first] == [dict(f.measured) for f in second]


# each code, once in the small (many more cases are in the zoo)


def cross(rows: int = 300) -> tuple[Any, Any]:
    X = np.random.default_rng(1).uniform(-1, 1, (rows, 2))
    return X / X.std(axis=0), (X[:, 0] * X[:, 1] > 0).astype(int)


def test_a_healthy_training_has_no_warning():
    assert diagnose(*fitted()).worse_than("note") == ()
    model, X, y = fitted(data=cross(), loss="binary_cross_entropy", rule=optim.Adam(0.05), epochs=40)
    assert diagnose(model, X, y).worse_than("note") == ()


@pytest.mark.parametrize(
    ("code", "make"),
    [
        ("rate-too-high", lambda: fitted(rule=optim.SGD(30.0))),
        ("rate-too-low", lambda: fitted(rule=optim.SGD(1e-6))),
        ("too-few-epochs", lambda: fitted(rule=optim.Adam(0.003), epochs=2)),
        ("symmetric-units", lambda: fitted(nn.mlp((8,), 1, init=0.1, output_init=0.1))),
        ("missing-activation", lambda: fitted(nn.Sequential(nn.Dense(8), nn.Dropout(0.1), nn.Dense(1)))),
        ("dead-units", lambda: fitted(nn.mlp((16,), 1, bias=-20.0))),
        ("saturated-units", lambda: fitted(nn.mlp((16, 16), 1, activation="tanh", init=nn.normal(8.0)), epochs=4)),
        ("penalty-too-strong", lambda: _penalised()),
        ("dropout-too-high", lambda: fitted(nn.mlp((16,), 1, dropout=0.95))),
        ("loss-output-mismatch", lambda: fitted(nn.Sequential(nn.Dense(8), "relu", nn.Dense(1), "sigmoid"))),
    ],
)
@pytest.mark.filterwarnings("ignore:the network ends with")
def test_a_fault_is_among_the_first_three(code, make):
    model, X, y = make()
    diagnosis = diagnose(model, X, y)
    assert code in diagnosis.codes[:3]
    assert diagnosis[code].severity != "note"
    finding = diagnosis[code]
    assert finding.measured
    assert finding.remedy
    assert finding.means
    if finding.repair is not None:
        repaired = finding.repair()
        assert isinstance(repaired, Model)
        assert repaired is not model
        assert repaired.params
    if finding.figure is not None:
        assert finding.figure(None) is not None


def _penalised() -> Any:
    X, y = waves()
    model = Model(nn.mlp((16,), 1), "squared_error", optim.Adam(0.02), penalty=nn.L2(3.0), engine="numpy")
    model.fit(X, y, epochs=25, verbose=False)
    return model, X, y


def test_scaled_inputs_are_the_cause_and_named():
    X, y = waves()
    frame = pd.DataFrame(X * np.array([1.0, 1.0, 1e4]), columns=["age", "height", "income"])
    model, _, _ = fitted(data=(frame, y), rule=optim.SGD(0.02))
    first = diagnose(model, frame, y)[0]
    assert (first.code, first.column) == ("input-scale", "income")
    assert "rate-too-high" in first.explains
    repaired = first.repair()
    repaired.fit(frame, y, epochs=25, verbose=False)
    assert repaired.evaluate(frame, y)["loss"] < 0.2
    assert "input-scale" not in diagnose(repaired, frame, y).codes


def test_a_target_in_dollars():
    X, y = waves()
    model, _, _ = fitted(data=(X, 50_000 + 10_000 * y), rule=optim.Adam(0.01))
    finding = diagnose(model, X, 50_000 + 10_000 * y)["target-scale"]
    repaired = finding.repair()
    repaired.fit(X, 50_000 + 10_000 * y, epochs=25, verbose=False)
    errors = repaired.predict(X)[:, 0] - (50_000 + 10_000 * y)
    assert np.sqrt(np.mean(errors**2)) < 5_000


def test_why_units_died():
    by_bias = diagnose(*fitted(nn.mlp((16,), 1, bias=-20.0)))["dead-units"]
    assert by_bias.measured["cause"] == "a large negative bias"
    assert by_bias.layer == "hidden1"


def test_the_lectures_advice_on_sigmoids_in_hidden_layers():
    model, X, y = fitted(nn.mlp((8,), 1, activation="sigmoid"), rule=optim.Adam(0.05))
    (note,) = [finding for finding in diagnose(model, X, y) if finding.code == "not-zero-centred"]
    assert (note.severity, note.layer) == ("note", "hidden1")
    assert float(note.measured["means over deviations"]) > 1.0
    assert '"tanh"' in note.remedy
    assert '"relu"' in note.remedy


def test_the_lectures_cures_of_dead_and_saturated_units():
    dead = diagnose(*fitted(nn.mlp((16,), 1, bias=-20.0)))["dead-units"]
    assert 'activation="leaky_relu", bias=0.01' in dead.remedy
    tanh = nn.mlp((16, 16), 1, activation="tanh", init=nn.normal(8.0))
    saturated = diagnose(*fitted(tanh, epochs=4))["saturated-units"]
    assert 'activation="relu", init="auto")   # or norm="batch"' in saturated.remedy


def test_statistics_that_were_never_learned_are_mended():
    X, y = waves()
    model, _, _ = fitted(nn.mlp((16,), 1, norm=nn.BatchNorm(momentum=0.0)), data=(3.0 * X, y))
    finding = diagnose(model, 3.0 * X, y)["stale-statistics"]
    assert finding.repair().evaluate(3.0 * X, y)["loss"] < 0.5 * model.evaluate(3.0 * X, y)["loss"]


def test_overfitting_is_told_by_other_rows():
    rng = np.random.default_rng(0)
    X, Xv = rng.normal(size=(40, 8)), rng.normal(size=(200, 8))
    y, yv = X[:, 0] + rng.normal(size=40), Xv[:, 0] + rng.normal(size=200)
    model = Model(nn.mlp((128,), 1), "squared_error", optim.Adam(0.02), engine="numpy")
    history = model.fit(X, y, validation=(Xv, yv), epochs=150, verbose=False)
    assert "overfitting" in diagnose(model, X, y, history, (Xv, yv)).codes[:3]


def test_columns_and_rows_that_know_too_much():
    X, y = waves()
    y = y + np.random.default_rng(5).normal(size=len(y))
    known = np.column_stack([X, y + 0.01 * X[:, 2]])
    model, _, _ = fitted(data=(known, y))
    assert diagnose(model, known, y)["leak-suspected"].column == "x3"
    model, X, y = fitted()
    assert "leak-suspected" in diagnose(model, X, y, validation=(X[:80], y[:80])).codes


def test_constant_columns_of_zeros_are_a_note_others_a_warning():
    X, y = waves()
    for value, severity in ((0.0, "note"), (7.0, "warning")):
        wide = np.column_stack([X, np.full(len(X), value)])
        model, _, _ = fitted(data=(wide, y))
        assert diagnose(model, wide, y)["input-constant"].severity == severity


def test_rare_classes_and_the_metric_that_does_not_notice():
    rng = np.random.default_rng(0)
    y = (np.arange(600) < 24).astype(int)
    X = rng.normal(size=(600, 4)) + 0.7 * y[:, None]
    model = Model(nn.mlp((8,), 1), "binary_cross_entropy", optim.Adam(0.01), ["accuracy"], engine="numpy")
    model.fit(X, y, epochs=10, verbose=False)
    assert {"class-imbalance", "wrong-metric"} <= set(diagnose(model, X, y).codes)


def test_flipped_labels():
    X, y = cross(600)
    flipped = np.random.default_rng(0).random(600) < 0.25
    model, _, _ = fitted(data=(X, np.where(flipped, 1 - y, y)), loss="binary_cross_entropy", epochs=30)
    assert "label-noise" in diagnose(model, X, np.where(flipped, 1 - y, y)).codes


# whatever users hand in


def test_missing_values_are_named_and_the_rest_is_judged():
    model, X, y = fitted()
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    frame.loc[3, "b"] = np.nan
    first = diagnose(model, frame, y)[0]
    assert (first.code, first.severity, first.column, first.measured["values"]) == ("input-nan", "error", "b", 1)
    assert diagnose(model, np.full_like(X, np.nan), y).codes[0] == "input-nan"


def test_sparse_rows():
    model, X, y = fitted()
    assert diagnose(model, sparse.csr_matrix(X), y).codes == diagnose(model, X, y).codes


def test_a_training_that_broke_in_its_first_epoch():
    model, X, y = fitted(rule=optim.SGD(1e30), epochs=3)
    assert not len(model.history)
    assert diagnose(model, X, y)[0].code == "rate-too-high"


def test_parameters_that_predict_nothing_finite():
    model, X, y = fitted(epochs=2)
    model.params = {name: value * np.nan for name, value in model.params.items()}
    assert diagnose(model, X, y).worse_than("note")


@pytest.mark.filterwarnings("ignore:overflow")
def test_targets_that_the_loss_refuses():
    model, X, y = fitted(nn.mlp((8,), 1), loss="poisson", data=(waves()[0], np.abs(waves()[1])))
    finding = diagnose(model, X, -y)[0]
    assert (finding.code, finding.severity) == ("target-domain", "error")


def test_a_model_that_was_never_fitted_is_looked_at_before_training():
    X, y = waves()
    assert "not trained" in diagnose(Model(nn.mlp((8,), 1)), X, y).about


def test_four_rows_are_no_fault():
    X, y = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]), np.array([0, 1, 1, 0])
    model, _, _ = fitted(
        nn.mlp((8,), 1, activation="tanh"), optim.Adam(0.05), (X, y), loss="binary_cross_entropy", epochs=200
    )
    assert diagnose(model, X, y, validation=(X, y)).worse_than("note") == ()


def test_wrong_arguments_are_told():
    model, X, y = fitted(epochs=1)
    with pytest.raises(TypeError, match="diagnose needs y"):
        diagnose(model, X, None)
    with pytest.raises(TypeError, match="validation is a pair"):
        diagnose(model, X, y, validation=X)
    with pytest.raises(TypeError, match="inspect looks at a Model"):
        diagnose("model", X, y)


def test_severities_are_three():
    assert SEVERITIES == ("note", "warning", "error")
