"""Callbacks: what one is; those that stop a run, those that tell of it, and the one that saves it."""
