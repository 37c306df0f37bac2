"""Parsing: builds a tree from the lexemes of a template, and refuses SQL that is unsafe or ambiguous."""
