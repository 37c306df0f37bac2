"""Buses: they announce changes sooner than the next poll would. They may lose messages: nothing rests on them."""

from tenantry.buses.postgres import PostgresBus
from tenantry.buses.redis import RedisBus
from tenantry.buses.subscription import BusCounters, BusStatus

__all__ = ["BusCounters", "BusStatus", "PostgresBus", "RedisBus"]
