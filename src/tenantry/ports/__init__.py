"""Protocols of the parts that you may replace. Times are aware datetimes in UTC. Every coroutine may raise
StoreUnavailable."""

from tenantry.ports.backend import Backend, LeasedBackend, Slots, SnapshotBackend
from tenantry.ports.backend import has_snapshots as has_snapshots
from tenantry.ports.backend import is_leased as is_leased
from tenantry.ports.bus import Bus, ChangeListener, EvictionListener, WatchedBus
from tenantry.ports.clock import Clock, MonotonicClock
from tenantry.ports.groups import GroupStore
from tenantry.ports.sources import (
    LeasedSources,
    SharedSourceCache,
    SourceCacheHolder,
    SourceDirectory,
    SourceHolder,
    SourceStore,
)
from tenantry.ports.sources import source_cache_holder_of as source_cache_holder_of
from tenantry.ports.store import (
    ApiTokenStore,
    AuditTrail,
    CodeShare,
    CodeStore,
    EnvironmentStore,
    Store,
    TokenCount,
    UsageStore,
    WrittenBackend,
)

__all__ = [
    "ApiTokenStore",
    "AuditTrail",
    "Backend",
    "Bus",
    "ChangeListener",
    "Clock",
    "CodeShare",
    "CodeStore",
    "EnvironmentStore",
    "EvictionListener",
    "GroupStore",
    "LeasedBackend",
    "LeasedSources",
    "MonotonicClock",
    "SharedSourceCache",
    "Slots",
    "SnapshotBackend",
    "SourceCacheHolder",
    "SourceDirectory",
    "SourceHolder",
    "SourceStore",
    "Store",
    "TokenCount",
    "UsageStore",
    "WatchedBus",
    "WrittenBackend",
]
