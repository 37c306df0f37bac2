"""Engines for Tenantry, found by entry points: Snowflake, BigQuery, Databricks, and other SQLAlchemy dialects."""

__all__: list[str] = []
