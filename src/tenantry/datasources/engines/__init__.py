"""The built-in engines: one driver each, and what several of them share."""
