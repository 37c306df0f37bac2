"""The script that alembic runs, on the connection and in the transaction of ``tenantry.database.migrations``."""

from alembic import context

context.configure(connection=context.config.attributes["connection"], transactional_ddl=False)
context.run_migrations()
