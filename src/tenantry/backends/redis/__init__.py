"""RedisBackend: a second-level cache in Redis 7 or later, or Valkey, before a store."""

from tenantry.backends.redis.backend import RedisBackend, RedisCounters

__all__ = ["RedisBackend", "RedisCounters"]
