"""Shared answers: in-flight queries and the result cache."""
