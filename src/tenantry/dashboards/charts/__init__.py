"""Fetches the rows of line charts, and reduces them to those that are visible."""
