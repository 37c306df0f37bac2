from tenantry.usage.counters import GroupUsage, UsageCounter
from tenantry.usage.recorder import NO_RECORDER, UsageRecorder, recorder_of

__all__ = ["NO_RECORDER", "GroupUsage", "UsageCounter", "UsageRecorder", "recorder_of"]
