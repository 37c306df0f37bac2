"""Fragments: SQL that a template includes by name (docs/sql.md)."""
