from tenantry.backends.memory.store import MemoryStore as MemoryStore

__all__ = ["MemoryStore"]
