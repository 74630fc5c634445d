"""Model.fit and its relatives."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from pellucid import nn, optim, train
from pellucid.errors import ShapeError

rng = np.random.default_rng(0)
X = rng.normal(size=(120, 4))
Y = (X[:, 0] * X[:, 1] > 0).astype(int)
R = X @ [1.0, -2.0, 0.5, 0.0] + 0.3


def classifier(**options):
    net = nn.mlp((16,), 1, activation="tanh")
    return train.Model(net, "binary_cross_entropy", optim.Adam(0.05), ["accuracy"], **options)


def regressor(net=None, **options):
    return train.Model(net or nn.mlp((8,), 1), "squared_error", optim.Adam(0.05), ["r2"], **options)


def fit(model, *args, **options):
    return model.fit(*args, **{"epochs": 3, "batch_size": 16, "verbose": False} | options)


def same(a, b):
    return all(np.array_equal(a.params[k], b.params[k]) for k in a.params)


def test_learns_classes_and_numbers():
    model = classifier()
    history = fit(model, X, Y, epochs=60)
    assert history["loss"][-1] < 0.2 * history["loss"][0]
    assert model.evaluate(X, Y)["accuracy"] > 0.95
    assert model.score(X, Y) == model.evaluate(X, Y)["accuracy"]
    assert set(np.unique(model.predict_classes(X))) <= {0, 1}
    assert history.stopped == "all 60 epochs done"
    numbers = regressor()
    fit(numbers, X, R, epochs=60)
    assert numbers.score(X, R) > 0.98


def test_many_classes_and_several_outputs():
    y = rng.integers(0, 3, 120)
    model = train.Model(nn.mlp((8,), 3), "cross_entropy", metrics=["accuracy", "roc_auc", "f1", "balanced_accuracy"])
    fit(model, X, y, validation=0.25)
    assert set(model.history.epochs[0]) == {
        "epoch", "step", "loss", "lr", "val_loss", "val_accuracy", "val_roc_auc", "val_f1", "val_balanced_accuracy",
    }  # fmt: skip
    assert_allclose(model.predict(X).sum(1), 1, rtol=1e-5)
    both = train.Model(nn.mlp((8,), 2), "squared_error", metrics=["mse", "mae", "rmse"])
    fit(both, X, np.column_stack([R, -R]))
    assert both.predict(X).shape == (120, 2)


def test_same_seed_same_bits_another_seed_others():
    a, b, c = (regressor(nn.mlp((8,), 1, dropout=0.2)) for _ in range(3))
    fit(a, X, R, seed=1)
    fit(b, X, R, seed=1)
    fit(c, X, R, seed=2)
    assert same(a, b)
    assert a.history.epochs == b.history.epochs
    assert not same(a, c)


def test_weights_of_one_change_no_bit_and_weight_two_is_a_row_twice():
    a, b = regressor(), regressor()
    fit(a, X, R)
    fit(b, X, R, sample_weight=np.ones(120))
    assert same(a, b)
    assert a.history.epochs == b.history.epochs
    w = np.where(np.arange(120) < 40, 2.0, 1.0)
    twice = np.concatenate([X, X[:40]]), np.concatenate([R, R[:40]])
    c, d = regressor(dtype="float64"), regressor(dtype="float64")
    fit(c, X, R, sample_weight=w, batch_size=1000)
    fit(d, *twice, batch_size=1000)
    for k in c.params:
        assert_allclose(c.params[k], d.params[k], rtol=1e-9, atol=1e-12)


def test_class_weights():
    y = (np.arange(120) < 12).astype(int)
    a, b, c = (classifier(dtype="float64") for _ in range(3))
    fit(a, X, y, class_weight="balanced")
    fit(b, X, y, class_weight={0: 120 / 216, 1: 5.0})
    fit(c, X, y, sample_weight=np.where(y, 5.0, 120 / 216))
    assert same(a, b)
    assert same(a, c)
    with pytest.raises(ValueError, match=r"no weight for \[1\]"):
        fit(classifier(), X, y, class_weight={0: 1.0})


def test_validation_rows_are_never_trained_on():
    poisoned = X.copy()
    held = np.arange(100, 120)
    poisoned[held] = 1e6  # would ruin everything
    for validation in (held, np.isin(np.arange(120), held)):
        a, b = regressor(), regressor()
        fit(a, poisoned, R, validation=validation)
        fit(b, X[:100], R[:100])
        assert same(a, b)
    a, b = regressor(), regressor()
    fit(a, X[:100], R[:100], validation=(X[100:], R[100:]))
    fit(b, X[:100], R[:100])
    assert same(a, b)
    assert a.history["val_loss"][-1] == a.evaluate(X[100:], R[100:])["loss"]


def test_a_fraction_is_stratified():
    y = (np.arange(120) < 12).astype(int)
    model = classifier()
    seen = []
    fit(model, X, y, validation=0.25, callbacks=[lambda run: seen.append(run.plan.validation.y.sum())])
    assert seen[0] == 3
    with pytest.raises(ValueError, match="between 0 and 1"):
        fit(classifier(), X, y, validation=1.5)


def test_going_on_from_what_is_there():
    model = regressor()
    fit(model, X, R, epochs=1)
    first = model.evaluate(X, R)["loss"]
    fit(model, X, R, epochs=20)
    assert model.evaluate(X, R)["loss"] < first


def test_batches_from_outside():
    batches = [(X[i : i + 16], R[i : i + 16]) for i in range(0, 120, 16)]
    a, b, c = regressor(), regressor(), regressor()
    fit(a, batches)
    fit(b, X, R, shuffle=False)
    assert same(a, b)

    class Source:
        def __iter__(self):
            return iter(batches)

    fit(c, Source())
    assert same(a, c)
    one = regressor().initialize(4)
    with pytest.raises(ShapeError, match="can be read only once"):
        fit(one, (b for b in batches), epochs=2)
    listed, generated = regressor(), regressor()
    fit(listed, batches, epochs=1)
    fit(generated, (b for b in batches), epochs=1)
    assert same(listed, generated)
    weighted = regressor().initialize(4)
    fit(weighted, [(x, y, np.ones(len(x))) for x, y in batches])
    with pytest.raises(TypeError, match="bring their own targets"):
        fit(regressor(), batches, R)


def test_data_frames():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(X, columns=list("abcd"))
    a, b = regressor(), regressor()
    fit(a, frame, pandas.Series(R), validation=0.2)
    fit(b, X, R, validation=0.2)
    assert same(a, b)
    assert_array_equal(a.predict(frame), a.predict(X))


def test_steps_time_and_epochs():
    model = regressor()
    history = fit(model, X, R, epochs=None, steps=10)
    assert history.stopped == "all 10 steps done"
    assert len(history) == 1  # 8 steps make an epoch
    history = fit(regressor(), X, R, epochs=10**6, max_time=0.3)
    assert history.stopped == "the time of 0.3 s is over"


def test_schedules_steer_every_number():
    seen = []

    class See(train.Callback):
        def on_batch_end(self, run):
            seen.append((run.lr, run.numbers))

    rates = optim.Step(0.1, factor=0.5, every=4)
    model = train.Model(
        nn.mlp((8,), 1, dropout=0.5),
        "huber",
        optim.Momentum(rates, beta=optim.Step(0.9, factor=0.5, every=8)),
        settings={"hidden1.dropout.rate": optim.Step(0.5, factor=0.0, every=8), "loss.delta": optim.Constant(2.0)},
    )
    fit(model, X, R, callbacks=[See()])
    assert_allclose([lr for lr, _ in seen], [rates(t) for t in range(24)])
    assert seen[0][1]["rule.beta"] == 0.9
    assert seen[8][1]["rule.beta"] == 0.45


def test_prediction_in_chunks(monkeypatch):
    model = regressor()
    fit(model, X, R)
    whole = model.predict(X)
    monkeypatch.setattr("pellucid.data.chunks.CHUNK", 7)
    assert_allclose(model.predict(X), whole, rtol=1e-5, atol=1e-6)
    assert model.evaluate(X, R)["loss"] == pytest.approx(np.mean((whole[:, 0] - R) ** 2), rel=1e-5)


def test_averages_are_what_predicts():
    model = train.Model(nn.mlp((8,), 1), "squared_error", optim.chain(optim.Adam(0.05), optim.EMA(0.9)))
    seen = {}

    def keep(run):
        seen["raw"], seen["average"] = run.now.params, run.prediction[0]

    fit(model, X, R, callbacks=[keep])
    assert_array_equal(model.params["hidden1.weight"], seen["average"]["hidden1.weight"])
    assert not np.array_equal(seen["raw"]["hidden1.weight"], seen["average"]["hidden1.weight"])


def test_penalty_and_constraint():
    a = train.Model(nn.mlp((8,), 1), "squared_error", optim.SGD(0.05), penalty=nn.L2(1.0))
    fit(a, X, R, epochs=20)
    b = train.Model(nn.mlp((8,), 1), "squared_error", optim.SGD(0.05))
    fit(b, X, R, epochs=20)
    size = lambda m: sum(np.sum(v**2) for k, v in m.params.items() if k.endswith("weight"))
    assert size(a) < 0.5 * size(b)


def test_lbfgs_reaches_least_squares():
    model = train.Model(nn.mlp((), 1), "squared_error", dtype="float64")
    history = train.fit_lbfgs(model, X, R, tol=1e-10)
    assert_allclose(model.params["output.weight"][:, 0], [1, -2, 0.5, 0], atol=1e-6)
    assert history["loss"][-1] < 1e-10
    small = train.Model(nn.mlp((6,), 1, activation="tanh"), "binary_cross_entropy", metrics=["accuracy"])
    train.fit_lbfgs(small, X, Y, max_iter=300)
    assert small.score(X, Y) > 0.95


def test_rate_finder():
    model = regressor()
    curve = train.find_rate(model, X, R, steps=80)
    assert model.params == {}
    assert 1e-4 < curve.suggestion < 1
    assert len(curve.rates) == len(curve.losses)
    pytest.importorskip("matplotlib").use("Agg")
    assert curve.plot().get_xlabel() == "learning rate"


def test_cross_validation_does_not_leak():
    from sklearn.preprocessing import StandardScaler

    fitted = []

    class Spy(StandardScaler):
        def fit(self, X, y=None):
            fitted.append(len(X))
            return super().fit(X, y)

    folds = train.cross_validate(regressor, X, R, folds=4, prepare=Spy(), epochs=30, batch_size=16, verbose=False)
    assert fitted == [90] * 4
    assert len(folds.rows) == 4
    assert folds.mean("r2") > 0.9
    assert "mean" in str(folds)
    from sklearn.model_selection import GroupKFold

    options = {"epochs": 2, "batch_size": 16, "verbose": False, "sample_weight": np.ones(120)}
    groups = np.repeat(np.arange(12), 10)
    grouped = train.cross_validate(regressor, X, R, folds=GroupKFold(3), groups=groups, **options)
    assert len(grouped.rows) == 3
    parts = train.split(X, Y, test=0.2, validation=0.2, seed=1)
    rows = [{tuple(r) for r in part[0]} for part in parts]
    assert [len(r) for r in rows] == [72, 24, 24]
    assert not rows[0] & rows[1]
    assert not (rows[0] | rows[1]) & rows[2]


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        pytest.param(lambda m: fit(m, X), TypeError, "fit needs y", id="no target"),
        pytest.param(lambda m: fit(m, X, R[:5]), ShapeError, "X has 120 rows and y has 5", id="rows"),
        pytest.param(lambda m: fit(m, X[:0], R[:0]), ShapeError, "no rows", id="empty"),
        pytest.param(lambda m: fit(m, X[0], R), ShapeError, r"X has shape \(4,\)", id="one row"),
        pytest.param(
            lambda m: fit(m, np.full((3, 4), np.nan), R[:3]), ValueError, "NaN or infinity, first at row 0", id="nan"
        ),
        pytest.param(
            lambda m: fit(m, np.array([["a"] * 4] * 3), R[:3]),
            ShapeError,
            "dtype <U1: a network takes numbers",
            id="strings",
        ),
        pytest.param(
            lambda m: fit(m, X, R, batch_size=0), ValueError, "batch_size is a whole number from 1", id="batch size"
        ),
        pytest.param(
            lambda m: fit(m, X, R, on_divergence="hope"), ValueError, "'raise', 'stop' or 'ignore'", id="divergence"
        ),
        pytest.param(
            lambda m: fit(m, X, R, validation=(X[:, :2], R)),
            ShapeError,
            r"made for samples of shape \(4,\)",
            id="columns",
        ),
        pytest.param(
            lambda m: fit(m, X, R, callbacks=[train.EarlyStopping]), TypeError, r"write .*\(\) for a class", id="class"
        ),
        pytest.param(lambda m: m.predict(X), ShapeError, "no parameters yet", id="unfitted"),
        pytest.param(lambda m: fit(m, X, R, sample_weight=-np.ones(120)), ValueError, "from 0", id="negative weights"),
    ],
)
def test_wrong_calls(call, error, message):
    with pytest.raises(error, match=message):
        call(regressor())


def test_a_mismatched_output_is_warned_of():
    net = nn.Sequential(nn.Dense(3), "softmax")
    with pytest.warns(UserWarning, match="leave the activation out"):
        fit(train.Model(net, "cross_entropy"), X, rng.integers(0, 3, 120))
    with pytest.raises(ShapeError, match="outputs"):
        fit(regressor(nn.mlp((4,), 2)), X, R)


def test_metrics_of_all_kinds():
    from sklearn.metrics import get_scorer

    def bias(y, p):
        return float(np.mean(p - y))

    model = train.Model(nn.mlp((8,), 1), "squared_error", metrics=["r2", bias, get_scorer("neg_mean_absolute_error")])
    fit(model, X, R, epochs=2)
    found = model.evaluate(X, R)
    p = model.predict(X)[:, 0]
    assert found["bias"] == pytest.approx(np.mean(p - R), abs=1e-6)
    assert found["mean_absolute_error"] == pytest.approx(-np.mean(np.abs(p - R)), rel=1e-5)
    c = train.Model(
        nn.mlp((8,), 1), "binary_cross_entropy", metrics=["accuracy", get_scorer("roc_auc"), get_scorer("accuracy")]
    )
    fit(c, X, Y, epochs=2)
    assert c.evaluate(X, Y)["accuracy_score"] == c.evaluate(X, Y)["accuracy"]
    with pytest.raises(ValueError, match="no metric called 'acuracy': did you mean 'accuracy'"):
        train.Model(nn.mlp((8,), 1), metrics=["acuracy"])


def test_save_and_load(tmp_path):
    model = train.Model(
        nn.mlp((8, 6), 3, norm="batch", dropout=0.1, activation=["gelu", "prelu"]),
        nn.loss("cross_entropy", smoothing=0.1),
        optim.chain(optim.ClipNorm(1.0), optim.AdamW(0.01), optim.EMA(0.99)),
        ["accuracy"],
        penalty=nn.L2(1e-3) + nn.L1(1e-4, on="output.*"),
    )
    y = rng.integers(0, 3, 120)
    fit(model, X, y)
    model.save(tmp_path / "model.pel")
    again = train.load(tmp_path / "model.pel")
    assert_array_equal(again.predict(X), model.predict(X))
    assert again.evaluate(X, y) == model.evaluate(X, y)
    assert again.history.epochs == model.history.epochs
    fit(again, X, y)  # and it can be trained further
    assert str(again.summary()) == str(model.summary())
