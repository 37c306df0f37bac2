"""Parsing: builds a tree from lexemes, and runs every check that needs only the SQL."""
