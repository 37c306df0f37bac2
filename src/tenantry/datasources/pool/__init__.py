"""Runs queries in threads, on a bounded number of connections that the groups share fairly."""
