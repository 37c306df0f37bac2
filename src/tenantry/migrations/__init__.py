"""Makes and alters the tables of a store's database, step by step, with alembic.

``migrate(url)`` brings a database to this version. Two processes may do it at once: one works, the other waits and then
finds nothing to do. A step that fails leaves nothing behind: each engine runs all of them in one transaction.
"""

from tenantry.migrations.run import HEAD, check, migrate

__all__ = ["HEAD", "check", "migrate"]
