"""The error of a run whose other processes are gone."""

from __future__ import annotations

from pellucid.errors import PellucidError

LOST = (
    "another process of this run has ended, so this one ends as well. Nothing is lost since the last checkpoint: start "
    "them again, as many as you like, with resume="
)


class ProcessLost(PellucidError, RuntimeError):
    """Another process of the run has ended: this one cannot go on."""
