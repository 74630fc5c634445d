"""Activations: the functions, their records and table, the layers that apply them, and their pictures."""
