"""Buses notify processes of changes before their next poll."""

from tenantry.backends.buses.postgres import PostgresBus
from tenantry.backends.buses.redis import RedisBus
from tenantry.backends.buses.subscription import BusCounters, BusStatus

__all__ = ["BusCounters", "BusStatus", "PostgresBus", "RedisBus"]
