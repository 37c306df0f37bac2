"""A Redis or Valkey server as backends and buses use it: its URL, its connections, and what is to be told to it."""

from tenantry.redis_server.address import RedisServer, read_redis_address
from tenantry.redis_server.clients import Client, driver
from tenantry.redis_server.outbox import Letter, Outbox

__all__ = ["Client", "Letter", "Outbox", "RedisServer", "driver", "read_redis_address"]
