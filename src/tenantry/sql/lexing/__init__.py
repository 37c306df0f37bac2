"""Lexing: cuts a template into lexemes, and reads tags from them."""
