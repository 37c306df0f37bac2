"""Dashboards: JSON definitions with variables in them, and renderers as ASGI endpoints."""
