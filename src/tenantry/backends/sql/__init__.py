from tenantry.backends.sql.defects import StoreDefects
from tenantry.backends.sql.store import SQLStore

__all__ = ["SQLStore", "StoreDefects"]
