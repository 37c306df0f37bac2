from tenantry.clock import monotonic_with_suspend
from tenantry.resolver.loading import Counters
from tenantry.resolver.loading import SingleFlight as SingleFlight
from tenantry.resolver.resolver import Resolver

__all__ = ["Counters", "Resolver", "monotonic_with_suspend"]
