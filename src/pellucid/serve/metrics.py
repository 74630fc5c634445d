"""What the service counts, in the text that Prometheus reads: requests, errors, seconds, rows."""

from __future__ import annotations

import os

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_LATEST
from prometheus_client.multiprocess import MultiProcessCollector

SHARED = "PROMETHEUS_MULTIPROC_DIR"
"""Names the folder through which several processes count together; Prometheus' client reads it."""

SECONDS = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 60.0)


class Metrics:
    """The counters of one service."""

    def __init__(self, about: dict[str, str]) -> None:
        self.registry = CollectorRegistry()
        labels = ["path", "method", "status"]
        self.requests = Counter("pellucid_requests", "Requests answered.", labels, registry=self.registry)
        self.errors = Counter("pellucid_errors", "Requests answered by 4xx or 5xx.", labels, registry=self.registry)
        self.rows = Counter("pellucid_rows", "Rows predicted.", ["path"], registry=self.registry)
        self.seconds = Histogram(
            "pellucid_request_seconds", "Time of a request.", ["path"], buckets=SECONDS, registry=self.registry
        )
        model = Gauge(
            "pellucid_model", "The model that is served.", list(about), registry=self.registry, multiprocess_mode="max"
        )
        model.labels(**about).set(1)

    def note(self, path: str, method: str, status: int, seconds: float) -> None:
        """A request has been answered."""
        self.requests.labels(path, method, status).inc()
        if status >= 400:
            self.errors.labels(path, method, status).inc()
        self.seconds.labels(path).observe(seconds)

    def text(self) -> tuple[bytes, str]:
        """All of it, of all processes of the service, and its content type."""
        registry = self.registry
        if SHARED in os.environ:
            registry = CollectorRegistry()
            MultiProcessCollector(registry)  # type: ignore[no-untyped-call]
        return generate_latest(registry), CONTENT_TYPE_LATEST
