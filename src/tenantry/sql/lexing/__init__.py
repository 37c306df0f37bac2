"""Lexing: the text of a template to lexemes, and a tag's lexemes to a tag."""
