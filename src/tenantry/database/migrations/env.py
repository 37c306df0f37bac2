"""Alembic runs this script. The script uses the connection and the transaction of ``tenantry.database.migrations``."""

from alembic import context

context.configure(connection=context.config.attributes["connection"], transactional_ddl=False)
context.run_migrations()
