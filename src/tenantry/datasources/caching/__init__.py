"""Answers that several callers share: of one running query, of a cache in this process, and of one in Redis."""
