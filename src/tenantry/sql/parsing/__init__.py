"""Parsing: builds a tree from lexemes, and rejects SQL that is unsafe or ambiguous."""
