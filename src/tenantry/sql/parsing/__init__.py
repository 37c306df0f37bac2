"""Parsing: lexemes to a tree, with every check of the SQL itself."""
