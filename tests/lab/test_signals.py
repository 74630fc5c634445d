"""Signals in deep networks: the lectures' numbers, and what the experiments' criteria do not say by themselves."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from pellucid import lab, nn
from pellucid.lab import cifar
from pellucid.lab.deep_signals import PRINTED, activations, infinite_width
from pellucid.lab.deep_training import attempt, tangled_classes


@pytest.fixture(scope="module")
def draws():
    rng = np.random.default_rng(3)
    return [rng.normal(size=(500, 500)) for _ in range(10)], rng.normal(size=(250, 500))


@pytest.mark.parametrize(("scale", "sigma"), [("small", 0.01), ("large", 1.0), ("xavier", 500**-0.5)])
def test_printouts_of_tanh(draws, scale, sigma):
    stds = np.array(activations("tanh", sigma, *draws).stds)
    printed = np.array(PRINTED["tanh", scale][1])
    assert_allclose(stds[printed > 1e-4], printed[printed > 1e-4], rtol=0.02)
    assert_allclose(stds, printed, rtol=0.02, atol=1e-6)


def test_printouts_of_relu(draws):
    xavier, he = (activations("relu", (k / 500) ** 0.5, *draws) for k in (1, 2))
    assert_allclose(np.array(he.stds), 2 ** (np.arange(1, 11) / 2) * xavier.stds, rtol=1e-9)  # the same draws
    assert_allclose(he.stds[:2], PRINTED["relu", "he"][1][:2], rtol=0.05)
    assert_allclose(xavier.means[0], 0.398942, rtol=0.02)
    assert_allclose(he.zeros[:3], 0.5, atol=0.05)


def test_theory_of_infinitely_many_units():
    small, xavier = (infinite_width("tanh", sigma, 500) for sigma in (0.01, 500**-0.5))
    expected = [0.627929, 0.486262, 0.408236, 0.357638, 0.321622, 0.294390, 0.272911, 0.255430, 0.240856, 0.228473]
    assert_allclose([std for _, std in xavier], expected, atol=2e-6)
    assert_allclose(
        [std for _, std in small][:6], [0.213546, 0.047642, 0.010652, 0.002382, 0.000533, 0.000119], rtol=2e-3
    )
    first, *_, settled = (std for _, std in infinite_width("tanh", 1.0, 500))
    assert_allclose([first, settled], [0.982012, 0.981673], atol=2e-6)
    assert_allclose(infinite_width("relu", (2 / 500) ** 0.5, 500), [(0.564190, 0.825645)] * 10, atol=2e-6)
    assert_allclose(infinite_width("relu", 500**-0.5, 500, 1), [(0.398942, 0.583819)], atol=2e-6)
    assert_allclose(infinite_width("tanh", 5 / 3 / 500**0.5, 500)[-1][1], 0.651, atol=1e-3)


def test_runs_that_fail():
    X, y = tangled_classes(200)
    overflown = attempt(X, y, norm=None, init="he", rate=1e5, epochs=2, hidden=(8,))
    assert overflown.failed
    assert overflown.accuracy < 0.6
    assert not attempt(X, y, norm=None, init="he", rate=0.1, epochs=10, hidden=(8,)).failed


# files of CIFAR-10


def write_binary(folder, labels):
    rng = np.random.default_rng(0)
    records = rng.integers(0, 256, (len(labels), cifar.RECORD), np.uint8)
    records[:, 0] = labels
    records.tofile(folder / "data_batch_1.bin")
    return records


def test_the_binary_version_is_read(tmp_path):
    records = write_binary(tmp_path, [3, 1, 4, 1, 5, 9, 2, 6])
    found = cifar.images(tmp_path, 6, 2)
    assert found.what == "CIFAR-10"
    assert found.y.tolist() + found.y_val.tolist() == records[:, 0].tolist()
    assert_allclose(found.X.mean(0), 0, atol=1e-5)
    assert_allclose(found.X.std(0), 1, rtol=1e-4)
    raw = records[:, 1:].astype(float)
    assert_allclose(found.X_val, (raw[6:] - raw[:6].mean(0)) / raw[:6].std(0), rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("shape", [(5, 3072), (5, 32, 32, 3)])
def test_an_npz_file_is_read(tmp_path, shape):
    path = tmp_path / "some.npz"
    np.savez(path, X=np.random.default_rng(0).integers(0, 256, shape, np.uint8), y=np.arange(5))
    assert cifar.images(path, 3, 2).X_val.shape == (2, 3072)
    with pytest.raises(ValueError, match="9 training and 2 validation rows are asked for, and it has 5"):
        cifar.images(path, 9, 2)


def test_wrong_files_are_named(tmp_path):
    with pytest.raises(FileNotFoundError, match="no such file or folder"):
        lab.run("batch-norm-cifar", data=tmp_path / "missing.npz")
    with pytest.raises(FileNotFoundError, match=r"has none of data_batch_1\.bin"):
        cifar.images(tmp_path, 1, 1)
    (tmp_path / "data_batch_1.bin").write_bytes(b"too short")
    with pytest.raises(ValueError, match="is not of CIFAR-10's binary version"):
        cifar.images(tmp_path, 1, 1)
    (tmp_path / "x.csv").write_text("1,2\n")
    with pytest.raises(ValueError, match=r"or an \.npz file with X and y"):
        cifar.images(tmp_path / "x.csv", 1, 1)
    np.savez(tmp_path / "a.npz", Z=np.zeros(3))
    with pytest.raises(ValueError, match="has Z: it should have X and y"):
        cifar.images(tmp_path / "a.npz", 1, 1)
    np.savez(tmp_path / "b.npz", X=np.zeros((3, 7)), y=np.zeros(3, int))
    with pytest.raises(ValueError, match="got X of 7 columns"):
        cifar.images(tmp_path / "b.npz", 1, 1)


def test_statistics_of_one_layer():
    assert nn.activation("relu").gain ** 2 == pytest.approx(2.0)
    result = lab.run("variance-derivation", width=200, rows=100)
    assert_allclose(result.numbers["linear_stds"], 1, atol=0.08)
