"""Runs queries in threads, on connections that groups share fairly."""
