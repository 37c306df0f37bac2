"""Limits for slow and for many clients of uvicorn."""

from tenantry.server.connections.limits import Closed, ConnectionCounters, ConnectionLimits, most_connections
from tenantry.server.connections.open_connections import ConnectionFactory
from tenantry.server.connections.requests import TrackRequests

__all__ = ["Closed", "ConnectionCounters", "ConnectionFactory", "ConnectionLimits", "TrackRequests", "most_connections"]
