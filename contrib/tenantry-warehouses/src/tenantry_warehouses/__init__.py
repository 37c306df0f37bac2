"""Engines for Tenantry: Snowflake, BigQuery, Databricks, and any SQLAlchemy dialect for sources that are trusted."""

__all__: list[str] = []
