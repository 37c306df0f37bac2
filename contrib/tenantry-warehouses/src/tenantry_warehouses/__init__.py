"""Engines for Tenantry: Snowflake, BigQuery, Databricks, and other SQLAlchemy dialects."""

__all__: list[str] = []
