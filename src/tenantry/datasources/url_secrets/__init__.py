"""Passwords and other secrets in data source URLs: encryption in the store, and references to other places."""
