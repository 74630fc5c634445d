"""What `pellucid demo` shows: a table model from data to prediction, and the lecture's examples."""

from pellucid.demo.lecture import show_lecture as show_lecture
from pellucid.demo.table import show_table_model as show_table_model
