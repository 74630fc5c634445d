"""How good and how fast the table estimators are at their defaults, side by side with others."""
