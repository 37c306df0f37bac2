"""Decides which cached answers may be used. Callers pass the current time. Only the sub-package ``slots`` does I/O."""

from tenantry.cache.change_log import ChangeLog
from tenantry.cache.entries import (
    SLOT_COUNT,
    TABLE_BYTE,
    CacheEntry,
    PendingLoad,
    PollSnapshot,
    slot_index,
)
from tenantry.cache.group_cache import GroupCache

__all__ = [
    "SLOT_COUNT",
    "TABLE_BYTE",
    "CacheEntry",
    "ChangeLog",
    "GroupCache",
    "PendingLoad",
    "PollSnapshot",
    "slot_index",
]  # fmt: skip
