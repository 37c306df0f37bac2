"""Query results that several callers share."""
