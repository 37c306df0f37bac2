"""Shared answers."""
