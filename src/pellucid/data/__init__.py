"""Data: what users hand in as arrays, the rows and batches that training sees, weights and splits; tables in files."""

from pellucid.data.dataset import Dataset as Dataset
from pellucid.data.door import dataset as dataset
from pellucid.data.splits import split as split
