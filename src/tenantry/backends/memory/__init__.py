"""MemoryStore: everything in this process and nothing on disk, for tests and first steps."""

from tenantry.backends.memory.store import MemoryStore

__all__ = ["MemoryStore"]
