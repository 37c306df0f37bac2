"""Runs queries in threads on pooled connections."""
