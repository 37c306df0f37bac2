"""Stores and caches of user groups: in memory for tests, in SQLite or PostgreSQL for work."""
