"""Checks of templates that compile: lints, coverage by the groups of a store, contracts (docs/sql-checks.md)."""
