"""Data: what users hand in as arrays, the rows and batches that training sees, weights and splits."""

from pellucid.data.splits import split as split
