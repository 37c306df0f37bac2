"""Secrets in data source URLs."""
