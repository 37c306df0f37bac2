"""Metrics for Prometheus: the public names of ``tenantry.server.metrics``. It needs the extra ``metrics``."""

from tenantry.server.metrics import ApiMetrics as ApiMetrics
from tenantry.server.metrics import TimedBackend as TimedBackend
from tenantry.server.metrics import metrics_app as metrics_app

__all__ = ["ApiMetrics", "TimedBackend", "metrics_app"]
