"""Buses: they tell of changes sooner than the next poll would. They may lose messages: nothing rests on them."""

from tenantry.buses.hearing import BusCounters, BusStatus
from tenantry.buses.postgres import PostgresBus
from tenantry.buses.redis import RedisBus

__all__ = ["BusCounters", "BusStatus", "PostgresBus", "RedisBus"]
