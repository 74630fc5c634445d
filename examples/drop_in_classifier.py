"""In place of scikit-learn's MLPClassifier: one import changes, and there are dropout, class weights and callbacks.

Handwritten digits, of which one class has become rare.
"""

import numpy as np
from sklearn.datasets import load_digits
from sklearn.metrics import classification_report
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from pellucid import MLPClassifier  # instead of sklearn.neural_network

X, y = load_digits(return_X_y=True)
rare = np.flatnonzero(y == 8)[25:]  # only 25 eights stay
X, y = np.delete(X, rare, axis=0), np.delete(y, rare)
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.4, stratify=y, random_state=0)


def tell(run):
    """A function is a callback: it is called after each epoch."""
    if run.epoch % 10 == 0:
        print(f"epoch {run.epoch:3}: loss {run.logs['loss']:.3f}, validation loss {run.logs['val_loss']:.3f}")


network = MLPClassifier(
    (64,),
    activation="gelu",
    dropout=0.3,
    class_weight="balanced",  # the few eights count as much as the many others
    early_stopping=True,  # the best epoch is kept, however training ends
    monitor="loss",
    learning_rate_init=0.005,
    max_iter=200,
    callbacks=[tell],
    random_state=0,
)
model = make_pipeline(StandardScaler(), network).fit(X_train, y_train)

print(f"\n{network.model_.history.stopped} Epoch {network.best_iter_} is kept.\n")
print(classification_report(y_test, model.predict(X_test), digits=3))
