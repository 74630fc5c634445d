"""One process of a training: `python training.py FOLDER [--epochs 3] [--kill-at STEP]`, joined by the environment."""

from __future__ import annotations

import argparse
import os
import signal
import sys
from pathlib import Path

import numpy as np

import pellucid
from pellucid import Model, nn, optim, train

N, BATCH = 83, 16  # neither divides the other, nor does a number of processes


def table():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N, 4))
    return X, (X[:, 0] * X[:, 1] > 0).astype(int), rng.uniform(0.5, 2, N)


class Killed(train.Callback):
    """Ends the process as nothing else does, at a step."""

    def __init__(self, step: int) -> None:
        self.step = step

    def on_batch_end(self, run: train.Run) -> None:
        if run.step == self.step:
            os.kill(os.getpid(), signal.SIGKILL)


class Listens(train.Callback):
    """What the others have in its place: the same events."""

    def on_batch_end(self, run: train.Run) -> None:
        pass


def model() -> Model:
    net = nn.mlp((8, 6), 2, norm="batch", dropout=0.2)
    return Model(net, "cross_entropy", optim.Adam(0.01), ["accuracy"], dtype=np.float64, engine="jax")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--kill-at", type=int, default=None)
    parser.add_argument("--resume", action="store_true")
    parser.add_argument("--timeout", type=float, default=60.0)
    options = parser.parse_args()
    index = pellucid.distributed.join(timeout=options.timeout)
    X, y, weights = table()
    rows = pellucid.distributed.share(len(X))
    made = model()
    callbacks: list[train.Callback] = [train.Checkpoint(options.folder / "run.ckpt", every_steps=2)]
    if options.kill_at is not None:
        callbacks.append(Killed(options.kill_at) if index == 1 else Listens())
    made.fit(
        X[rows],
        y[rows],
        sample_weight=weights[rows],
        validation=(X[:20], y[:20]),
        epochs=options.epochs,
        batch_size=BATCH,
        callbacks=callbacks,
        resume=options.folder / "run.ckpt" if options.resume else None,
        devices="all",
        verbose=False,
    )
    if index == 0:
        losses = [[row["loss"], row["val_loss"]] for row in made.history.epochs]
        np.savez(options.folder / "result.npz", losses=losses, **made.params, **made.state)
    print(f"process {index} is done", file=sys.stderr)


if __name__ == "__main__":
    main()
