"""Contract tests of a store and its parts."""
