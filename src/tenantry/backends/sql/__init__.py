"""SQLStore: user groups in an SQLite file or in PostgreSQL, by the same write functions."""

from tenantry.backends.sql.store import SQLStore

__all__ = ["SQLStore"]
