"""Small real tables that come with the package, for the demo, the examples and the tests."""

from pellucid.datasets.tables import TABLES as TABLES
from pellucid.datasets.tables import Dataset as Dataset
from pellucid.datasets.tables import Info as Info
from pellucid.datasets.tables import Table as Table
from pellucid.datasets.tables import load as load
