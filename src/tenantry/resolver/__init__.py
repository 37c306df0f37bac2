"""The resolver: string -> UserGroup."""

from tenantry.resolver.boot import boot_clock
from tenantry.resolver.counters import Counters
from tenantry.resolver.resolver import Resolver

__all__ = ["Counters", "Resolver", "boot_clock"]
