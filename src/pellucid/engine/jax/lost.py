"""The error of a run whose other processes are gone."""

from __future__ import annotations

from pellucid.errors import PellucidError


class ProcessLost(PellucidError, RuntimeError):
    """Another process of the run has ended: this one cannot go on."""
