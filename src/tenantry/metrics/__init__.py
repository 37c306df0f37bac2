"""Metrics for Prometheus (extra ``metrics``): counters that are there anyway, read when somebody asks."""

from tenantry.metrics.app import ApiMetrics, metrics_app
from tenantry.metrics.timed_backend import TimedBackend

__all__ = ["ApiMetrics", "TimedBackend", "metrics_app"]
