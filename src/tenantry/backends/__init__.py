"""Where user groups are kept: in memory for tests, in SQLite or PostgreSQL for work."""
