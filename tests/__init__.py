"""Tests, by room as in the package. What several of them share is in modules without `test_` in their names."""
