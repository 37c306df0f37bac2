"""Checks of a data source before its first query: engine, connection and session."""
