"""Formulas of scales against scikit-learn's own."""

import numpy as np
import pytest
from scipy import special
from sklearn.decomposition import PCA
from sklearn.preprocessing import QuantileTransformer, StandardScaler

from pellucid.export.normal_quantile import normal_quantile
from pellucid.export.scalers import scaled


@pytest.mark.parametrize(
    "scaler",
    [
        StandardScaler(),
        StandardScaler(with_std=False),
        PCA(),
        PCA(whiten=True),
        QuantileTransformer(n_quantiles=20, output_distribution="normal"),
    ],
    ids=str,
)
def test_scaler(scaler):
    rng = np.random.default_rng(0)
    x = rng.gamma(2.0, size=(200, 3))
    x[:, 1] = np.round(x[:, 1])  # quantiles that are equal
    x[:, 2] = np.round(3 * x[:, 2]) / 3
    scaler.fit(x)
    near = np.vstack([x, x + 1e-3, scaler.quantiles_ if hasattr(scaler, "quantiles_") else x[:1], [[-9.0, 99.0, 0.0]]])
    np.testing.assert_allclose(scaled(scaler, near), scaler.transform(near), atol=1e-9)


def test_normal_quantile():
    p = np.concatenate([np.linspace(1e-6, 1 - 1e-6, 1001), 10.0 ** -np.arange(1, 16), [0.5, 0.075, 0.925]])
    np.testing.assert_allclose(normal_quantile(p), special.ndtri(p), rtol=1e-12, atol=1e-14)
