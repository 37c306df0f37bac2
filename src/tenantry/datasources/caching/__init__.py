"""Answers for several callers: in-flight queries, and the cache of results."""
