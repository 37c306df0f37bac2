"""Secrets in data source URLs: encryption in the store, and references to variables and files."""
