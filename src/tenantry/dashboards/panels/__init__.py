"""Runs the panels of a dashboard and builds what the page draws."""
