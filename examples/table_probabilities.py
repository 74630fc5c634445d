"""A table as it is: missing values and categories in, probabilities out, with a validation set of your own.

The penguins of Palmer Station: which of three species, from measurements, island and sex.
"""

from sklearn.model_selection import train_test_split

from pellucid import TabularMLPClassifier
from pellucid.datasets import load

table = load("penguins")
print(f"{len(table.X)} penguins, {table.X.isna().any(axis=1).sum()} of them with missing values")
print(table.X.head(4).to_string(index=False), end="\n\n")

# three parts: to learn from, to choose the epoch that is kept, to judge
X, X_test, y, y_test = train_test_split(table.X, table.y, test_size=0.25, stratify=table.y, random_state=0)
X_train, X_val, y_train, y_val = train_test_split(X, y, test_size=0.25, stratify=y, random_state=0)

model = TabularMLPClassifier((32, 32), max_iter=40, random_state=0)
model.fit(X_train, y_train, X_val=X_val, y_val=y_val)
print(f"epoch {model.best_iter_} of {model.n_iter_} was the best on {len(X_val)} validation rows")
print(f"right on {model.score(X_test, y_test):.1%} of {len(X_test)} rows it has never seen\n")

probabilities = model.predict_proba(X_test[:5])
print("truth      " + "".join(f"{name:>11}" for name in model.classes_))
for truth, row in zip(y_test[:5], probabilities, strict=True):
    print(f"{truth:<11}" + "".join(f"{share:>11.1%}" for share in row))

# a category that training never saw, and one that is missing, are no errors
strange = X_test[:2].copy()
strange["island"] = ["Atlantis", None]
print(f"\nfrom Atlantis and from nowhere: {', '.join(model.predict(strange))}")
