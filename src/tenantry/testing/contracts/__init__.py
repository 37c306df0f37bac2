"""Contract tests for a store and its parts."""
