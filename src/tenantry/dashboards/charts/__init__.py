"""Fetches the rows of line charts that make a visible difference."""
