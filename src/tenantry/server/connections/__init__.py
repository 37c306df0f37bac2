"""Limits on slow clients and on the number of connections, for uvicorn."""

from tenantry.server.connections.limits import Closed, ConnectionCounters, ConnectionLimits, most_connections
from tenantry.server.connections.open_connections import ConnectionFactory
from tenantry.server.connections.requests import TrackRequests

__all__ = ["Closed", "ConnectionCounters", "ConnectionFactory", "ConnectionLimits", "TrackRequests", "most_connections"]
