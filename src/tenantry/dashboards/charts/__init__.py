"""Fetches only those rows of line charts that make a visible difference."""
