"""Answers that several viewers get: queries under way that are one, and the cache of results."""
