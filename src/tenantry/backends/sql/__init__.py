from tenantry.backends.sql.store import SQLStore

__all__ = ["SQLStore"]
