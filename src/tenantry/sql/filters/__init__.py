"""Filters: the part of a tag after its ``|``."""
