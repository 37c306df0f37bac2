"""Runs panels, and describes dashboards to the page."""
