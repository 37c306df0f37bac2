"""The cache: which answers may be used again, and until when. Pure: no I/O, no clock; words and times are arguments."""

from tenantry.cache.entry import Entry, Fill
from tenantry.cache.group_cache import GroupCache
from tenantry.cache.history import History
from tenantry.cache.index import ROW_BYTE, TABLE_BYTE
from tenantry.cache.place import SLOTS, place_of
from tenantry.cache.question import Question

__all__ = [
    "ROW_BYTE", "SLOTS", "TABLE_BYTE", "Entry", "Fill", "GroupCache", "History", "Question", "place_of",
]  # fmt: skip
