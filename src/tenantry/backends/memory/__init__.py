"""A store in the memory of one process, for tests and development."""

from tenantry.backends.memory.store import MemoryStore as MemoryStore

__all__ = ["MemoryStore"]
