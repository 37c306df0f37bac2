"""A real PostgreSQL."""
