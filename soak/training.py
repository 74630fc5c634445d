"""`python -m soak.training CHECKPOINT ENGINE [resume]`: a training that writes checkpoints and is there to be killed.

It says each step (NumPy) or epoch (native) that it has done, and saves the model beside the checkpoint at the end.
"""

from __future__ import annotations

import os
import sys
import time

import numpy as np

import pellucid as pel
from pellucid import nn, optim, train

PAUSE = 0.004
"""Seconds after each step: time for a kill."""


class EachStep(train.Callback):
    def on_batch_end(self, run: train.Run) -> None:
        time.sleep(PAUSE)
        print(run.step, flush=True)


class EachEpoch(train.Callback):
    def on_epoch_end(self, run: train.Run) -> None:
        time.sleep(PAUSE)
        print(run.step, flush=True)


def main(path: str, engine: str, resume: bool) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(90, 4))
    y = (X[:, 0] > 0).astype(int)
    net = nn.mlp((12, 8), 1, norm="batch", dropout=0.3)
    rule = optim.chain(optim.Adam(optim.Cosine(0.02)), optim.EMA(0.95))
    model = pel.Model(net, "binary_cross_entropy", rule, ["accuracy"], engine=engine)
    # a listener to every step would keep the native engine from running whole epochs
    own = [EachEpoch(), train.Checkpoint(path)]
    if engine == "numpy":
        own = [EachStep(), train.Checkpoint(path, every_steps=1)]
    model.fit(
        X,
        y,
        epochs=10 if engine == "numpy" else 50,
        batch_size=16,
        validation=0.2,
        verbose=False,
        seed=3,
        resume=path if resume and os.path.exists(path) else None,
        callbacks=[train.EarlyStopping(100), *own],
    )
    model.save(f"{path}.model")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], resume="resume" in sys.argv[3:])
