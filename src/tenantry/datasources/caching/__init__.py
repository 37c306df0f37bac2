"""Answers that several callers share."""
