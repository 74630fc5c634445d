"""Ensembles: many networks on bootstrap samples, seeds, folds or snapshots, and what averaging them does."""
