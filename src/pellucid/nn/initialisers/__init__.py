"""How parameters start: by a formula, or by looking at data."""
