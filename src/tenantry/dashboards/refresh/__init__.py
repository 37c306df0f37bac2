"""Refreshes a dashboard when its rows or its files change."""
