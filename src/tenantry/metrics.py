"""Metrics for Prometheus, defined in ``tenantry.server.metrics``. Needs the extra ``metrics``."""

from tenantry.server.metrics import ApiMetrics as ApiMetrics
from tenantry.server.metrics import TimedBackend as TimedBackend
from tenantry.server.metrics import metrics_app as metrics_app

__all__ = ["ApiMetrics", "TimedBackend", "metrics_app"]
