"""The connections of a server: how slow a client may be, how many there may be, and how one ends without losing its
answer. For uvicorn, whichever of its HTTP protocols is installed."""

from tenantry.server.connections.limits import Closed, ConnectionCounters, ConnectionLimits, most_connections
from tenantry.server.connections.open_connections import ConnectionFactory
from tenantry.server.connections.requests import TrackRequests

__all__ = ["Closed", "ConnectionCounters", "ConnectionFactory", "ConnectionLimits", "TrackRequests", "most_connections"]
