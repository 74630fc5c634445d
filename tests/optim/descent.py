"""Steps of an optimizer by hand, and a small network to descend on."""

from collections.abc import Callable, Iterator

import numpy as np

from pellucid.optim import Optimizer

Arrays = dict[str, np.ndarray]


def descent(
    opt: Optimizer, params: Arrays, gradient: Callable[[Arrays], Arrays], steps: int
) -> Iterator[tuple[Arrays, Arrays]]:
    """Parameters and state after each step."""
    state = opt.init(params)
    for t in range(steps):
        params, state = opt.update(params, gradient(params), state, t + 1, opt.numbers(t))
        yield params, state


class SmallNetwork:
    """One hidden layer of tanh on random rows."""

    def __init__(self, rows: int) -> None:
        rng = np.random.default_rng(0)
        self.X, self.Y = rng.normal(size=(rows, 3)), rng.normal(size=(rows, 2))
        self.params = {"W": rng.normal(size=(3, 4)), "b": rng.normal(size=4), "V": rng.normal(size=(4, 2))}

    def loss(self, p: Arrays) -> np.floating:
        return np.mean(np.square(np.tanh(self.X @ p["W"] + p["b"]) @ p["V"] - self.Y))
