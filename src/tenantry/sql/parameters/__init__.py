"""Declared parameters: their definitions, and what a viewer sent becomes typed values (docs/sql-parameters.md)."""
