"""Train, save, load elsewhere, predict: one file without pickle, preprocessing included.

Houses of California: what is one worth, and within which bounds?
"""

import subprocess
import sys
import tempfile
from pathlib import Path

from sklearn.model_selection import train_test_split

from pellucid import TabularMLPRegressor
from pellucid.datasets import load

ELSEWHERE = """
import sys
import pandas as pd
import pellucid

model, houses = pellucid.load(sys.argv[1]), pd.read_csv(sys.argv[2])
for value in model.predict(houses):
    print(f"  {value:,.2f}")
"""

table = load("california")
X, X_test, y, y_test = train_test_split(table.X, table.y, test_size=0.25, random_state=0)
model = TabularMLPRegressor((64, 64), max_iter=24, random_state=0).fit(X, y)
print(f"R² {model.score(X_test, y_test):.3f} on {len(X_test)} houses that it has never seen")

low, high = model.predict_interval(X_test, coverage=0.9)
inside = ((low <= y_test) & (y_test <= high)).mean()
print(f"{inside:.1%} of them lie within the bounds that were asked to hold 90 %\n")

with tempfile.TemporaryDirectory() as folder:
    path, houses = Path(folder) / "houses.pel", Path(folder) / "houses.csv"
    model.save(path)
    X_test[:3].to_csv(houses, index=False)
    print(f"saved: {path.name}, {path.stat().st_size / 1024:.0f} KB; predictions here:")
    for value in model.predict(X_test[:3]):
        print(f"  {value:,.2f}")
    print("and by a process that has only the file:", flush=True)
    subprocess.run([sys.executable, "-c", ELSEWHERE, path, houses], check=True)
