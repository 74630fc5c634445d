"""A network of your own with `Model`: layers, a callback, a checkpoint, and a run that goes on after a break.

Two spirals that wind around each other; no straight line tells them apart.
"""

import tempfile
from pathlib import Path

import numpy as np

import pellucid as pel
from pellucid import nn, optim, train

rng = np.random.default_rng(0)
turn = np.sqrt(rng.random(1000)) * 3 * np.pi
side = rng.integers(0, 2, 1000)
X = np.stack([turn * np.cos(turn + np.pi * side), turn * np.sin(turn + np.pi * side)], axis=1) / 10
X += rng.normal(0, 0.02, X.shape)

network = nn.Sequential(
    nn.Dense(48),
    nn.LayerNorm(),
    "gelu",
    nn.Residual(nn.Sequential(nn.Dense(48), "gelu", nn.Dense(48))),
    nn.Dense(1),
)
print(nn.summary(network, 2))


class StopWhenGood(train.Callback):
    """Ends the run when the validation accuracy has been reached."""

    def __init__(self, accuracy: float):
        self.accuracy = accuracy

    def on_epoch_end(self, run):
        if run.logs["val_accuracy"] >= self.accuracy:
            run.stop(f"accuracy {run.logs['val_accuracy']:.3f} in epoch {run.epoch} is good enough")


def fit(epochs: int, checkpoint: Path, resume: Path | None = None) -> pel.Model:
    """A new model, trained from the beginning or from a checkpoint."""
    # by default the sizes of a run choose its engine; these two runs are to have the same one
    model = pel.Model(network, "binary_cross_entropy", optim.AdamW(0.003), metrics=["accuracy"], engine="numpy")
    callbacks = [StopWhenGood(0.995), train.Checkpoint(checkpoint)]
    history = model.fit(
        X, side, epochs=epochs, validation=0.2, callbacks=callbacks, resume=resume, seed=0, verbose=False
    )
    print(f"{len(history.epochs):3} epochs, val_loss {history['val_loss'][-1]:.4f}: {history.stopped}")
    return model


with tempfile.TemporaryDirectory() as folder:
    file = Path(folder) / "spirals.ckpt"
    print("\nin one go:")
    whole = fit(200, Path(folder) / "whole.ckpt")
    print("interrupted after 10 epochs, and resumed from the file by another model:")
    fit(10, file)
    resumed = fit(200, file, resume=file)

same = all(np.array_equal(whole.params[name], resumed.params[name]) for name in whole.params)
print(f"the same parameters, bit for bit: {same}")
assert same
