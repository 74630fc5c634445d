"""Losses: what one is, those of classes and of numbers, and the table of all by name."""
