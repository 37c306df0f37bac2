"""The resolver: string -> UserGroup."""

from tenantry.resolver.counters import Counters
from tenantry.resolver.resolver import Resolver

__all__ = ["Counters", "Resolver"]
