"""A Redis or Valkey server as backends and buses use it: its URL, its connections, and a queue of messages."""

from tenantry.redis_server.publish_queue import Message, PublishQueue
from tenantry.redis_server.server import RedisClient, RedisServer, load_redis, read_redis_address

__all__ = ["Message", "PublishQueue", "RedisClient", "RedisServer", "load_redis", "read_redis_address"]
