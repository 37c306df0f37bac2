"""Tests of guarded tables (docs/guarded-tables.md)."""
