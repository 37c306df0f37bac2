"""Runs queries in threads, on pooled connections, with a fair queue and bounded rows."""
