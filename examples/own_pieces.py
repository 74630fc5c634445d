"""Your own activation, loss and update rule: plain NumPy functions; their derivatives come from the graph.

A noisy wave with wild outliers, fitted twice: by the squared error, and by a loss that minds outliers less.
"""

import numpy as np

import pellucid as pel
from pellucid import nn, optim

rng = np.random.default_rng(0)
x = rng.uniform(-3, 3, size=(400, 1))
truth = np.sin(2 * x)
y = truth + rng.normal(0, 0.1, x.shape)
y[::8] += rng.uniform(5, 10, y[::8].shape)  # one target in eight is far too high


def bump(x):
    """An activation: a bell around 0, and a gentle slope, so that units far away learn too."""
    return np.exp(-x * x) + 0.1 * x


def log_cosh(scores, y):
    """A loss, one number for each output: like the squared error near 0, like the absolute error far away."""
    error = np.abs(scores - y)
    return error + np.log1p(np.exp(-2 * error)) - np.log(2)


class SignMomentum(optim.Rule):
    """An update rule: the sign of an average of gradients, times the rate."""

    def init(self, w):
        return {"average": np.zeros_like(w)}

    def step(self, w, g, s, lr, t):
        average = 0.9 * s["average"] + 0.1 * g
        return w - lr * np.sign(average), {"average": average}


network = nn.Sequential(nn.Dense(32), bump, nn.Dense(32), bump, nn.Dense(1))
params = network.initialize(1).params
pel.check_grads(lambda p: np.sum(log_cosh(network.predict(p, x[:5]), y[:5])), (params,))
print("forward mode, reverse mode and differences agree on the derivative of network and loss\n")

for name, loss in (("squared_error", "squared_error"), ("log_cosh of our own", log_cosh)):
    model = pel.Model(network, loss, SignMomentum(optim.Cosine(2e-3)))
    model.fit(x, y, epochs=150, batch_size=50, seed=0, verbose=False)
    error = np.sqrt(np.mean((model.predict(x) - truth) ** 2))
    print(f"{name:20} error from the wave without noise and outliers: {error:.3f}")
