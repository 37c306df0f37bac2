"""Runs the panels of a dashboard, and describes the dashboard to the page."""
