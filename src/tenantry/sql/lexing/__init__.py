"""Lexing: the text of a template becomes lexemes, and the lexemes of a tag become a tag."""
