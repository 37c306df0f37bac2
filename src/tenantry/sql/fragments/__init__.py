"""Fragments: other texts that a template takes in by name (docs/sql.md)."""
