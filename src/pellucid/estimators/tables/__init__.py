"""Tables: what kinds columns are, how they become numbers, and the two estimators that take them as they are."""
