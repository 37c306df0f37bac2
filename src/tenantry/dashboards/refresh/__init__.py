"""Notifies open pages when rows or files change."""
