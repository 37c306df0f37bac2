"""Lexing: cuts a template into lexemes, and reads the tags among the lexemes."""
