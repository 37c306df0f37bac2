"""Alembic runs this script. It uses the connection and transaction of ``tenantry.database.migrations``."""

from alembic import context

context.configure(connection=context.config.attributes["connection"], transactional_ddl=False)
context.run_migrations()
