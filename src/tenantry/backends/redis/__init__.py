"""A second-level cache in Redis, in front of a store."""

from tenantry.backends.redis.second_level import RedisBackend as RedisBackend

__all__ = ["RedisBackend"]
