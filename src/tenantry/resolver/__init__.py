"""The resolver: string -> UserGroup."""

from tenantry.resolver.loading import Counters
from tenantry.resolver.resolver import Resolver
from tenantry.slots import monotonic_with_suspend

__all__ = ["Counters", "Resolver", "monotonic_with_suspend"]
