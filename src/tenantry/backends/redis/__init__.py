from tenantry.backends.redis.second_level import RedisBackend as RedisBackend
from tenantry.backends.redis.second_level import RedisCounters as RedisCounters

__all__ = ["RedisBackend"]
