"""Buses announce changes sooner than the next poll would."""

from tenantry.backends.buses.postgres import PostgresBus
from tenantry.backends.buses.redis import RedisBus
from tenantry.backends.buses.subscription import BusCounters, BusStatus

__all__ = ["BusCounters", "BusStatus", "PostgresBus", "RedisBus"]
