"""Parsing: lexemes become a tree, with every check of what the text alone says."""
