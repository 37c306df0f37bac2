"""Filters: what follows the ``|`` of a tag."""
