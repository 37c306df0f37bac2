"""Helpers for asyncio: state of one event loop, and reconnecting with a backoff."""
