"""Filters: what stands behind the ``|`` of a tag."""
