"""What happens inside: a trace table of the lectures, a network as a program, its signals and its activations."""

import numpy as np
from sklearn.datasets import load_iris
from sklearn.preprocessing import scale

import pellucid as pel
from pellucid import MLPClassifier, nn

print("A function, recorded, and its derivative as one would find it by hand (reverse mode):\n")
graph = pel.record(lambda w, x: np.tanh(w * x) ** 2, 0.5, 2.0)
print(graph.table("reverse"))

print("\nThe gradient of a neuron is a graph too; here as a program, for any number of rows n:\n")


def cost(w, X, y):
    return np.mean((np.tanh(X @ w) - y) ** 2)


print(pel.record(pel.grad(cost), pel.Spec((4,)), pel.Spec(("n", 4)), pel.Spec(("n",))).simplify())

X, y = load_iris(return_X_y=True)
X = scale(X)
print("\nSignals through a deep network with weights that are too small: they fade away, and so do the gradients:\n")
deep = nn.mlp((32, 32, 32), 3, activation="tanh", init=nn.normal(0.05))
print(nn.signals(deep, deep.initialize(4), X))

model = MLPClassifier((6,), activation="relu", max_iter=400, learning_rate_init=0.02, random_state=0).fit(X, y)
print(f"\nA trained network, {model.score(X, y):.1%} right; the mean of its hidden units for each class:\n")
hidden = model.transform(X)
for label, name in enumerate(load_iris().target_names):
    print(f"{name:11}" + "".join(f"{mean:8.2f}" for mean in hidden[y == label].mean(axis=0)))
print("\nAll that can be looked at:", ", ".join(f"{name} {a.shape}" for name, a in model.activations(X).items()))
