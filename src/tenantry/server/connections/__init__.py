"""Limits on slow clients and on the number of connections, for uvicorn."""

from tenantry.server.connections.limits import ConnectionLimits, most_connections
from tenantry.server.connections.open_connections import ConnectionFactory
from tenantry.server.connections.requests import TrackRequests

__all__ = ["ConnectionFactory", "ConnectionLimits", "TrackRequests", "most_connections"]
