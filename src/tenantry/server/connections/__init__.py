"""The connections of a server: limits for slow and for many clients, and ends that lose no response. For uvicorn with
any of its HTTP protocols."""

from tenantry.server.connections.limits import Closed, ConnectionCounters, ConnectionLimits, most_connections
from tenantry.server.connections.open_connections import ConnectionFactory
from tenantry.server.connections.requests import TrackRequests

__all__ = ["Closed", "ConnectionCounters", "ConnectionFactory", "ConnectionLimits", "TrackRequests", "most_connections"]
