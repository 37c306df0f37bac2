"""Usage by group: what is counted in this process, and how it comes into the store."""

from tenantry.usage.counters import GroupUsage, UsageCounter
from tenantry.usage.recorder import UsageRecorder, recorder_of

__all__ = ["GroupUsage", "UsageCounter", "UsageRecorder", "recorder_of"]
