"""The resolver: string -> UserGroup."""

from tenantry.resolver.counters import Counters
from tenantry.resolver.resolver import Resolver
from tenantry.slots.boot import boot_clock

__all__ = ["Counters", "Resolver", "boot_clock"]
