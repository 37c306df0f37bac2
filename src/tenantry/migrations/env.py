"""What alembic runs: the steps, on the connection and in the transaction that ``tenantry.migrations`` has begun."""

from alembic import context

context.configure(connection=context.config.attributes["connection"], transactional_ddl=False)
context.run_migrations()
